"""The HTTP server behind every door of agentmut: aiohttp's, with three differences.

An unreadable request is quoted to nobody, since it may hold credentials. A server of pages keeps a limited number of
connections, since each takes a handle of the command. And a client that half-closes its connection gets its reply.
From a client that has hung up it differs in one thing only: it does not answer a further byte by a reset. So such a
byte is sent, as an interim reply.
"""

import asyncio
import socket
from typing import Any

from aiohttp import HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError

UNREADABLE = "agentmut: this is no HTTP request that can be read"
_INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
_LOOKS = (0.01, 0.05, 0.2, 1.0, 5.0)
"""Seconds between two looks for a reset; from the last on, a reset that has not come will not come."""


class Connection(web.RequestHandler):
    """Answers the requests of one connection."""

    __slots__ = ("_is_half_closed", "_last_interim")

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._is_half_closed = False
        self._last_interim: web.BaseRequest | None = None
        """The request that got an interim reply last."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the answer to a request that cannot be read, or whose handler has failed."""
        said = UNREADABLE if isinstance(exc, HttpProcessingError) else message
        return super().handle_error(request, status, exc, said)

    def eof_received(self) -> bool | None:  # type: ignore[override]  # asyncio's protocol allows True
        """Return whether the connection stays open: the client sends no more, and may wait for a reply."""
        if self._waiter is not None and not self._messages:  # there is nothing to reply to
            return None
        self._is_half_closed = True
        self._loop.call_soon(self._half_closed, 2)
        return True

    def _half_closed(self, turns: int) -> None:
        """Send the interim reply once the request's handler is at work; within `turns` turns of the loop it is."""
        request = self._current_request
        if request is None and turns:
            self._loop.call_soon(self._half_closed, turns - 1)
        elif self.transport is None or (self._messages and not (request and _may_wait(request))):
            pass  # requests that wait get their own interim replies
        elif request is None or not _may_wait(request):
            self.transport.close()
        else:
            self._send_interim(request)

    async def _handle_request(
        self, request: web.BaseRequest, start_time: float | None, request_handler: Any
    ) -> tuple[web.StreamResponse, bool]:
        """Answer one request, which may be one of several that a client has sent before it half-closed."""
        if self._is_half_closed and self.transport is not None:
            self._loop.call_soon(self._send_interim, request)
        return await super()._handle_request(request, start_time, request_handler)

    def _send_interim(self, request: web.BaseRequest) -> None:
        if self.transport is None or request is self._last_interim:
            return
        if not self._messages:
            self.close()  # once all is answered
        if request is self._current_request and _may_wait(request):
            self._last_interim = request
            self.transport.write(_INTERIM)
            self._look(request, 0)

    def _look(self, request: web.BaseRequest, number: int) -> None:
        """Hang up as the client did, if a reset has come."""
        if self.transport is None or self._current_request is not request:
            return
        if self.transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.transport.abort()
        elif number < len(_LOOKS):
            self._loop.call_later(_LOOKS[number], self._look, request, number + 1)


def _may_wait(request: web.BaseRequest) -> bool:
    """Return whether the whole request is here, nothing of the reply was sent, and an interim reply is understood."""
    return request.content.is_eof() and not request.writer.output_size and request.version >= HttpVersion11


class HttpServer(web.Server):
    """aiohttp's server, with such connections; of more than `most_connections` the oldest is closed."""

    def __init__(self, handler: Any, *, most_connections: int | None = None, **named: Any) -> None:
        super().__init__(handler, **named)
        self._most_connections = most_connections
        self._open: dict[web.RequestHandler, asyncio.Transport] = {}
        """The connections from the oldest to the newest, without those that are being closed."""

    def __call__(self) -> Connection:
        """Return what answers a new connection."""
        return Connection(self, loop=self._loop, **self._kwargs)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Keep a new connection, and close the oldest where there are too many."""
        super().connection_made(handler, transport)
        self._open[handler] = transport
        if self._most_connections is not None and len(self._open) > self._most_connections:
            self._open.pop(next(iter(self._open))).abort()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        self._open.pop(handler, None)
        super().connection_lost(handler, exc)
