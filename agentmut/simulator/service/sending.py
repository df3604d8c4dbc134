"""Sending a reply, normally or with a fault."""

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from aiohttp import web

from agentmut.simulator.service.trouble import FaultKind

HTML = b"<!DOCTYPE html>\n<html><body><h1>The service cannot be reached</h1></body></html>\n"
_LINGER_NOT = struct.pack("ii", 1, 0)


class Reply(NamedTuple):
    """A reply that is ready to be sent."""

    media_type: str
    chunks: list[bytes]
    """The events of a stream, or the whole of a plain reply as one."""
    streamed: bool = False
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})


Delay = Callable[[int], float]
"""Seconds before the chunk of that number is sent."""


async def send(
    http: web.Request, reply: Reply, fault: FaultKind | None = None, delay: Delay | None = None
) -> web.StreamResponse:
    """Send a reply: at once, or a stream event by event. `fault` spoils the reply, if there is one."""
    if fault is FaultKind.CONTENT_TYPE:
        return web.Response(body=HTML, content_type="text/html", charset="utf-8")
    if fault is FaultKind.EMPTY:
        return web.Response(body=b"", headers=_headers(reply))
    if fault is FaultKind.TRUNCATED:
        return await _broken_off(http, reply, delay)
    middle = len(reply.chunks) // 2
    chunks = list(reply.chunks)
    if fault is FaultKind.MALFORMED:
        chunks[middle] = spoiled(chunks[middle])
    if not reply.streamed:
        return web.Response(status=reply.status, body=chunks[0], headers=_headers(reply))
    response = await _begun(http, reply)
    await _write(response, chunks, delay)
    await response.write_eof()
    return response


async def hang() -> None:
    """Wait until the client hangs up, or the server is stopped: both cancel."""
    await asyncio.Event().wait()


def reset(http: web.Request) -> web.Response:
    """Reset the connection: the client gets an RST, not an orderly end."""
    if (transport := http.transport) is not None:
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        transport.abort()
    return web.Response()


def spoiled(body: bytes) -> bytes:
    """Return JSON of the same length that cannot be read: its last brace is another character.

    >>> spoiled(b'{"a": {}}')
    b'{"a": {}#'
    """
    head, brace, tail = body.rpartition(b"}")
    return head + b"#" + tail if brace else body[: len(body) // 2]


async def _broken_off(http: web.Request, reply: Reply, delay: Delay | None) -> web.StreamResponse:
    """Send half a reply, and then end the connection."""
    response = await _begun(http, reply)
    middle = len(reply.chunks) // 2
    last = reply.chunks[middle]
    await _write(response, [*reply.chunks[:middle], last[: len(last) // 2]], delay)
    if http.transport is not None:
        http.transport.close()  # what was written still goes out
    return response


async def _begun(http: web.Request, reply: Reply) -> web.StreamResponse:
    response = web.StreamResponse(headers=_headers(reply))
    if not reply.streamed:
        response.content_length = len(reply.chunks[0])
    await response.prepare(http)
    return response


async def _write(response: web.StreamResponse, chunks: list[bytes], delay: Delay | None) -> None:
    for number, chunk in enumerate(chunks):
        if delay is not None:
            await asyncio.sleep(delay(number))
        await response.write(chunk)


def _headers(reply: Reply) -> dict[str, str]:
    return {**reply.headers, "Content-Type": reply.media_type}
