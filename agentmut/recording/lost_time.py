"""The time that one agent took from all others, because it blocked the event loop."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class LostTime:
    """Seconds in which no trial of an event loop could go on; trials add them to their timeouts."""

    seconds: float = 0.0


_lost: ContextVar[LostTime | None] = ContextVar("agentmut_lost_time", default=None)


def count_lost_time() -> LostTime:
    """Return what counts the lost time of the tasks that this context will start."""
    lost = LostTime()
    _lost.set(lost)
    return lost


def lost_seconds() -> float:
    """Return the seconds that are lost so far; 0.0 where nobody counts."""
    lost = _lost.get()
    return lost.seconds if lost else 0.0
