"""The time that one agent took from all others by blocking the event loop."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class LostTime:
    """The seconds in which no trial of an event loop could continue; each trial adds them to its timeout."""

    seconds: float = 0.0


_lost: ContextVar[LostTime | None] = ContextVar("agentmut_lost_time", default=None)


def count_lost_time() -> LostTime:
    """Return the counter of lost time for the tasks that this context will start."""
    lost = LostTime()
    _lost.set(lost)
    return lost


def lost_seconds() -> float:
    """Return the seconds lost so far; 0.0 without a counter."""
    lost = _lost.get()
    return lost.seconds if lost else 0.0
