"""The recorder: the observations of carriers and tool hooks in one trial."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import (
    Action,
    AgentTrace,
    Exchange,
    ForeignMark,
    ServiceTime,
    Step,
    Take,
    merged_spans,
    service_time,
)

Clock = Callable[[], float]
_ONE_STREAM = 0.01
"""Seconds between two pieces of a stream within which waiting for them is one wait."""
_TOGETHER = 1e-6
"""Seconds by which a wait reaches into the next one where the two are one."""


@dataclass
class Recorder:
    """Collects the observations of carriers and tool hooks in one trial. Used by one trial only."""

    clock: Clock = time.perf_counter
    exchanges: list[Exchange] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    config_reads: set[str] = field(default_factory=set)
    """Parts of the config that an agent without a wire has read, as dotted paths."""
    unread: dict[str, None] = field(default_factory=dict)
    """What reached a proxy of agentmut and could not be read as a model request, in phrases, each once."""
    waiting: list[float] = field(default_factory=list)
    """When each of the model requests that have no answer yet was sent, in seconds since the trial began."""
    waited: list[tuple[float, float]] = field(default_factory=list)
    """From when to when a request, or the next piece of a stream, was waited for, in seconds since the trial began."""
    takes: list[Take] | None = None
    """What the agent asked of models and was given; None where that is not recorded."""
    marks: set[str] = field(default_factory=set)
    """Pointers of the live changes (faults, flow, history) that took effect, such as `/tools/search/fault`."""
    nodes: set[str] = field(default_factory=set)
    """Nodes of the flow that were entered."""
    edges: dict[tuple[str, str], None] = field(default_factory=dict)
    """From which node the run went to which, in the order of the first time; see `AgentTrace.edges`."""
    judging: list[Step] = field(default_factory=list)
    """What the judges of the suite that runs the agent asked of models; no part of what the agent did."""
    threads: int = 0
    """Threads of the trial that are still at work."""
    first_results: dict[str, Any] = field(default_factory=dict)
    """Results of the first calls of tools whose later calls are answered with them, by the tool's own name."""
    late: float = 0.0
    """Seconds that slow tools added to the clock where they could not let them pass."""
    held: float = 0.0
    """Seconds that a rate limit held requests back; not the agent's own time."""
    setup_seconds: float = 0.0
    """What the scenario's setup took before the trial began."""
    exit_code: int | None = None
    """The exit code of an agent that is a program, once the program has ended."""
    stderr: str = ""
    """The end of what such a program wrote to stderr."""
    foreign: ForeignMark | None = None
    """The source of a run that another tool carried out; None for a run of agentmut's own."""
    closed: bool = False
    """Set when the trial is over: an abandoned thread may not send or call tools any more."""
    left: bool = False
    """Set when the code before or after a trial has ended: what it left at work belongs to no trial."""
    cut_off: bool = False
    """Set when the trial was over before its agent was: at its timeout, or with the campaign."""
    over_budget: bool = False
    """Set when a model call was not sent, since the budget in money is used up."""
    ends_early: Callable[[], object] = lambda: None
    """Called, from any thread, when `over_budget` is set."""
    begun: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def now(self) -> float:
        """Return seconds since the trial began."""
        return self.clock() - self.begun + self.late

    def request_left(self, since: float) -> None:
        """Note that a model request has left."""
        with self._lock:
            self.waiting.append(since)

    def settled(self, since: float, *, goes_on: bool = False) -> None:
        """Note that a request has its answer or never gets one; with `goes_on`, the next piece of its answer."""
        with self._lock:
            self.waiting.remove(since)
            now = self.now()
            if goes_on and self.waited and 0 <= since - self.waited[-1][1] < _ONE_STREAM:
                since = self.waited.pop()[0]
            self.waited.append((since, now))

    def cut(self) -> None:
        """End the trial at a model call that the budget does not allow."""
        self.over_budget = self.closed = self.cut_off = True
        self.ends_early()

    def count(self, *, threads: int = 0, held: float = 0.0, late: float = 0.0) -> None:
        """Add to the counters; parallel tool calls do so from several threads at once."""
        with self._lock:
            self.threads += threads
            self.held += held
            self.late += late

    def service_time(self, cut: float = 0.0) -> ServiceTime:
        """Return how long the trial has waited for model services; `cut` is the timeout that ends the trial now.

        From a request that met trouble until the next one leaves, the agent waits for the service as well.
        """
        now = self.now()
        if not (self.exchanges or self.waited or self.waiting):
            return service_time((), now, self.held, cut=cut)
        failed = [exchange for exchange in self.exchanges if exchange.in_trouble]
        with self._lock:
            waited = [*self.waited, *((since, now) for since in self.waiting)]
        starts = sorted(since for since, _ in waited)
        again = [(e.started, _TOGETHER + _first(starts, e.started + e.seconds, now)) for e in failed]
        return service_time(merged_spans([*waited, *again]), now, self.held, failed=len(failed), cut=cut)

    def timeline(self) -> tuple[Step, ...]:
        """Return the recorded steps in the order of their starts."""
        return tuple(sorted(self.steps, key=lambda step: step.started))

    def note_call(self, name: str, arguments: dict[str, Any], started: float, **outcome: Any) -> None:
        """Add the step of a tool's call that began at `started` and ends now."""
        self.steps.append(call_tool_step(name, arguments, self, started, **outcome))

    def trace(self, outputs: Iterable[JsonValue]) -> AgentTrace:
        """Return the trace of a run that ends now with these answers."""
        return AgentTrace(
            steps=self.timeline(),
            outputs=tuple(outputs),
            seconds=self.now(),
            edges=tuple(self.edges),
            exit_code=self.exit_code,
            stderr=self.stderr,
            foreign=self.foreign,
        )

    @property
    def active(self) -> bool:
        """Return whether a model has replied or a tool was called."""
        if any(exchange.answered for exchange in self.exchanges):
            return True
        return any(step.action is not Action.REASON or step.error is None for step in self.steps)


def _first(starts: list[float], after: float, now: float) -> float:
    """Return the first of the starts after a time; `now` if there is none."""
    return next((start for start in starts if start >= after), now)


def call_tool_step(
    name: str, arguments: dict[str, Any], recorder: Recorder, started: float, **outcome: Any
) -> Step:
    """Return a tool step that began at `started` and ends now."""
    return Step(
        action=Action.CALL_TOOL,
        tool=name,
        arguments=arguments,
        started=started,
        seconds=recorder.now() - started,
        **outcome,
    )
