"""A client's request to a tool server that speaks HTTP, and the request that agentmut sends on."""

import re
from base64 import b64encode
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp import hdrs, web

from agentmut.recording import Trial
from agentmut.trial.mcp.messages import CALL, asks_for, written
from agentmut.wire import RefusalError, Upstream, pass_on
from agentmut.wire.dialects.sse import MEDIA_TYPE

NAME_HEADER = "Mcp-Name"
"""Repeats the name of the tool that a request calls."""


class ProxiedRequest(NamedTuple):
    """A request whose sender and target are in order."""

    http: web.BaseRequest
    trial: Trial
    upstream: Upstream
    path: str
    prefix: str
    """What stands in front of the server's own address."""

    @property
    def address(self) -> str:
        """Return the server's address."""
        return f"{self.upstream.base.origin()}{self.path}"

    def location(self, text: str | None) -> str | None:
        """Return a server's redirect address by way of agentmut; None for no address, or another server's."""
        if not text:
            return None
        target = urljoin(self.address, text)
        same = urlsplit(target).netloc == urlsplit(self.address).netloc
        return f"{self.prefix}{target}" if same else None

    async def as_it_is(self, session: aiohttp.ClientSession, body: bytes) -> web.StreamResponse:
        """Pass the request and its reply on unchanged, byte by byte."""
        headers = self.upstream.headers(self.http.headers, self.trial.id)
        sent = self.upstream.send(session, self.http.method, self.path, headers, body or None)
        async with await sent as reply:
            return await pass_on(self.http, reply, self.location(reply.headers.get(hdrs.LOCATION)))

    async def send(self, session: aiohttp.ClientSession, message: Any = None) -> aiohttp.ClientResponse:
        """Send a message to the server, or listen to the server, in a readable form."""
        headers = self.upstream.headers(self.http.headers, self.trial.id)
        headers.pop(hdrs.CONTENT_ENCODING, None)
        headers[hdrs.ACCEPT_ENCODING] = "identity"
        if NAME_HEADER in headers and asks_for(message) == CALL:
            headers[NAME_HEADER] = in_header(message["params"]["name"])
        body = None if message is None else written(message)
        reply = await self.upstream.send(session, self.http.method, self.path, headers, body)
        read = message is not None or reply.content_type == MEDIA_TYPE
        if read and reply.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
            reply.close()
            raise RefusalError(502, "packed", "the tool server packs its replies, though it is asked not to")
        return reply


def in_header(name: str) -> str:
    """Return the name of a tool in the form of a header: in base64 if it is not plain ASCII.

    >>> in_header("look"), in_header("größe")
    ('look', '=?base64?Z3LDtsOfZQ==?=')
    """
    if re.fullmatch(r"[!-~](?:[ -~]*[!-~])?", name) and not name.startswith("=?base64?"):
        return name
    return f"=?base64?{b64encode(name.encode()).decode()}?="
