"""Runs of an adapter under check, through the engine's own executor, with everything that was seen of them."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, AgentTrace, EvaluatorSpec, Exchange, Execution, Mutant, Scenario
from agentmut.recording import Double, Recorder, Trial
from agentmut.seams import Adapter, AgentSpec, declared
from agentmut.trial import (
    Case,
    LocalExecutor,
    Pricer,
    RetryingExecutor,
    RunSettings,
    SuiteConfig,
    TrialRequest,
    remedy_on_wire,
    routed,
)

AT_ONCE = 8
RETRIES = 2
"""Where the service or the network failed, as in a campaign."""


class Subject(NamedTuple):
    """The adapter under check, with its agent and inputs."""

    adapter: Adapter
    turns: tuple[JsonValue, ...]
    expect_tools: tuple[str, ...]
    doubles: Mapping[str, Double]
    timeout: float
    route: Literal["rebuild", "wire"] | None = None
    """How mutants reach the agent; None leaves it to the adapter."""
    at_once: int = AT_ONCE
    """How many runs of it have to stay apart when they run at the same time."""

    @property
    def spec(self) -> AgentSpec:
        """Return the agent section of a project with this agent."""
        return AgentSpec(adapter="under check", route=self.route)

    @property
    def doubled(self) -> str | None:
        """Return a tool that the agent calls and that can be doubled."""
        able = self.adapter.doubled_tools()
        return next((tool for tool in self.expect_tools if tool in able), None)


class RunRequest(NamedTuple):
    """A requested run. Fields left out are taken from the subject."""

    id: str
    turns: tuple[JsonValue, ...] | None = None
    doubles: Mapping[str, Double] | None = None
    mutant: Mutant | None = None


@dataclass
class InsideView:
    """The view of a run from inside the adapter."""

    trial: Trial
    trace: AgentTrace | None = None
    error: BaseException | None = None
    returned_late: bool = False
    """Whether the run answered after its time was over."""


@dataclass(frozen=True)
class ObservedRun:
    """A finished run."""

    asked: RunRequest
    execution: Execution
    seen: InsideView | None
    """None where the agent was not even run."""
    wall: float
    """Seconds by the clock on the wall."""

    @property
    def recorder(self) -> Recorder:
        """Return the recorder of the trial's hooks and carriers."""
        return self.seen.trial.recorder if self.seen else Recorder()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the model requests that were answered."""
        return tuple(one for one in self.recorder.exchanges if one.answered)


@dataclass
class Watch:
    """The list in which watched adapters note their runs."""

    runs: list[InsideView] = field(default_factory=list)

    def last_run_of(self, trial_id: str) -> InsideView | None:
        """Return the last run of that trial."""
        return next((seen for seen in reversed(self.runs) if seen.trial.id == trial_id), None)


async def observe(subject: Subject, *asked: RunRequest, timeout: float | None = None) -> list[ObservedRun]:
    """Run all that is asked, as many at once as the subject says."""
    watch = Watch()
    adapter = routed(watched(subject.adapter, watch), subject.spec)
    scenarios = {one.id: _scenario(one.id, one.turns or subject.turns) for one in asked}
    suite = suite_of(adapter, scenarios.values())
    cases = {
        one.id: Case(scenarios[one.id], dict(subject.doubles if one.doubles is None else one.doubles))
        for one in asked
    }
    settings = RunSettings(timeout=subject.timeout if timeout is None else timeout)
    local = LocalExecutor(adapter, suite, cases, Pricer({}), settings)
    # frameworks may keep connections of another event loop
    executor = RetryingExecutor(local, RETRIES, wait=0.1)
    places = asyncio.Semaphore(subject.at_once)

    async def one_run(request: RunRequest) -> ObservedRun:
        async with places:
            started = time.perf_counter()
            execution = await executor.execute(TrialRequest(request.mutant, request.id, request.id))
            return ObservedRun(
                request, execution, watch.last_run_of(request.id), time.perf_counter() - started
            )

    async with executor.session():
        return await asyncio.gather(*map(one_run, asked))


def suite_of(adapter: Adapter, scenarios: Any) -> SuiteConfig:
    """Return the config that mutants are made from."""
    return SuiteConfig(adapter.get_config(), scenarios, on_wire=remedy_on_wire(adapter))


def whole_config(subject: Subject) -> tuple[Adapter, AgentConfig]:
    """Return the adapter as its mutants reach it, and the config that they are made from."""
    adapter = routed(subject.adapter, subject.spec)
    return adapter, suite_of(adapter, [_scenario("check", subject.turns)]).full


def _scenario(name: str, turns: Sequence[JsonValue]) -> Scenario:
    return Scenario(name=name, turns=tuple(turns), evaluators=(EvaluatorSpec(name="expect"),))


def watched(adapter: Adapter, watch: Watch) -> Adapter:
    """Return the adapter with its runs noted. It has the attributes and the declared capabilities of the adapter."""
    names = {name for name in dir(adapter) if not name.startswith("_")} - {"run", "with_config", "create"}
    bases = (_WatchedAdapter, *declared(type(adapter)))
    make: Any = type(bases[-1])  # the metaclass of the capabilities, where the adapter declares any
    kind: Any = make(type(adapter).__name__, bases, {name: _passed_on(name) for name in names})
    found: Adapter = kind(adapter, watch)
    return found


def _passed_on(name: str) -> property:
    return property(lambda self: getattr(self._agent, name))


class _WatchedAdapter:
    def __init__(self, agent: Adapter, watch: Watch) -> None:
        self._agent = agent
        self._watch = watch

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Adapter:
        """Refuse: a watched adapter is made from an adapter."""
        raise TypeError("it is made from an adapter")

    def with_config(self, config: AgentConfig) -> Adapter:
        """Return the adapter of another config, with its runs noted in the same watch."""
        return watched(self._agent.with_config(config), self._watch)

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the agent and note the trace, or the error that it raised."""
        seen = InsideView(trial)
        self._watch.runs.append(seen)
        try:
            seen.trace = await self._agent.run(turns, trial)
        except BaseException as error:
            seen.error = error
            raise
        seen.returned_late = trial.recorder.closed
        return seen.trace
