"""Upstream replies in the form that the proxy's client gets: status, headers and body, in pieces or complete."""

from collections.abc import Callable
from contextlib import suppress

import aiohttp
from aiohttp import hdrs, web

from agentmut.wire.carriers.compression import PackingError
from agentmut.wire.carriers.passage import Relay
from agentmut.wire.carriers.proxy.direct_requests import StraightReply
from agentmut.wire.carriers.proxy.upstream import TROUBLE, passed_on

Reply = StraightReply | aiohttp.ClientResponse
Unpack = Callable[[bytes], bytes]
_OF_THE_BODY = (hdrs.CONTENT_LENGTH, hdrs.CONTENT_ENCODING)
"""Headers that describe a body as it was sent."""


async def pass_on(http: web.BaseRequest, reply: Reply, location: str | None = None) -> web.StreamResponse:
    """Give the reply to the client unchanged, byte by byte; `location` replaces the target of a redirect."""
    head = _head(reply)
    if location is not None:
        head.headers[hdrs.LOCATION] = location
    return await _carried(http, reply, head)


async def relay(http: web.BaseRequest, reply: Reply, through: Relay, unpack: Unpack) -> web.StreamResponse:
    """Give a streamed reply to the client through the relay, after decompression."""
    try:
        return await _carried(http, reply, _head(reply, *_OF_THE_BODY), through, unpack)
    finally:
        through.end()


async def whole(http: web.BaseRequest, reply: Reply, body: bytes) -> web.Response:
    """Give the reply to the client with this body."""
    headers = passed_on(reply.headers, *_OF_THE_BODY)
    response = web.Response(status=reply.status, reason=reply.reason, headers=headers, body=body)
    with suppress(ConnectionError):  # the client has hung up
        await response.prepare(http)
        await response.write_eof()
    return response


def _head(reply: Reply, *left_out: str) -> web.StreamResponse:
    headers = passed_on(reply.headers, *left_out)
    return web.StreamResponse(status=reply.status, reason=reply.reason, headers=headers)


async def _carried(
    http: web.BaseRequest,
    reply: Reply,
    response: web.StreamResponse,
    through: Relay | None = None,
    unpack: Unpack = bytes,
) -> web.StreamResponse:
    """Pass pieces on at the client's speed: `write` waits until the client has read."""
    try:
        await response.prepare(http)
        while piece := await _next(http, reply, through):
            if given := _fed(http, piece, through, unpack):
                await response.write(given)
            if through:
                through.begun()  # only now, as reading the request for the record takes time
        if through and (given := through.rest()):
            await response.write(given)
    except ConnectionError:  # the client has hung up
        pass
    return response


def _fed(http: web.BaseRequest, piece: bytes, through: Relay | None, unpack: Unpack) -> bytes:
    """Return the client's bytes for a piece. A piece that cannot be decompressed ends the stream."""
    if through is None:
        return piece
    try:
        return through.feed(unpack(piece))
    except PackingError as error:
        through.end(error)
        _break_off(http)
        raise


def _break_off(http: web.BaseRequest) -> None:
    if http.transport is not None:
        http.transport.close()


async def _next(http: web.BaseRequest, reply: Reply, through: Relay | None) -> bytes:
    """Return the next piece, empty at the end.

    When the upstream breaks off, so does the proxy, that the client can tell.
    """
    if through:
        through.awaits()
    try:
        return await reply.content.readany()
    except TROUBLE as error:
        if through:
            through.end(error)
        _break_off(http)
        return b""
