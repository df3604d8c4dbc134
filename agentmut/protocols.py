"""The seams: what a plugin of each kind looks like to the core."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import Field, JsonValue, SecretStr

from agentmut.config import AgentConfig
from agentmut.frozen import Frozen
from agentmut.judge_client import JudgeModel
from agentmut.mutant import Candidate, Intent, Mutant, OperatorClass, Reach
from agentmut.opinions import JudgeSpend, OpinionCache
from agentmut.relation import Expectation, Family, FollowUp, Pair, Source
from agentmut.scenario import Scenario
from agentmut.tools import ToolSpec
from agentmut.trace import AgentTrace, Check
from agentmut.trial import Trial


class AgentSpec(Frozen):
    """How an adapter finds the agent: the `agent` section of the project file, without its config."""

    adapter: str
    factory: str | None = None
    run: str | None = None
    functions: str | None = None
    """`module:object`: the functions behind the tools of a ready tool loop."""
    api: Literal["chat_completions", "responses"] | None = None
    stream: bool = False
    command: tuple[str, ...] = ()
    """A program and its arguments; with `shell`, one command line."""
    shell: bool = False
    url: str | None = None
    method: str = "POST"
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    body: JsonValue = None
    answer: str | None = None
    """JSON pointer to the answer in what a program or a service gives back."""
    proxy_port: int | None = None
    route: Literal["rebuild", "wire"] | None = None
    """How mutants reach the agent; None leaves it to the adapter."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """What only this adapter knows, such as which agent of a team is changed."""
    root: str = "."
    """Directory that `module:object` references are resolved from, and in which programs run."""


class AgentKeys(NamedTuple):
    """The keys of the agent section that an adapter takes, besides those that all take.

    An adapter that has them as its class attribute `agent_keys` need not check them itself.
    """

    needed: str | None
    example: str = ""
    others: frozenset[str] = frozenset()


@runtime_checkable
class Adapter(Protocol):
    """Turns a framework's agent into agentmut's. Built by `create(spec, config)`.

    `run` builds a fresh agent each time, so that no state passes from one trial to the next.
    """

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "Adapter":
        """Check the spec, import what it names, and return an adapter. Raises `UsageError`."""
        ...

    def get_config(self) -> AgentConfig:
        """The config this adapter runs."""
        ...

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of the built agent, as the model is told of them; its config may list others, or fewer.

        Asked before a suite is refused for a tool that the config does not list. Raises `AdapterError` where the
        agent cannot be built.
        """
        ...

    def with_config(self, config: AgentConfig) -> "Adapter":
        """A new adapter that runs `config`."""
        ...

    def doubled_tools(self) -> frozenset[str]:
        """Names of the tools whose calls can be answered by a double."""
        ...

    def cannot_express(self, mutant: Mutant) -> str:
        """Why this agent cannot be run as that mutant, in a phrase; empty when it can."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Versions of the frameworks that shape a run; part of a trial's key."""
        ...

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the agent once, feeding it the turns in order."""
        ...


@runtime_checkable
class AsksAgent(Protocol):
    """What an adapter has besides, that asks the built agent for tools and flow which the project does not name."""

    @property
    def not_built(self) -> str:
        """Why the agent could not be asked, in a phrase; empty when it was."""
        ...


@runtime_checkable
class NeedsDoubles(Protocol):
    """What an adapter has besides whose agent may have tools with nothing behind them."""

    @property
    def needs_doubles(self) -> frozenset[str]:
        """Tools that every scenario has to double."""
        ...


@runtime_checkable
class RunsOutside(Protocol):
    """What an adapter has besides whose agent runs in another process: its model requests pass a proxy."""

    @property
    def carries(self) -> frozenset[str]:
        """Parts of the config that the adapter hands to the agent itself, as dotted paths such as `model.name`.

        All others are changed on the wire.
        """
        ...


@runtime_checkable
class ChoosesRoute(Protocol):
    """What an adapter has besides whose mutants reach the agent in a way of its own, where the project names none."""

    @property
    def default_route(self) -> Literal["rebuild", "wire"]:
        """How mutants reach the agent."""
        ...


@runtime_checkable
class KnowsOriginal(Protocol):
    """What an adapter has besides whose agent may have tools that servers offer it at run time (MCP)."""

    @property
    def original(self) -> AgentConfig:
        """The config before any change."""
        ...


@runtime_checkable
class AsksNoModel(Protocol):
    """What an adapter has besides whose runs ask no model, and so have no price."""

    @property
    def asks_no_model(self) -> Literal[True]:
        """Always."""
        ...


@runtime_checkable
class AsksService(Protocol):
    """What an adapter has besides whose agent asks one service, whatever the model's provider."""

    @property
    def service(self) -> str:
        """The service's name, as `agentmut.services` has it."""
        ...


