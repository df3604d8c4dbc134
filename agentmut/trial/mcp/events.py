"""Event streams from servers to a client, with the answers of exchanges, and the sessions that they belong to."""

import asyncio
import re
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import hdrs, web
from yarl import URL

from agentmut.nouns import Frame
from agentmut.recording import Trial
from agentmut.trial.mcp.exchange import Exchange
from agentmut.trial.mcp.messages import Message, replies_to, trouble, written
from agentmut.wire import passed_on
from agentmut.wire.dialects.sse import MEDIA_TYPE, SseFraming, events

OF_THE_BODY = (hdrs.CONTENT_LENGTH, hdrs.CONTENT_ENCODING, hdrs.CONTENT_TYPE)
_ENDPOINT = re.compile(rb"^event: ?endpoint[ \t]*\r?$", re.M)
_NUMBERED = re.compile(rb"^id:", re.M)


def is_stream(reply: aiohttp.ClientResponse) -> bool:
    """Return whether a server replies with a stream of events."""
    return reply.status == 200 and reply.content_type == MEDIA_TYPE


def endpoint_in(frame: Frame) -> str | None:
    """Return where a server of protocol version 2024-11-05 takes messages, if the event names it."""
    return next(events(frame.raw), None) if _ENDPOINT.search(frame.raw) else None


def is_numbered(frame: Frame) -> bool:
    """Return whether a reconnecting client may ask for the events after this one."""
    return _NUMBERED.search(frame.raw) is not None


class ClientEvents:
    """The event stream to one client."""

    def __init__(self, http: web.BaseRequest, headers: Mapping[str, str] | None = None) -> None:
        self._http = http
        self._response = web.StreamResponse(headers=passed_on(headers or {}, *OF_THE_BODY))
        self._response.content_type = MEDIA_TYPE
        self._framing = SseFraming()
        self._answering: set[asyncio.Task[None]] = set()
        self._broken = False

    async def begin(self) -> None:
        """Start the stream."""
        await self._response.prepare(self._http)

    async def say(self, message: Message) -> None:
        """Send one of agentmut's own messages, if the client is still connected."""
        with suppress(ConnectionError):
            await self._response.write(b"event: message\ndata: %b\n\n" % written(message))

    async def write(self, raw: bytes) -> None:
        """Write an event without changes."""
        await self._response.write(raw)

    async def pass_on(self, frame: Frame, exchanges: Mapping[Any, Exchange]) -> None:
        """Pass on a server's event; replies to exchanges are replaced by their answers once these are ready."""
        said = frame.value if isinstance(frame.value, list) else [frame.value]
        asked = [exchanges.get(replies_to(one)) for one in said]
        if not any(asked):
            await self._response.write(frame.raw)
            return
        for exchange, one in zip(asked, said, strict=True):
            if exchange:
                exchange.settle(one)
        task = asyncio.ensure_future(self._answer(frame, said, asked))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, frame: Frame, values: list[Any], asked: list[Exchange | None]) -> None:
        answers = [
            await exchange.answer() if exchange else one for exchange, one in zip(asked, values, strict=True)
        ]
        value = answers if isinstance(frame.value, list) else answers[0]
        with suppress(ConnectionError):  # the client has hung up
            await self._response.write(self._framing.written(frame, value))

    async def answered(self) -> None:
        """Wait for the answers that are not ready yet."""
        if self._answering:
            await asyncio.gather(*self._answering)

    async def end(self) -> web.StreamResponse:
        """End the stream."""
        if not self._broken:
            await self.answered()
            await self._response.write_eof()
        return self._response

    def break_off(self) -> None:
        """End as a server does that is gone."""
        self._broken = True
        for task in self._answering:
            task.cancel()
        if self._http.transport is not None:
            self._http.transport.close()


_GONE = trouble("the stream of the tool server has ended")


class Session:
    """Exchanges whose replies may arrive in another stream than their requests."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.exchanges: dict[Any, Exchange] = {}
        self.events: ClientEvents | None = None
        """Where all answers go, in the transport of protocol version 2024-11-05."""
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that outlasts its request."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def end(self) -> None:
        """End the stream: the server has no further event."""
        self.events = None
        for exchange in self.exchanges.values():
            exchange.fail(_GONE)


class Sessions:
    """The sessions of the trials that are under way."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str, str], Session] = {}

    def session_with(self, trial: Trial, address: str, name: str = "") -> Session:
        """Return the named session with the server at an address; a new session if there is none."""
        key = (trial.id, str(URL(address)), name)
        found = self._sessions.get(key)
        if found is None or found.trial is not trial:
            self._forget()
            found = self._sessions[key] = Session(trial)
        return found

    def _forget(self) -> None:
        """Drop the sessions of trials that are over, and the work that still waits in them."""
        over = [key for key, session in self._sessions.items() if session.trial.recorder.closed]
        for key in over:
            for exchange in self._sessions.pop(key).exchanges.values():
                exchange.leave()
