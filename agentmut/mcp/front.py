"""In front of tool servers that speak streamable HTTP: addresses under this one stand for theirs.

`.../t/TRIAL/mcp/http://127.0.0.1:8000/mcp` is the server at the address behind `/mcp/`, for that trial.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp import hdrs, web

from agentmut.errors import UsageError
from agentmut.mcp.messages import (
    CALL,
    Message,
    asks_for,
    call_answer,
    list_answer,
    read,
    replies_to,
    written,
)
from agentmut.trial import Trial, trial_and_path
from agentmut.wire.carriers.proxy.forwarding import pass_on
from agentmut.wire.carriers.proxy.refusal import RefusalError
from agentmut.wire.carriers.proxy.roster import Roster
from agentmut.wire.carriers.proxy.security import check_host, check_origin
from agentmut.wire.carriers.proxy.upstream import LONGEST_FIELD, TROUBLE, Upstream, new_session, passed_on
from agentmut.wire.carriers.wording import without_url_secrets
from agentmut.wire.dialects.sse import MEDIA_TYPE, SseFraming
from agentmut.wire.framing import Frame

DOOR = "/mcp/"
NAME_HEADER = "Mcp-Name"
"""Repeats the name of the tool that a request calls."""
LARGEST_REQUEST = 64 * 2**20
_JSON = "application/json"
_OF_THE_BODY = (hdrs.CONTENT_LENGTH, hdrs.CONTENT_ENCODING, hdrs.CONTENT_TYPE)
_TARGET = re.compile(r"(https?):/{1,2}([^/?]+)(.*)", re.S | re.I)
"""Some clients make one slash of two."""


class Asked(NamedTuple):
    """A request whose sender and target are in order."""

    http: web.BaseRequest
    trial: Trial
    upstream: Upstream
    path: str
    prefix: str
    """What stands in front of the server's own address."""