@runtime_checkable
class KnowsApi(Protocol):
    """What an adapter has besides that knows which API its agent speaks."""

    def cannot_say(self, mutant: Mutant) -> str:
        """Which setting of the model that the mutant changes the API has no word for, in a phrase; empty for none."""
        ...


class OperatorOptions(Frozen):
    """What operators may draw on besides the config: the `mutation` section of the project file."""

    swap_models: tuple[str, ...] = ()
    downgrade_models: tuple[str, ...] = ()
    slow_seconds: float = 3.0
    wordnet: bool = False


class Example(NamedTuple):
    """An operator's documentation and test: its first mutant of `config` turns it into `first`."""

    config: AgentConfig
    first: AgentConfig
    options: OperatorOptions = OperatorOptions()


@runtime_checkable
class Operator(Protocol):
    """A pure generator of mutants from a config. Built without arguments."""

    id: ClassVar[str]
    """`class.name`."""
    version: ClassVar[int]
    """Raised whenever the same input gives other mutants; part of their ids."""
    operator_class: ClassVar[OperatorClass]
    intent: ClassVar[Intent]
    reach: ClassVar[Reach]
    why: ClassVar[str]
    """One line: how this happens in practice."""

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Every mutant of the config, in a stable order."""
        ...

    def examples(self) -> Iterable[Example]:
        """At least one example."""
        ...


@runtime_checkable
class Evaluator(Protocol):
    """Judges traces. Built as `Class(argument)`; a bad argument raises `ValueError` with what it expects."""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Pass or fail, with a reason that a reader understands without the trace."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """What an evaluator's class has besides whose argument may name files."""

    @classmethod
    def read_files(cls, argument: JsonValue, root: Path) -> JsonValue:
        """The argument with what the files hold in the place of their paths, which are relative to `root`.

        Raises `ValueError` or `UsageError`.
        """
        ...


@runtime_checkable
class Notes(Protocol):
    """What an evaluator has besides that may have something to tell before any run."""

    def note(self, scenario: Scenario) -> str:
        """What a reader of results has to know of it on a scenario, in a phrase; empty for nothing."""
        ...


@runtime_checkable
class GivesChecks(Protocol):
    """What an evaluator has besides that gives several checks of a trace, each under a name of its own."""

    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """At least one. Which they are may differ from trace to trace."""
        ...


@runtime_checkable
class AsksModel(Protocol):
    """What an evaluator has besides that asks a model: it takes time and money, and is run beside the event loop."""

    model: JudgeModel

    @property
    def spend(self) -> JudgeSpend:
        """What it has taken so far."""
        ...

    def remembering(self, cache: OpinionCache) -> "Evaluator":
        """The same evaluator, which keeps what it was told in `cache`."""
        ...


class RelationExample(NamedTuple):
    """A relation's documentation and test: a pair in which it holds, or one in which it does not."""

    source: Source
    traces: tuple[AgentTrace, ...]
    """Of the follow-up runs that `follow_up(source)` asks for."""
    holds: bool


