"""Read the AgentAssay paper's test-specification format (section 8.4) into a `Project`.

`expected_x: v` asks that field x of the output is v, `max_steps` limits the steps of a run, and `evaluator:
exact_match` (the default) says that the fields are compared exactly. `evaluator: {type: contract, contract:
FILE, clause: ID}` (section 8.5) asks for a contract, too. `config.trials` is the size of the baseline and the
most trials of a test, and `beta` gives the power as 1 - beta. `method: sprt` is the sequential test, `fixed`
that of a fixed number of trials. `regression` gives the drop that matters, and the name of the baseline that
the gate holds the agent against.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field, JsonValue

from agentmut._base import (
    Frozen,
    KeyPath,
    ProjectError,
    UsageError,
    YamlSource,
    check_reference,
    joined,
    make_importable,
    nearest,
    read_yaml,
    validated,
)
from agentmut.judging import build, with_files
from agentmut.nouns import AgentConfig, EvaluatorSpec, Scenario, Sources
from agentmut.project.gate_section import GateSettings
from agentmut.project.project import Project
from agentmut.project.schema import (
    ComparisonSettings,
    Rate,
    StatisticsSettings,
    VerdictSettings,
)
from agentmut.seams import AgentSpec, Catalogue, Group

EXPECTED = "expected_"


class _PaperRegression(Frozen):
    baseline: str = Field(min_length=1)
    delta: Rate = 0.1

    @property
    def name(self) -> str:
        """Return the name of the baseline: agentmut keeps baselines by name, in a folder of its own."""
        return PurePosixPath(self.baseline).stem


class _PaperContract(Frozen):
    type: Literal["contract"]
    contract: str = Field(min_length=1)
    clause: str | None = None

    @property
    def spec(self) -> EvaluatorSpec:
        """Return the evaluator: the whole contract, or one clause of it."""
        if self.clause is None:
            return EvaluatorSpec(name="contract", argument=self.contract)
        return EvaluatorSpec(name="contract", argument={"file": self.contract, "clauses": [self.clause]})


class _PaperConfig(Frozen):
    trials: int | None = Field(default=None, ge=1)
    threshold: Rate = 0.9
    alpha: float = Field(default=0.05, gt=0, le=0.5)
    beta: float = Field(default=0.1, gt=0, le=0.5)
    method: Literal["sprt", "fixed"] = "sprt"
    regression: _PaperRegression | None = None


class _PaperScenario(Frozen):
    input: JsonValue
    properties: tuple[dict[str, JsonValue], ...] = ()
    evaluator: _PaperContract | str = "exact_match"


class _PaperSpec(Frozen):
    name: str = Field(min_length=1)
    description: str = ""
    agent: str
    scenarios: tuple[_PaperScenario, ...] = Field(min_length=1)
    config: _PaperConfig = Field(default_factory=_PaperConfig)


def is_paper_spec(source: YamlSource) -> bool:
    """Return whether a file is the paper's test specification: it holds its scenarios and has no version."""
    value = source.value
    return isinstance(value, dict) and "scenarios" in value and "version" not in value


def load_paper_spec(path: Path, agent: str | None = None) -> Project:
    """Read a test specification; `agent` is the `module:object` that its agent's name stands for.

    Raises `ProjectError` with every problem found.
    """
    if not path.is_file():
        raise ProjectError(f"there is no file {path}. Name an existing test specification.")
    make_importable(path.resolve().parent)
    return project_of_paper_spec(read_yaml(path, path.name), path.resolve(), agent)


def project_of_paper_spec(source: YamlSource, path: Path, agent: str | None) -> Project:
    """Return the project of a specification that is already read; see `load_paper_spec`."""
    spec = validated(source, _PaperSpec)
    problems = [*_agent_problems(source, spec, agent), *_scenario_problems(source, spec, path.parent)]
    if problems:
        raise ProjectError(joined(problems))
    scenarios = tuple(_scenario(spec, index, path.parent) for index in range(len(spec.scenarios)))
    config = spec.config
    return Project(
        root=path.parent,
        path=path,
        agent=AgentSpec(adapter="python", run=agent, root=str(path.parent)),
        config=AgentConfig(),
        sources=Sources(scenarios=_places(source, scenarios)),
        scenarios=scenarios,
        threshold=config.threshold,
        statistics=_statistics(config),
        test=_test(config),
        compare=_comparison(config),
        gate=GateSettings(baseline=config.regression.name if config.regression else None),
    )


