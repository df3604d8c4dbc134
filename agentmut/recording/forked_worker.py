"""A forked copy of this process for one event loop, and for a user's functions that nothing here could stop."""

import asyncio
from collections.abc import Callable
from typing import Any

from agentmut.recording.forked_copy import ForkedCopy, packed
from agentmut.recording.forked_line import Line


class ForkedWorker:
    """Calls one function in a forked copy of this process, one call after another, for one event loop."""

    def __init__(self, function: Callable[..., Any], seconds: float) -> None:
        """Fork. Raise `OSError` where the system has no room for another process."""
        self._copy = ForkedCopy(function, seconds)
        self._line: Line | None = None
        self._connecting: asyncio.Task[Line] | None = None

    async def call(self, *arguments: Any) -> Any:
        """Return what the function returns, or raise what it raises.

        Raises `OverdueError` with the place past the deadline, `ForkedWorkerEndedError` if the copy has ended, and
        `UnpicklableError` for arguments that cannot be handed over.
        """
        call = packed(arguments)
        line = self._line or await self._connected()
        return await line.ask(call)

    def close(self) -> None:
        """End the copy, and what it has started."""
        self._copy.close()
        if self._line is not None:
            self._line.end()

    async def _connected(self) -> Line:
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(self._connect())
        self._line = await asyncio.shield(self._connecting)
        return self._line

    async def _connect(self) -> Line:
        copy = self._copy
        copy.socket.setblocking(False)
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(
            lambda: Line(copy.ended, copy.kill, copy.limit), sock=copy.socket
        )
        return line