@runtime_checkable
class Relation(Protocol):
    """A metamorphic relation: transformation, constraints, expectation.

    Built as `Class(argument)`; argument None where none is given. A bad argument raises `ValueError` with what is
    expected.
    """

    id: ClassVar[str]
    """`family.name`."""
    version: ClassVar[int]
    """Raised whenever the same source gives another follow-up or another judgement."""
    family: ClassVar[Family]
    expectation: ClassVar[Expectation]
    why: ClassVar[str]
    """One line: what a violation means."""

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Why the relation says nothing about this scenario, in a phrase; empty where it does."""
        ...

    def follow_up(self, source: Source) -> FollowUp | None:
        """What to run after a source run; None where this run gives the relation nothing to speak about.

        A function of the source alone. What depends on `source.trace` is run after it.
        """
        ...

    def holds(self, pair: Pair) -> Check | None:
        """Whether the pair stands in the relation; None where it says nothing about the pair.

        An invariant relation is also asked about `SAME_AGAIN`, which must be judged in the same way.
        """
        ...

    def examples(self) -> Iterable[RelationExample]:
        """At least one pair in which it holds and one in which it does not."""
        ...


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
    """Makes somebody else's suite ours. Built by `create(spec)`.

    Everything maps to (case, check, repeat) -> pass, fail or error: a case is a `Scenario` whose evaluators are
    `suite: NAME`, one for each check that its runs report in `AgentTrace.checks`; an error is a run that raises
    `CaseError`, and is no evidence. What a suite's own judges ask of models goes to `trial.recorder.judging`, to
    be counted apart from the agent's runs. An importer that only reads gives scenarios with evaluators of agentmut.
    """

    name: ClassVar[str]

    @classmethod
    def create(cls, spec: SuiteSpec) -> "Importer":
        """Check the argument. Raises `UsageError` for one it does not take, or where its tool is not installed."""
        ...

    def scenarios(self) -> tuple[Scenario, ...]:
        """The cases, in the suite's order, with names of their own. Raises `UsageError` where they cannot be read."""
        ...

    def adapter(self, agent: AgentSpec, config: AgentConfig) -> Adapter | None:
        """What runs one case, in the place of the agent; None where the project's agent runs the scenarios.

        Its `run` is given the turns of the case. Its `versions` name all that shapes a run besides: those of the
        tool, and the suite's settings. `agent.adapter` is the importer's own name where the project names none.
        """
        ...


class SuiteRule(Frozen):
    """How a suite of another tool says that verdicts are reached; None where it does not say."""

    trials: int | None = None
    """Most trials of a scenario."""
    alpha: float | None = None
    correction: str | None = None
    timeout: float | None = None
    """Seconds."""


@runtime_checkable
class SetsRule(Protocol):
    """What an importer has besides whose suite says how verdicts are reached."""

    @property
    def rule(self) -> SuiteRule:
        """What holds where the project file does not say otherwise."""
        ...


@runtime_checkable
class RunsAlone(Protocol):
    """What an adapter has besides of which one process carries out one run at a time: trials run in processes."""

    @property
    def runs_alone(self) -> bool:
        """Whether that is so."""
        ...


@runtime_checkable
class RunsCases(Protocol):
    """What an adapter has besides that runs the code of a suite's cases in its own process, which they may end."""

    @property
    def raised(self) -> Literal["error", "fail"]:
        """What it is when that code goes wrong: no evidence, or a failure."""
        ...


@runtime_checkable
class KeepsOpen(Protocol):
    """What an adapter has besides that keeps something open between runs, such as a session of a suite's tool.

    All of its mutants share it. Both are called once in each process that carries out runs.
    """

    def open(self) -> None:
        """Before the first run; takes none of its time. Raises `UsageError` where there can be no run."""
        ...

    def close(self) -> None:
        """After the last run. Not called in a process that had to be killed."""
        ...


@runtime_checkable
class HoldsInputs(Protocol):
    """What an adapter has besides whose cases say to the agent what they hold, and nothing that they are given."""

    @property
    def why_no_other_input(self) -> str:
        """Why no other input can be tried on its agent, in a phrase."""
        ...


__all__ = [
    "Adapter", "AgentSpec", "AsksAgent", "AsksNoModel", "AsksService", "ChoosesRoute", "Evaluator", "Example",
    "GivesChecks", "HoldsInputs", "Importer", "KeepsOpen", "KnowsApi", "KnowsOriginal", "NeedsDoubles",
    "Notes", "Operator", "OperatorOptions", "ReadsFiles", "Relation", "RelationExample", "RunsAlone",
    "RunsCases", "RunsOutside", "SetsRule", "SuiteRule", "SuiteSpec",
]  # fmt: skip