def _places(source: YamlSource, scenarios: tuple[Scenario, ...]) -> dict[str, str]:
    lines = (source.line(("scenarios", index)) for index in range(len(scenarios)))
    return {s.name: f"{source.label}:{line}" for s, line in zip(scenarios, lines, strict=True)}


def _statistics(config: _PaperConfig) -> StatisticsSettings:
    power = round(1 - config.beta, 12)  # 1 - 0.1 is 0.9, not 0.90000000000000002
    settings = StatisticsSettings(alpha=config.alpha, power=power, baseline=config.trials or "auto")
    return settings.model_copy(update={"delta": config.regression.delta}) if config.regression else settings


def _test(config: _PaperConfig) -> VerdictSettings:
    settings = VerdictSettings(method="fixed" if config.method == "fixed" else "sequential")
    return settings.model_copy(update={"trials": config.trials}) if config.trials else settings


def _comparison(config: _PaperConfig) -> ComparisonSettings:
    settings = ComparisonSettings(method="fixed" if config.method == "fixed" else "sequential")
    return settings.model_copy(update={"trials": config.trials}) if config.trials else settings


def _agent_problems(source: YamlSource, spec: _PaperSpec, agent: str | None) -> Iterator[str]:
    if agent is None:
        said = f"{spec.agent!r} is only a name; say which function it stands for with --agent module:object"
        yield source.problem(("agent",), said)
        return
    try:
        check_reference(agent)
    except UsageError as error:
        yield source.problem(("agent",), f"--agent: {error}")


def _scenario_problems(source: YamlSource, spec: _PaperSpec, root: Path) -> Iterator[str]:
    for index, entry in enumerate(spec.scenarios):
        if fault := _evaluator_fault(entry.evaluator, root):
            yield source.problem(("scenarios", index, "evaluator"), fault)
        if not any(entry.properties) and isinstance(entry.evaluator, str):
            yield source.problem(("scenarios", index, "properties"), "needs at least one property")
        for number, properties in enumerate(entry.properties):
            for name, value in properties.items():
                path: KeyPath = ("scenarios", index, "properties", number, name)
                if fault := _property_fault(name, value):
                    yield source.problem(path, fault)


def _evaluator_fault(evaluator: _PaperContract | str, root: Path) -> str:
    if isinstance(evaluator, str):
        known = ["exact_match", "{type: contract, contract: FILE, clause: ID}"]
        return (
            "" if evaluator == known[0] else f"unknown evaluator {evaluator!r}. {nearest(evaluator, known)}"
        )
    try:
        build(_contract(evaluator, root))
    except UsageError as error:
        return str(error)
    return ""


def _contract(evaluator: _PaperContract, root: Path) -> EvaluatorSpec:
    """Return the contract as an evaluator that holds what its file says. Raises `UsageError`."""
    return with_files(evaluator.spec, Catalogue.from_group(Group.EVALUATORS), root)


def _property_fault(name: str, value: JsonValue) -> str:
    if name != "max_steps" and (name == EXPECTED or not name.startswith(EXPECTED)):
        return f"unknown property {name!r}. {nearest(name, ['expected_<field>', 'max_steps'])}"
    try:
        build(_spec(name, value))
    except UsageError as error:
        return str(error)
    return ""


def _spec(name: str, value: JsonValue) -> EvaluatorSpec:
    if name == "max_steps":
        return EvaluatorSpec(name=name, argument=value)
    return EvaluatorSpec(name="expect", argument={name.removeprefix(EXPECTED): value})


def _scenario(spec: _PaperSpec, index: int, root: Path) -> Scenario:
    entry = spec.scenarios[index]
    written = (item for properties in entry.properties for item in properties.items())
    evaluators = tuple(_spec(name, value) for name, value in written)
    if not isinstance(entry.evaluator, str):
        evaluators += (_contract(entry.evaluator, root),)
    return Scenario(name=f"{spec.name}-{index + 1}", turns=(entry.input,), evaluators=evaluators)
