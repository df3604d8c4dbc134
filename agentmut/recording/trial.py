"""The trial that is running now: its identity, its tool doubles, and what has been seen of it so far."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

from agentmut.nouns import Action, AgentConfig, Exchange, Player, Step, Take, ToolFault, ToolSpec
from agentmut.recording.rewriter import Rewriter

Double = Callable[..., Any]
Clock = Callable[[], float]
TRIAL_HEADER = "x-agentmut-trial"
"""Of requests that are told whose they are."""
TRIAL_PREFIX = "/t/"
"""Of paths that name their trial: `/t/<trial>/v1/...`."""


class TrialOverError(RuntimeError):
    """An abandoned run tried to reach a model after its trial had ended."""


def trial_and_path(target: str) -> tuple[str | None, str]:
    """The trial that a request's target names, and the target without it.

    >>> trial_and_path("/t/a%20b/v1/messages"), trial_and_path("/v1/messages")
    (('a b', '/v1/messages'), (None, '/v1/messages'))
    """
    if not target.startswith(TRIAL_PREFIX):
        return None, target
    name, slash, rest = target.removeprefix(TRIAL_PREFIX).partition("/")
    return unquote(name, errors="surrogateescape"), slash + rest


@dataclass
class Recorder:
    """Collects what carriers and tool hooks see of one trial. Used by one trial only."""

    clock: Clock = time.perf_counter
    exchanges: list[Exchange] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    config_reads: set[str] = field(default_factory=set)
    """Parts of the config that an agent without a wire has read, as dotted paths."""
    waiting: list[float] = field(default_factory=list)
    """When each of the model requests that have no answer yet was sent, in seconds since the trial began."""
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
    exit_code: int | None = None
    """Of an agent that is a program, once it has ended."""
    stderr: str = ""
    """The end of what such a program wrote to stderr."""
    closed: bool = False
    """Set when the trial is over: an abandoned thread may not send or call tools any more."""
    begun: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def now(self) -> float:
        """Seconds since the trial began."""
        return self.clock() - self.begun + self.late

    def asked(self, since: float) -> None:
        """A model request has left."""
        with self._lock:
            self.waiting.append(since)

    def settled(self, since: float) -> None:
        """The request that left then has its answer, or will never have one."""
        with self._lock:
            self.waiting.remove(since)

    def count(self, *, threads: int = 0, held: float = 0.0, late: float = 0.0) -> None:
        """Add to the counters; parallel tool calls do so from several threads at once."""
        with self._lock:
            self.threads += threads
            self.held += held
            self.late += late

    def timeline(self) -> tuple[Step, ...]:
        """The recorded steps in the order in which they were started."""
        return tuple(sorted(self.steps, key=lambda step: step.started))

    @property
    def active(self) -> bool:
        """True once a model has replied or a tool was called."""
        if any(exchange.answered for exchange in self.exchanges):
            return True
        return any(step.action is not Action.REASON or step.error is None for step in self.steps)


class ToolChange(NamedTuple):
    """The tools of an agent as they are, and as the model is to be told of them: for what offers them at run time."""

    before: tuple[ToolSpec, ...] = ()
    after: tuple[ToolSpec, ...] = ()


_UNCHANGED = ToolChange()


@dataclass(frozen=True)
class Trial:
    """One run of one agent on one scenario."""

    id: str
    """A function of what shapes the run, so that a seeded service answers alike when it is repeated."""
    seed: int = 0
    doubles: Mapping[str, Double] = field(default_factory=dict)
    """By the agent's own name of the tool."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    """The mutated tools by the name under which they are offered: renamed, faulty, or decoys."""
    tool_change: ToolChange = _UNCHANGED
    """What becomes of the tools that the agent is offered by servers (MCP)."""
    rewriter: Rewriter | None = None
    """Changes the model requests of the trial on their way; None where the agent itself is the mutant."""
    player: Player | None = None
    """Answers the model requests of a trial that is replayed; nothing leaves the machine then."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that lead the model requests of another program through agentmut, to this trial."""
    redact: Callable[[str], str] = str
    """For texts that are cut before they are kept: what is left of a secret then would not be recognised."""
    recorder: Recorder = field(default_factory=Recorder)

    def own_name(self, tool: str) -> str:
        """The agent's own name of a tool that is offered as `tool`."""
        return self.tools[tool].own_name if tool in self.tools else tool

    def fault(self, tool: str) -> ToolFault | None:
        """What goes wrong with calls of a tool, by its own name. Taking effect is noted with `mark_fault`."""
        return next((t.fault for t in self.tools.values() if t.own_name == tool and t.fault), None)

    def mark_fault(self, tool: str) -> None:
        """Note that a call of the tool, by its own name, met its fault."""
        self.recorder.marks.add(f"/tools/{tool}/fault")


