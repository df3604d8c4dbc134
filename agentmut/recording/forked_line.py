"""The connection to a forked copy of this process: calls go there, and answers come in the order of the calls."""

import asyncio
import pickle
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

HEAD = struct.Struct("!Q")
"""The size of a message, before it."""


class ForkedWorkerEndedError(RuntimeError):
    """A user's function ended the process that it ran in. The message is the object of `ended`."""


def message(value: object) -> bytes:
    """Return a message that holds a value. Raises what `pickle` raises for a value that it cannot hold."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(body)) + body


class Line(asyncio.Protocol):
    """One end of the connection. A copy that answers nothing for `limit` seconds is killed by `kill`.

    `ended` returns the error of the call that the copy was at when it ended.
    """

    def __init__(self, ended: Callable[[], Exception], kill: Callable[[], None], limit: float) -> None:
        self._ended = ended
        self._kill = kill
        self._limit = limit
        self._transport: asyncio.WriteTransport | None = None
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._bytes = bytearray()
        self._since = 0.0
        """When the call began that is first in the row, by the clock of the event loop."""
        self._timer: asyncio.TimerHandle | None = None
        self._error: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take note of where to write."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    async def ask(self, message: bytes) -> Any:
        """Send a call, and return its result or raise its error."""
        if self._error is not None or self._transport is None:
            raise self._error or ForkedWorkerEndedError("the process that evaluators run in")
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._since = loop.time()
            self._timer = loop.call_later(self._limit, self._check, loop)
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting.append(answer)
        if not self._transport.is_closing():
            self._transport.write(message)
        return await answer

    def data_received(self, data: bytes) -> None:
        """Hand over the answers that are complete."""
        self._bytes += data
        while len(self._bytes) >= HEAD.size:
            end = HEAD.size + HEAD.unpack_from(self._bytes)[0]
            if len(self._bytes) < end:
                return
            succeeded, value = pickle.loads(self._bytes[HEAD.size : end])
            del self._bytes[:end]
            self._settle(succeeded, value)

    def _settle(self, succeeded: bool, value: Any) -> None:
        waiting = self._waiting.popleft()
        self._since = asyncio.get_running_loop().time()
        if not self._waiting and self._timer is not None:
            self._timer.cancel()
        if waiting.done():  # the waiter was cancelled
            return
        if succeeded:
            waiting.set_result(value)
        else:
            waiting.set_exception(value)

    def connection_lost(self, error: Exception | None) -> None:
        """End the call that the copy was at when it ended, and those behind it."""
        if self._error is None:
            self._error = self._ended()
        while self._waiting:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_exception(self._error)
        self.end()

    def end(self) -> None:
        """Close the connection."""
        self._error = self._error or ForkedWorkerEndedError("with the run")
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            with suppress(RuntimeError):  # the event loop is closed
                self._transport.close()

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        left = self._since + self._limit - loop.time()
        if left <= 0:
            self._kill()
        else:
            self._timer = loop.call_later(left, self._check, loop)
