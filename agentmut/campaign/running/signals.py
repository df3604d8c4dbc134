"""Ctrl-C during a campaign: the first ends it cleanly, whatever an agent does with the loop; the second at once."""

import asyncio
import contextvars
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from agentmut._base import BEAT, stop_signals, supervisor
from agentmut.recording import LostTime, RunEndedError, current_trial, place_of, runs_users_code

ENGINE = ("agentmut.campaign", "agentmut.trial")
"""The packages whose own tasks may not be broken off in the middle."""
OWN = "agentmut."
CONTAINED = frozenset({"_contained", "_hooked"})
"""Their tasks that run an agent or a hook."""
BREAK = 0.02
"""Seconds after Ctrl-C that an agent may keep the event loop."""
_log = logging.getLogger(__name__)


@contextmanager
def guarded(
    loop: asyncio.AbstractEventLoop, interrupt: Callable[[], None], seconds: float, lost: LostTime
) -> Iterator[None]:
    """Let Ctrl-C (and SIGTERM) end the campaign, and break an agent off that blocks the event loop for `seconds`.

    Outside the main thread nothing is guarded: the caller handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    guard = _Guard(loop, interrupt, seconds, lost)
    before = {number: signal.signal(number, guard.stop) for number in stop_signals()}
    timer = getattr(signal, "SIGALRM", None)
    if timer is not None:
        before[timer] = signal.signal(timer, guard.alarm)
        guard.beat()
    try:
        yield
    finally:
        guard.end()
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


class _Guard:
    """The handlers of the signals.

    Every beat of the loop sets the timer of the system anew, so it only rings where the loop stands still. A signal
    reaches the main thread even in the middle of a regular expression of `re`.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, interrupt: Callable[[], None], seconds: float, lost: LostTime
    ) -> None:
        self._loop = loop
        self._interrupt = interrupt
        self._seconds = seconds
        self._lost = lost
        self._asked = False
        self._spared = False
        self._next: asyncio.TimerHandle | None = None

    def stop(self, number: int, frame: FrameType | None) -> None:
        """End the campaign; the second time at once."""
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        if line := supervisor():
            line.stop_asked = True
            line.tell("stopping")
        # in no context, as that of the interrupted code may be a trial's, which can cancel nothing but its own
        self._loop.call_soon_threadsafe(self._interrupt, context=contextvars.Context())
        if hasattr(signal, "setitimer"):  # agents that are next in turn may keep the loop, too
            signal.setitimer(signal.ITIMER_REAL, BREAK, BREAK)
        if runs_agent(frame):
            raise RunEndedError("the run was interrupted")

    def alarm(self, number: int, frame: FrameType | None) -> None:
        """Break off the agent that keeps the loop from going on."""
        if self._asked:
            if runs_agent(frame):
                raise RunEndedError("the run was interrupted")
            return
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        if not runs_agent(frame) or self._is_starved(frame):
            return
        self._lost.seconds += self._seconds
        place = place_of(frame)
        who = "the agent" if current_trial() else "the hook"
        _log.warning("%s has blocked the event loop for %g s, at %s", who, self._seconds, ascii(place))
        raise RunEndedError(
            f"{who} blocked the event loop for {self._seconds:g} s, at {place}. Await there, or set "
            "`execution: {isolate: process}`"
        )

    def _is_starved(self, frame: FrameType | None) -> bool:
        """Return whether agentmut's own code stands where it was broken in, for the first time since the last beat.

        On an overloaded machine the start of a program may take as long, which is no failure of the agent.
        """
        own = frame is not None and str(frame.f_globals.get("__name__", "")).startswith(OWN)
        spared, self._spared = own and not self._spared, own
        return spared

    def beat(self) -> None:
        """Note that the loop goes on."""
        self._spared = False
        if not self._asked:
            signal.setitimer(signal.ITIMER_REAL, self._seconds + BEAT)
            self._next = self._loop.call_later(BEAT, self.beat)

    def end(self) -> None:
        """Stop the timer."""
        if self._next is not None:
            self._next.cancel()
            signal.setitimer(signal.ITIMER_REAL, 0)


def runs_agent(frame: FrameType | None) -> bool:
    """Return whether the interrupted code is an agent's or a hook's, which an exception may break off."""
    if not runs_users_code():
        return False
    outermost: Any = frame
    step = asyncio.Handle._run.__code__
    while outermost is not None and outermost.f_back is not None and outermost.f_back.f_code is not step:
        outermost = outermost.f_back
    if outermost is None or outermost.f_back is None:
        return False
    if outermost.f_code.co_name in CONTAINED:
        return True
    return not str(outermost.f_globals.get("__name__", "")).startswith(ENGINE)
