"""Replies of an upstream as the proxy's client is given them: status, headers and body, piece by piece or whole."""

from contextlib import suppress

import aiohttp
from aiohttp import hdrs, web

from agentmut.wire.carriers.passage import Relay
from agentmut.wire.carriers.proxy.upstream import TROUBLE, passed_on

_OF_THE_BODY = (hdrs.CONTENT_LENGTH, hdrs.CONTENT_ENCODING)
"""Headers that describe a body as it was sent."""


async def pass_on(
    http: web.BaseRequest, reply: aiohttp.ClientResponse, *, unpacked: bool = False
) -> web.StreamResponse:
    """Give the reply to the client as it comes; its body is `unpacked` or as it was sent."""
    return await _carried(http, reply, _head(reply, *(_OF_THE_BODY if unpacked else ())), None)


async def relay(http: web.BaseRequest, reply: aiohttp.ClientResponse, through: Relay) -> web.StreamResponse:
    """Give a streamed reply to the client as the relay says."""
    try:
        return await _carried(http, reply, _head(reply, *_OF_THE_BODY), through)
    finally:
        through.end()


async def whole(http: web.BaseRequest, reply: aiohttp.ClientResponse, body: bytes) -> web.Response:
    """Give the reply to the client with this body."""
    headers = passed_on(reply.headers, *_OF_THE_BODY)
    response = web.Response(status=reply.status, reason=reply.reason, headers=headers, body=body)
    with suppress(ConnectionError):  # the client has hung up
        await response.prepare(http)
        await response.write_eof()
    return response


def _head(reply: aiohttp.ClientResponse, *left_out: str) -> web.StreamResponse:
    headers = passed_on(reply.headers, *left_out)
    return web.StreamResponse(status=reply.status, reason=reply.reason, headers=headers)


async def _carried(
    http: web.BaseRequest, reply: aiohttp.ClientResponse, response: web.StreamResponse, through: Relay | None
) -> web.StreamResponse:
    """Never ahead of the client: `write` waits until it has read."""
    try:
        await response.prepare(http)
        while piece := await _next(http, reply, through):
            if given := through.feed(piece) if through else piece:
                await response.write(given)
            if through:
                through.begun()  # only now, as reading the request for the record takes time
        if through and (given := through.rest()):
            await response.write(given)
    except ConnectionError:  # the client has hung up
        pass
    return response


async def _next(http: web.BaseRequest, reply: aiohttp.ClientResponse, through: Relay | None) -> bytes:
    """The next piece, empty at the end. When the upstream breaks off, so does the proxy, that the client can tell."""
    try:
        return await reply.content.readany()
    except TROUBLE as error:
        if through:
            through.end(error)
        if http.transport is not None:
            http.transport.close()
        return b""
