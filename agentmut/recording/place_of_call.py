"""Which call of the model a tool is called for, known to the task that calls it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


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
    """Set the place of all further calls of this task to `place`.

    For callbacks of frameworks, which have no end: the `answering` around the turn has.
    """
    _place.set(place)
