"""The trial that the calling code belongs to, and the model call that asked for a tool call.

Concurrent trials are told apart by a ContextVar. A process that carries out one trial at a time belongs to that trial
as a whole, with all of its threads.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from agentmut.recording.trial import Trial

_current: ContextVar[Trial | None] = ContextVar("agentmut_trial", default=None)


class TrialOverError(RuntimeError):
    """An abandoned run tried to reach a model after its trial had ended."""


class OverBudgetError(TrialOverError):
    """A model call was not sent, since the budget in money is used up."""


class NotAloneError(RuntimeError):
    """Two trials needed the whole process at the same time, so each would see the other's requests."""


class _Process:
    """The trial that owns the whole process, where a process carries out one trial at a time.

    No ContextVar: a thread begins with an empty context, and one that is older than the trial keeps its own, as the
    threads of a test session's fixtures do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Trial | None = None
        self._other: Trial | None = None
        self.trial: Trial | None = None
        self.lone: Trial | None = None
        """The only trial under way, which older threads of its agent belong to; the rest of the process does not."""

    def begin(self, trial: Trial) -> None:
        """Give the process to `trial`. Raises `NotAloneError` while another trial is under way."""
        with self._lock:
            if self._under_way is not None:
                raise NotAloneError(
                    f"trial {trial.id} was to run alone in a process that carries out trial {self._under_way.id}. "
                    "Run one at a time there, or each in a process of its own (execution.isolate: process)."
                )
            self._under_way = self.trial = trial

    def end(self, *, left: bool) -> None:
        """End the trial. Its unfinished tasks stay part of it, unless they were deliberately `left`."""
        with self._lock:
            self._under_way = None
            if left:
                self.trial = None

    def lend(self, other: Trial) -> Trial | None:
        """Lend the process to `other`, and return its present trial. Raise `NotAloneError` while it is lent already."""
        with self._lock:
            if self._other is not None:
                raise NotAloneError(f"{other.id} was to be set aside while {self._other.id} is.")
            held, self._other, self.trial = self.trial, other, other
            return held

    def take_back(self, held: Trial | None) -> None:
        """Return the process to the trial that lent it."""
        with self._lock:
            self._other, self.trial = None, held


_PROCESS = _Process()


def current_trial() -> Trial | None:
    """Return the trial that the calling code runs in; None outside every trial."""
    trial = _PROCESS.trial or _current.get()
    if trial is not None and trial.recorder.left:
        trial = None
    if _PROCESS.lone is None or (trial is not None and not trial.recorder.closed):
        return trial
    return _PROCESS.lone if in_agents_thread() else trial


def in_agents_thread() -> bool:
    """Return whether the calling code runs in a thread that is neither the main one nor one of agentmut itself."""
    thread = threading.current_thread()
    return thread is not threading.main_thread() and not thread.name.startswith("agentmut")


def own_older_threads(trial: Trial | None) -> None:
    """Let the agent's threads that no trial has started be part of this trial; None ends that.

    The trial is the only one that is under way in the process.
    """
    _PROCESS.lone = trial


@contextmanager
def alone(trial: Trial) -> Iterator[None]:
    """Make all threads and event loops of this process, older ones too, part of this trial.

    The process carries out no other trial. Where an exception ends the block, what is still at work remains the
    trial's. Raises `NotAloneError` while another trial is under way.
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
    """Give the process to `other` during the block, for work that is no part of the trial, such as judging it.

    Raises `NotAloneError` where something else is set aside already.
    """
    held = _PROCESS.lend(other)
    try:
        yield other
    finally:
        other.recorder.closed = True
        _PROCESS.take_back(held)


@contextmanager
def beside(other: Trial) -> Iterator[None]:
    """Let `other` note what the calling code does before or after a trial, such as a hook of a scenario.

    What the code leaves at work, such as a server's thread, belongs to no trial afterwards.
    """
    token = _current.set(other)
    other.recorder.left = False
    try:
        yield
    finally:
        other.recorder.left = True
        _current.reset(token)


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
    """Run the block as a part of `trial`, or of no trial for None: a judge, for example, is no part of the agent.

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
    """Return what the tool that is called now is called for."""
    return _place.get()


@contextmanager
def answering(place: CallPlace) -> Iterator[CallPlace]:
    """Mark the block as a tool's work for the call of the model at `place`."""
    token = _place.set(place)
    try:
        yield place
    finally:
        _place.reset(token)


def place_calls(place: CallPlace) -> None:
    """Set the place of all further calls of this task to `place`.

    For callbacks of frameworks, which have no end: the `answering` around the turn has.
    """
    _place.set(place)