class UnansweredError(Exception):
    """The server's reply is none to the message: a status that says what is wrong."""

    def __init__(self, response: web.Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class Front:
    """Takes requests for the trials of a roster."""

    def __init__(self, roster: Roster, session: aiohttp.ClientSession) -> None:
        self._roster = roster
        self._session = session
        self.port = 0

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on, or say why not."""
        try:
            asked = self._asked(http)
            with self._roster.attending(asked.trial):
                return await self._carried(asked)
        except UnansweredError as unanswered:
            return unanswered.response
        except RefusalError as refusal:
            return web.json_response({"error": f"agentmut: {refusal}"}, status=refusal.status)
        except TROUBLE as error:
            said = f"agentmut: the tool server did not answer: {without_url_secrets(error)}"
            return web.json_response({"error": said}, status=502)

    def _asked(self, http: web.BaseRequest) -> Asked:
        check_host(http.headers, self.port)
        check_origin(http.headers)
        name, path = trial_and_path(http.raw_path)
        target = _TARGET.fullmatch(path.removeprefix(DOOR)) if path.startswith(DOOR) else None
        if name is None or target is None:
            raise RefusalError(404, "no_such_path", f"the path has to be /t/TRIAL{DOOR}ADDRESS-OF-THE-SERVER")
        trial = self._roster.trial(name)
        try:
            upstream = Upstream(f"{target[1].lower()}://{target[2]}")
        except UsageError as error:
            raise RefusalError(400, "no_address", str(error)) from None
        prefix = f"http://{http.headers[hdrs.HOST]}{http.raw_path[: -len(path)]}{DOOR}"
        return Asked(http, trial, upstream, target[3] or "/", prefix)

    async def _carried(self, asked: Asked) -> web.StreamResponse:
        body = await _body(asked.http)
        message: Any = read(body) if asked.http.method == "POST" else None
        kind = asks_for(message)
        if kind is None:
            return await self._as_it_is(asked, body)
        passing = _Passing(self._session, asked)
        if kind == CALL:
            return await passing.given(await call_answer(asked.trial, message, passing.reply))
        return await passing.given(list_answer(asked.trial, await passing.reply(message)))

    async def _as_it_is(self, asked: Asked, body: bytes) -> web.StreamResponse:
        headers = asked.upstream.headers(asked.http.headers, asked.trial.id)
        sent = asked.upstream.send(self._session, asked.http.method, asked.path, headers, body or None)
        async with await sent as reply:
            return await pass_on(asked.http, reply, _location(asked, reply))


class _Passing:
    """A request for tools on its way; what else the server says meanwhile is passed on as it comes."""

    def __init__(self, session: aiohttp.ClientSession, asked: Asked) -> None:
        self._session = session
        self._asked = asked
        self._headers: dict[str, str] = {}
        self._stream: web.StreamResponse | None = None
        self._framing = SseFraming()
        self._last = Frame(b"")

    async def reply(self, message: Message) -> Message:
        """The server's reply. Raises `UnansweredError` for one that is none to the message."""
        asked = self._asked
        headers = asked.upstream.headers(asked.http.headers, asked.trial.id)
        headers.pop(hdrs.CONTENT_ENCODING, None)
        headers[hdrs.ACCEPT_ENCODING] = "identity"
        if NAME_HEADER in headers and "name" in message["params"]:
            headers[NAME_HEADER] = message["params"]["name"]
        sent = asked.upstream.send(self._session, "POST", asked.path, headers, written(message))
        async with await sent as reply:
            if reply.status == 200 and reply.content_type == MEDIA_TYPE:
                return await self._from_stream(reply, message["id"])
            body = await reply.read()
            found = read(body)
            if reply.status != 200 or replies_to(found) is None:
                raise UnansweredError(_copied(asked, reply, body))
            self._headers = dict(passed_on(reply.headers, *_OF_THE_BODY))
            answer: Message = found
            return answer

    async def _from_stream(self, reply: aiohttp.ClientResponse, number: object) -> Message:
        stream = web.StreamResponse(headers=passed_on(reply.headers, *_OF_THE_BODY))
        stream.content_type = MEDIA_TYPE
        await stream.prepare(self._asked.http)
        self._stream = stream
        async for piece in reply.content.iter_any():
            for frame in self._framing.feed(piece):
                if replies_to(frame.value) == number:
                    self._last = frame
                    answer: Message = frame.value
                    return answer
                await stream.write(frame.raw)
        raise ConnectionError("the stream of the tool server ended without a reply")

    async def given(self, message: Message) -> web.StreamResponse:
        """Give the client a reply, after all that went before."""
        if self._stream is None:
            return web.Response(body=written(message), content_type=_JSON, headers=self._headers)
        await self._stream.write(self._framing.written(self._last, message))
        await self._stream.write_eof()
        return self._stream


@asynccontextmanager
async def open_front(roster: Roster) -> AsyncIterator[str]:
    """Serve while the context is open, for this machine only; yields the address."""
    async with new_session() as session:
        front = Front(roster, session)
        server = web.Server(
            front.handle,
            handler_cancellation=True,
            access_log=None,
            max_line_size=LONGEST_FIELD,
            max_field_size=LONGEST_FIELD,
        )
        runner = web.ServerRunner(server, shutdown_timeout=0.5)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            front.port = runner.addresses[0][1]
            yield f"http://127.0.0.1:{front.port}"
        finally:
            await runner.cleanup()


async def _body(http: web.BaseRequest) -> bytes:
    pieces, size = [], 0
    async for piece in http.content.iter_any():
        size += len(piece)
        if size > LARGEST_REQUEST:
            raise RefusalError(413, "too_large", f"a message may have {LARGEST_REQUEST >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


def _copied(asked: Asked, reply: aiohttp.ClientResponse, body: bytes) -> web.Response:
    headers = passed_on(reply.headers, hdrs.CONTENT_LENGTH)
    if location := _location(asked, reply):
        headers[hdrs.LOCATION] = location
    return web.Response(status=reply.status, body=body, headers=headers)


def _location(asked: Asked, reply: aiohttp.ClientResponse) -> str | None:
    """Where a redirect leads, by way of this address; None where there is none, or it leads to another server."""
    if not (said := reply.headers.get(hdrs.LOCATION)):
        return None
    target = urljoin(f"{asked.upstream.base.origin()}{asked.path}", said)
    same = urlsplit(target).netloc == urlsplit(str(asked.upstream.base)).netloc
    return f"{asked.prefix}{target}" if same else None
