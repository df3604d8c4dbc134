"""Which tools an agent had when it was read, for what offers its tools while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_seen: ContextVar[frozenset[str] | None] = ContextVar("agentmut_seen_tools", default=None)


@contextmanager
def seeing(tools: frozenset[str] | None) -> Iterator[None]:
    """While an agent is built that had these tools when it was read; None while it is read."""
    token = _seen.set(tools)
    try:
        yield
    finally:
        _seen.reset(token)


def seen_tools() -> frozenset[str] | None:
    """The tools that the agent which is being built had when it was read; None where that is not known."""
    return _seen.get()
