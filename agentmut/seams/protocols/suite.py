"""The protocol of an importer for another tool's suite, and the capabilities around it."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal, Protocol

from pydantic import JsonValue

from agentmut._base import Frozen
from agentmut.nouns import AgentConfig, Scenario
from agentmut.seams.capability import Capability
from agentmut.seams.protocols.adapter import Adapter, AgentSpec


class SuiteSpec(Frozen):
    """A suite of another tool: a key of the `suite` section that is an importer's name, and its value."""

    kind: str
    """The importer."""
    argument: JsonValue
    """As written: mostly a path, or a mapping of settings."""
    root: str = "."
    """Directory that paths and `module:object` references are resolved from."""
    threshold: float = 0.9
    """The pass rate asked of cases that name none."""
    config: AgentConfig = AgentConfig()
    """The agent's, as the project has it; for suites whose cases are made by code that takes it."""


class Importer(Protocol):
    """Imports the suite of another tool. Built by `create(spec)`.

    Everything maps to (case, check, repeat) -> pass, fail or error: a case is a `Scenario` whose evaluators are
    `suite: NAME`, one for each check that its runs report in `AgentTrace.checks`; an error is a run that raises
    `CaseError`, and is no evidence. What a suite's own judges ask of models goes to `trial.recorder.judging`, to
    be counted apart from the agent's runs. An importer that only reads gives scenarios with evaluators of agentmut.
    """

    name: ClassVar[str]

    @classmethod
    def create(cls, spec: SuiteSpec) -> "Importer":
        """Check the argument. Raise `UsageError` for a wrong one, or if the importer's tool is not installed."""

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the cases as scenarios with unique names, in the suite's order.

        Raises `UsageError` where they cannot be read.
        """

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """Return the adapter that runs one case; None if the project's agent runs the scenarios.

        Its `run` is given the turns of the case. Its `versions` name all that shapes a run besides: those of the
        tool, and the suite's settings. `agent.adapter` is the importer's own name where the project names none.
        """


class SuiteRule(Frozen):
    """A suite's own rule for verdicts; a field is None where the suite does not set it."""

    method: Literal["sequential", "fixed"] | None = None
    """Whether a scenario stops as soon as its trials decide, or takes all of them."""
    trials: int | None = None
    """Most trials of a scenario."""
    alpha: float | None = None
    correction: str | None = None
    timeout: float | None = None
    """Seconds."""


class SetsRule(Capability, kind="importers"):
    """The suite itself sets the rule for verdicts."""

    @property
    @abstractmethod
    def rule(self) -> SuiteRule:
        """Return the suite's rule, for a project file without one."""


class RunsAlone(Capability, kind="adapters"):
    """The suite's adapter runs one case at a time in a process, so each trial has its own process."""

    @property
    @abstractmethod
    def runs_alone(self) -> bool:
        """Return whether one process runs one case at a time."""


class RunsCases(Capability, kind="adapters"):
    """The adapter runs the code of a suite's cases in its own process, which that code may end."""

    @property
    @abstractmethod
    def raised(self) -> Literal["error", "fail"]:
        """Classify an error of that code: no evidence, or a failure."""


class KeepsOpen(Capability, kind="adapters"):
    """The adapter keeps something open between runs, such as a session of a suite's tool.

    All of its mutants share it. Each process that carries out runs calls both methods once.
    """

    @abstractmethod
    def open(self) -> None:
        """Open the suite before the first trial, outside of its time limit.

        Raises `UsageError` where no trial can run.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the suite after the last trial; not called in a process that had to be killed."""


class HoldsInputs(Capability, kind="adapters"):
    """The cases contain the agent's inputs, and no other input can be used."""

    @property
    @abstractmethod
    def why_no_other_input(self) -> str:
        """Return why the agent takes no other input, in a phrase."""


class HoldsTrials(Capability, kind="adapters"):
    """The adapter hands out finished trials in order, such as recorded ones; nothing new can run."""

    @property
    @abstractmethod
    def trials(self) -> Mapping[str, int]:
        """Return the number of trials of each scenario."""

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """Return remarks on these trials for readers of a verdict, a sentence each without its full stop."""

    @property
    def tools_called(self) -> tuple[str, ...]:
        """Return the tools that these trials called, for what judges their calls where the config names no tools."""
        return ()