def altered_tools(config: AgentConfig) -> dict[str, ToolSpec]:
    """The tools of a config that are not what the agent takes them for, by the name they are offered under."""
    return {tool.name: tool for tool in config.tools if tool.fault or tool.implemented_by}


_current: ContextVar[Trial | None] = ContextVar("agentmut_trial", default=None)


class NotAloneError(RuntimeError):
    """Two trials were to be the whole process at the same time; each would get what the other sends."""


class _Process:
    """What this process carries out, where it carries out one trial at a time: the whole process is it.

    No ContextVar: a thread begins with an empty context, and one that is older than the trial keeps its own, as the
    threads of a test session's fixtures do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Trial | None = None
        self._other: Trial | None = None
        self.trial: Trial | None = None

    def begin(self, trial: Trial) -> None:
        """The process is `trial`'s from now on. Raises `NotAloneError` while another one is under way."""
        with self._lock:
            if self._under_way is not None:
                raise NotAloneError(
                    f"trial {trial.id} was to run alone in a process that carries out trial {self._under_way.id}. "
                    "Run one at a time there, or each in a process of its own (execution.isolate: process)."
                )
            self._under_way = self.trial = trial

    def end(self, *, left: bool) -> None:
        """The trial is over; what is still at work remains its own unless it was `left` by choice."""
        with self._lock:
            self._under_way = None
            if left:
                self.trial = None

    def lend(self, other: Trial) -> Trial | None:
        """The process is `other`'s for now; gives whose it was. Raises `NotAloneError` while it is lent already."""
        with self._lock:
            if self._other is not None:
                raise NotAloneError(f"{other.id} was to be set aside while {self._other.id} is.")
            held, self._other, self.trial = self.trial, other, other
            return held

    def take_back(self, held: Trial | None) -> None:
        """The process is again whose it was."""
        with self._lock:
            self._other, self.trial = None, held


_PROCESS = _Process()


def current_trial() -> Trial | None:
    """The trial that the calling code runs in, None outside of any."""
    return _PROCESS.trial or _current.get()


@contextmanager
def alone(trial: Trial) -> Iterator[None]:
    """While this process carries out this trial and no other: all of its threads and event loops are part of it,
    also those that are older. Where the block is left by an exception, what is still at work remains the trial's.

    Raises `NotAloneError` while another one is under way.
    """
    _PROCESS.begin(trial)
    left = False
    try:
        yield
        left = True
    finally:
        _PROCESS.end(left=left)


@contextmanager
def aside(other: Trial) -> Iterator[Trial]:
    """While a process that carries out one trial does something else, such as judging it: that is `other`'s then.

    Raises `NotAloneError` where something else is set aside already.
    """
    held = _PROCESS.lend(other)
    try:
        yield other
    finally:
        other.recorder.closed = True
        _PROCESS.take_back(held)


@contextmanager
def running(trial: Trial) -> Iterator[Trial]:
    """Make `trial` the current one; concurrent trials in other tasks or threads do not see it."""
    token = _current.set(trial)
    try:
        yield trial
    finally:
        trial.recorder.closed = True
        _current.reset(token)


@contextmanager
def belonging(trial: Trial | None) -> Iterator[None]:
    """While code runs that is a part of `trial`, or, where that is None, of no trial: a judge is not the agent.

    Unlike at the end of `running`, the trial goes on.
    """
    token = _current.set(trial)
    try:
        yield
    finally:
        _current.reset(token)


class CallPlace(NamedTuple):
    """Which call of the model a tool is called for, where that is known."""

    turn: int = 0
    node: str | None = None
    call_id: str | None = None


_NOWHERE = CallPlace()
_place: ContextVar[CallPlace] = ContextVar("agentmut_call_place", default=_NOWHERE)


def call_place() -> CallPlace:
    """What the tool that is called now is called for."""
    return _place.get()


@contextmanager
def answering(place: CallPlace) -> Iterator[CallPlace]:
    """While a tool is called for the call of the model at `place`."""
    token = _place.set(place)
    try:
        yield place
    finally:
        _place.reset(token)


def place_calls(place: CallPlace) -> None:
    """From here on, in this task, calls are made for the call of the model at `place`.

    For callbacks of frameworks, which have no end: the `answering` around the turn has.
    """
    _place.set(place)


def call_tool_step(
    name: str, arguments: dict[str, Any], recorder: Recorder, started: float, **outcome: Any
) -> Step:
    """A tool step that began at `started` and ends now."""
    return Step(
        action=Action.CALL_TOOL,
        tool=name,
        arguments=arguments,
        started=started,
        seconds=recorder.now() - started,
        **outcome,
    )
