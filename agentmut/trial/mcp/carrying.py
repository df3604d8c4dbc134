"""One HTTP request of a client on its way to its tool server, over any transport on HTTP.

Streamable HTTP answers a request where it was asked, or, once a connection broke, where the client asks for the rest
(`Last-Event-ID`). The older transport answers all in one stream, whose first event says where messages are to go.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import hdrs, web

from agentmut.nouns import Frame
from agentmut.recording import Trial
from agentmut.trial.mcp.events import (
    OF_THE_BODY,
    ClientEvents,
    Session,
    Sessions,
    endpoint_in,
    is_numbered,
    is_stream,
)
from agentmut.trial.mcp.exchange import Exchange
from agentmut.trial.mcp.http_requests import ProxiedRequest
from agentmut.trial.mcp.messages import (
    TAKEN_BACK,
    Message,
    asks_for,
    each_of,
    is_request,
    read,
    refused,
    replies_to,
    takes_back,
    trouble,
    written,
)
from agentmut.wire import TROUBLE, RefusalError, pass_on, passed_on, without_url_secrets
from agentmut.wire.dialects.sse import SseFraming

SESSION_HEADER = "Mcp-Session-Id"
_JSON = "application/json"
_UNANSWERED = trouble("the stream of the tool server ended without a reply")
_NO_STREAM = (
    "agentmut: the tool server took a call on, and no stream is open here that its reply could come in"
)


@dataclass(frozen=True)
class Carrying:
    """Carries one request out. Work that outlasts the request is `attended` as a part of its trial."""

    _asked: ProxiedRequest
    _http: aiohttp.ClientSession
    _sessions: Sessions
    _attended: Callable[[Trial], AbstractContextManager[None]]

    async def answer(self, body: bytes) -> web.StreamResponse:
        """Return what the client is given."""
        method = self._asked.http.method
        if method == "GET":
            return await self._listened()
        message: Any = read(body) if method == "POST" else None
        older = self._sessions.session_with(self._asked.trial, self._asked.address)
        if older.events is not None and message is not None:
            return await self._take_messages(older, older.events, message, body)
        if isinstance(message, list) and message:
            return await self._batch(message)
        if asks_for(message):
            return await self._called(message)
        self._take_back(message, self._session())
        return await self._asked.as_it_is(self._http, body)

    def _session(self) -> Session:
        name = self._asked.http.headers.get(SESSION_HEADER, "")
        return self._sessions.session_with(self._asked.trial, self._asked.address, name)

    def _take_back(self, message: Any, session: Session) -> None:
        if exchange := session.exchanges.get(takes_back(message)):
            exchange.fail(TAKEN_BACK)

    # Streamable HTTP.

    async def _called(self, message: Message) -> web.StreamResponse:
        exchange, session = Exchange(self._asked.trial, message), self._session()
        try:
            wanted = await exchange.wanted()
            if wanted is None:
                return _as_json(await exchange.answer())
            async with await self._asked.send(self._http, wanted) as reply:
                if is_stream(reply):
                    events = await self._begun(reply)
                    await self._streamed(reply, events, {exchange.number: exchange}, session)
                    return await self._ended(events, exchange, session)
                return await self._answered(reply, exchange)
        except (*TROUBLE, RefusalError) as error:
            exchange.fail(trouble(without_url_secrets(error)))
            await exchange.answer()  # its step says so
            raise
        finally:
            if session.exchanges.get(exchange.number) is not exchange:
                exchange.leave()

    async def _begun(self, reply: aiohttp.ClientResponse) -> ClientEvents:
        events = ClientEvents(self._asked.http, reply.headers)
        await events.begin()
        return events

    async def _ended(self, events: ClientEvents, exchange: Exchange, session: Session) -> web.StreamResponse:
        if session.exchanges.get(exchange.number) is not exchange:
            exchange.fail(_UNANSWERED)
            await exchange.answer()
        return await events.end()

    async def _answered(self, reply: aiohttp.ClientResponse, exchange: Exchange) -> web.Response:
        """Return the reply that the client would get without agentmut, where the server gave no reply."""
        body = await reply.read()
        found = _only(read(body))
        if reply.status == 200 and replies_to(found) == exchange.number:
            exchange.settle(found)
            return _as_json(await exchange.answer(), passed_on(reply.headers, *OF_THE_BODY))
        exchange.fail(trouble(f"HTTP {reply.status}"))
        answer = await exchange.answer()
        if reply.status == 202:
            return _as_json({**answer, "error": trouble(_NO_STREAM)})
        headers = passed_on(reply.headers, hdrs.CONTENT_LENGTH)
        if location := self._asked.location(reply.headers.get(hdrs.LOCATION)):
            headers[hdrs.LOCATION] = location
        return web.Response(status=reply.status, body=body, headers=headers)

    async def _streamed(
        self,
        reply: aiohttp.ClientResponse,
        events: ClientEvents,
        exchanges: MutableMapping[Any, Exchange],
        session: Session,
    ) -> None:
        """Pass the server's events on until the stream ends."""
        try:
            async for frame in _frames(reply):
                if is_numbered(frame):  # the client may come back for the answer
                    session.exchanges.update(exchanges)
                await events.pass_on(frame, exchanges)
            await events.answered()
        except TROUBLE:
            events.break_off()

    async def _batch(self, messages: list[Any]) -> web.StreamResponse:
        """Send each message separately, and return the replies in one stream."""
        if not any(map(is_request, messages)):
            replies = [await self._asked.send(self._http, one) for one in messages]
            for reply in replies:
                reply.release()
            return web.Response(status=max(reply.status for reply in replies))
        events = ClientEvents(self._asked.http)
        await events.begin()
        await asyncio.gather(*(self._one_of(message, events) for message in messages))
        return await events.end()

    async def _one_of(self, message: Any, events: ClientEvents) -> None:
        exchange = Exchange(self._asked.trial, message) if asks_for(message) else None
        wanted = await exchange.wanted() if exchange else message
        try:
            in_stream = wanted is not None and await self._asked_alone(wanted, exchange, events)
            if exchange and not in_stream:
                await events.say(await exchange.answer())
        except (*TROUBLE, RefusalError) as error:
            said = without_url_secrets(error)
            if exchange:
                exchange.fail(trouble(said))
                await events.say(await exchange.answer())  # its step says so, too
            elif is_request(message):
                await events.say(_refused(message, said))
        finally:
            if exchange:
                exchange.leave()

    async def _asked_alone(self, message: Any, exchange: Exchange | None, events: ClientEvents) -> bool:
        """Send one message of a batch to the server. Return whether its stream has told the client everything."""
        async with await self._asked.send(self._http, message) as reply:
            if is_stream(reply):
                known = {exchange.number: exchange} if exchange else {}
                await self._streamed(reply, events, known, self._session())
                if exchange and not exchange.is_settled:
                    exchange.fail(_UNANSWERED)
                    return False
                return True
            found = _only(read(await reply.read()))
            said = found if replies_to(found) is not None else _refused(message, f"HTTP {reply.status}")
            if exchange:
                exchange.settle(said)
            elif is_request(message):
                await events.say(said)
            return False

    # Streams that are asked for: of either transport.

    async def _listened(self) -> web.StreamResponse:
        async with await self._asked.send(self._http) as reply:
            if not is_stream(reply):
                return await pass_on(
                    self._asked.http, reply, self._asked.location(reply.headers.get(hdrs.LOCATION))
                )
            events, session = await self._begun(reply), self._session()
            try:
                async for frame in _frames(reply):
                    if door := self._asked.location(endpoint_in(frame)):
                        session = self._sessions.session_with(
                            self._asked.trial, door.removeprefix(self._asked.prefix)
                        )
                        session.events = events
                        await events.write(b"event: endpoint\ndata: %b\n\n" % door.encode())
                    else:
                        await events.pass_on(frame, session.exchanges)
            except TROUBLE:
                events.break_off()
            finally:
                if session.events is events:
                    session.end()
            return await events.end()

    # The older transport.

    async def _take_messages(
        self, session: Session, events: ClientEvents, message: Any, body: bytes
    ) -> web.StreamResponse:
        """Accept messages; the replies come in the other stream."""
        if not isinstance(message, list) and not asks_for(message):
            self._take_back(message, session)
            return await self._asked.as_it_is(self._http, body)
        for one, _ in each_of(message, body):
            if asks_for(one):
                session.begin(self._answer_in_stream(one, session, events))
            else:
                self._take_back(one, session)
                (await self._asked.send(self._http, one)).release()
        return web.Response(status=202, text="Accepted")

    async def _answer_in_stream(self, message: Message, session: Session, events: ClientEvents) -> None:
        with self._attended(self._asked.trial):
            exchange = Exchange(self._asked.trial, message)
            session.exchanges[exchange.number] = exchange
            try:
                if (wanted := await exchange.wanted()) is not None:
                    async with await self._asked.send(self._http, wanted) as reply:
                        if reply.status < 300:
                            return  # the reply comes in the stream
                        exchange.fail(trouble(f"HTTP {reply.status}"))
            except (*TROUBLE, RefusalError) as error:
                exchange.fail(trouble(without_url_secrets(error)))
            await events.say(await exchange.answer())


async def _frames(reply: aiohttp.ClientResponse) -> AsyncIterator[Frame]:
    framing = SseFraming()
    async for piece in reply.content.iter_any():
        for frame in framing.feed(piece):
            yield frame


def _as_json(message: Message, headers: Any = None) -> web.Response:
    return web.Response(body=written(message), content_type=_JSON, headers=headers)


def _only(found: Any) -> Any:
    """Return the only message of a batch of one."""
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def _refused(message: Any, text: str) -> Message:
    return refused(message.get("id") if isinstance(message, dict) else None, trouble(text))
