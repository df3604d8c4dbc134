"""The part that the hooks of HTTP libraries share: a request that one hook carries is not carried again by a lower one.

Clients of httpx can send by aiohttp (`httpx-aiohttp`, LiteLLM), and requests follows redirects by itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from agentmut.recording import OverBudgetError
from agentmut.wire.carriers.passage import Passage

_beneath: ContextVar[bool] = ContextVar("agentmut_beneath", default=False)
Begin = Callable[[str, bytes | None, str], Passage | None]
"""From path, body and host of a request to its passage; None where it is not carried."""
LONG = 600.0
"""Seconds that a call waits whose trial is over at most: for one that nobody cancels."""
OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe a body as it was sent."""


@contextmanager
def beneath() -> Iterator[None]:
    """Ignore requests that are sent inside the block, because they are the carried request itself."""
    token = _beneath.set(True)
    try:
        yield
    finally:
        _beneath.reset(token)


def is_beneath() -> bool:
    """Return whether the calling code sends a request that is carried already."""
    return _beneath.get()


def waits_for_its_end(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Let a call that the budget does not allow wait until its trial is cancelled.

    An agent that repeats a failed call at once would let nothing else run in its event loop, not even its own end.
    """

    @wraps(send)
    async def sent(*given: Any, **options: Any) -> Any:
        try:
            return await send(*given, **options)
        except OverBudgetError:
            await pause(LONG)
            raise

    return sent


async def pause(seconds: float) -> None:
    """Wait in whichever async library runs the agent; return without a switch if there is nothing to wait for."""
    if not seconds:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # trio
        import anyio

        await anyio.sleep(seconds)
    else:
        await asyncio.sleep(seconds)
