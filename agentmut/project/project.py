"""The project: `agentmut.yaml` and every file it names, read once into the nouns; its folders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator

from agentmut._base import Frozen
from agentmut.nouns import AgentConfig, Scenario, Sources
from agentmut.project.gate_section import GateSettings
from agentmut.project.guidance import CoverageSettings, RelationSettings, SuggestSettings
from agentmut.project.places import runs_folder
from agentmut.project.privacy import SecretSettings, StoreSettings
from agentmut.project.schema import (
    BudgetSettings,
    ComparisonSettings,
    ExecutionSettings,
    MutationSettings,
    StatisticsSettings,
    VerdictSettings,
)
from agentmut.seams import AgentSpec, SuiteSpec

DEFAULT_BASELINE = "default"


class Project(Frozen):
    """Everything a run needs to know, checked. The adapter builds the agent."""

    root: Path
    """Directory of the project file; relative paths and modules are found from here."""
    path: Path
    agent: AgentSpec
    agent_version: str | None = None
    """The user's own version of the agent's code; None means hash the project's Python files."""
    env: dict[str, SecretStr] = Field(default_factory=dict)
    """Environment variables of the agent. Never stored, never printed."""
    filled: frozenset[str] = frozenset()
    """Names of those in `env` that hold something of the process's environment: secrets, as far as is known."""
    config: AgentConfig
    sources: Sources = Sources()
    scenarios: tuple[Scenario, ...] = ()
    """Empty where they are those of `imported`, which a session reads."""
    model: str = ""
    """The model that is asked in the place of the agent's own, as `mutation.proxy` does; empty for the agent's own."""
    imported: SuiteSpec | None = None
    """The suite of another tool that is measured."""
    safe_tools: tuple[str, ...] = ()
    """Tools that do no harm when they are really called; `all` stands for every one."""
    patterns: tuple[str, ...] = ()
    """Where scenario files are looked for, relative to the root."""
    threshold: float = 0.9
    """The suite's pass rate, for scenarios that name none."""
    ci_runs: tuple[int, ...] = (1, 10)
    """How often a CI job may run each scenario."""
    ci_after_kill: bool = True
    """Whether a killed mutant is run further, as a CI job does."""
    mutation: MutationSettings = MutationSettings()
    statistics: StatisticsSettings = StatisticsSettings()
    test: VerdictSettings = VerdictSettings()
    compare: ComparisonSettings = ComparisonSettings()
    budget: BudgetSettings = BudgetSettings()
    limits_given: dict[str, int | float] = Field(default_factory=dict)
    """Limits of `budget` that the command line gave in the place of the file's, by their key."""
    execution: ExecutionSettings = ExecutionSettings()
    relations: RelationSettings = RelationSettings()
    coverage: CoverageSettings = CoverageSettings()
    suggest: SuggestSettings = SuggestSettings()
    gate: GateSettings = GateSettings()
    secrets: SecretSettings = SecretSettings()
    store: StoreSettings = StoreSettings()
    store_url: SecretStr | None = None
    """The database that keeps the trials, with what the environment fills in; None: a file beside the project file."""

    def limited(
        self, usd: float | None = None, trials: int | None = None, minutes: float | None = None
    ) -> Self:
        """Return the project with these limits in the place of those of its budget; None keeps one as it is."""
        given = {"usd": usd, "trials": trials, "minutes": minutes}
        return self.with_limits({name: limit for name, limit in given.items() if limit is not None})

    def with_limits(self, limits: Mapping[str, int | float]) -> Self:
        """Return the project with these limits, by their key, in the place of those of its budget."""
        return self.model_copy(
            update={
                "budget": self.budget.model_copy(update=limits),
                "limits_given": {**self.limits_given, **limits},
            }
        )

    def to_precision(self, precision: float | None) -> Self:
        """Return the project with this precision of the score in the place of its own; None keeps that."""
        if precision is None:
            return self
        return self.model_copy(
            update={"statistics": self.statistics.model_copy(update={"precision": precision})}
        )

    @model_validator(mode="after")
    def _unique_names(self) -> Self:
        if len({scenario.name for scenario in self.scenarios}) < len(self.scenarios):
            raise ValueError("scenario names must be unique")
        if not self.scenarios and self.imported is None:
            raise ValueError("a project needs a scenario")
        return self

    @property
    def baseline_name(self) -> str:
        """Return the name of the stored baseline that is meant where none is given."""
        return self.gate.baseline or DEFAULT_BASELINE

    @property
    def runs(self) -> Path:
        """Return the folder with the results and recordings of its runs."""
        return runs_folder(self.root)

    def reads(self, file: Path) -> bool:
        """Return whether a file of that name would be read for scenarios; False if that is not certain."""
        return any(file.match(pattern) for pattern in self.patterns)

    def threshold_of(self, scenario: Scenario) -> float:
        """Return the pass rate required of a scenario: its own, or the suite's."""
        return self.threshold if scenario.threshold is None else scenario.threshold
