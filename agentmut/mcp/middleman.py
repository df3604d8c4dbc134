"""Between a client and a server that speak over stdin and stdout, as `agentmut.mcp_proxy` brings both here."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from agentmut.mcp.messages import (
    CALL,
    LIST,
    Message,
    RefusedError,
    asks_for,
    call_answer,
    list_answer,
    read,
    replies_to,
    takes_back,
    written,
)
from agentmut.mcp_proxy import CLIENT, END, HEAD, SERVER, TRIAL, framed, head_of
from agentmut.trial import Trial
from agentmut.wire.carriers.proxy.refusal import RefusalError
from agentmut.wire.carriers.proxy.roster import Roster

_GONE = {"code": -32000, "message": "the tool server has ended"}
_TWICE = {"code": -32600, "message": "a call with this id is under way"}
_TAKEN_BACK = {"code": -32000, "message": "the client took the call back"}


class Middleman:
    """One connection of a client to its server."""

    def __init__(self, trial: Trial, writer: asyncio.StreamWriter) -> None:
        self._trial = trial
        self._writer = writer
        self._lists: set[Any] = set()
        """Ids of the requests for tools that have no reply yet."""
        self._calls: dict[Any, asyncio.Future[Message]] = {}
        """By id, the replies of the server that calls wait for."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def carry(self, reader: asyncio.StreamReader) -> None:
        """Pass messages on until the server, or the client, is gone."""
        try:
            while frame := await next_frame(reader):
                self._take(*frame)
                await self._writer.drain()
            for waiting in self._calls.values():
                waiting.set_exception(RefusedError(_GONE))
            if self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()

    def _take(self, side: bytes, raw: bytes) -> None:
        if side == END:  # the client has closed its end, and the server is told so after all that came before
            self._send(END, raw)
        else:
            (self._from_client if side == CLIENT else self._from_server)(raw)

    def _from_client(self, raw: bytes) -> None:
        message = read(raw)
        asked = asks_for(message)
        if asked == CALL:
            task = asyncio.ensure_future(self._call(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        if asked == LIST:
            self._lists.add(message["id"])
        self._send(SERVER, raw)
        if waiting := self._calls.pop(takes_back(message), None):  # servers need not answer it
            waiting.set_exception(RefusedError(_TAKEN_BACK))

    def _from_server(self, raw: bytes) -> None:
        message = read(raw)
        number = replies_to(message)
        if waiting := self._calls.pop(number, None):
            waiting.set_result(message)
            return
        if number in self._lists:
            self._lists.discard(number)
            raw = written(list_answer(self._trial, message))
        self._send(CLIENT, raw)

    async def _call(self, message: Message) -> None:
        number = message["id"]

        async def forward(changed: Message) -> Message:
            if number in self._calls:
                raise RefusedError(_TWICE)
            reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
            self._calls[number] = reply
            self._send(SERVER, written(changed))
            try:
                return await reply
            finally:
                self._calls.pop(number, None)

        self._send(CLIENT, written(await call_answer(self._trial, message, forward)))

    def _send(self, side: bytes, raw: bytes) -> None:
        self._writer.write(framed(side, raw))


class Socket(NamedTuple):
    """Where `agentmut.mcp_proxy` is to connect."""

    host: str
    port: int


@asynccontextmanager
async def open_socket(roster: Roster) -> AsyncIterator[Socket]:
    """Take connections for the trials of a roster while the context is open, from this machine only."""

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            await _attend(roster, reader, writer)
        writer.close()

    server = await asyncio.start_server(attend, "127.0.0.1", 0)
    try:
        yield Socket(*server.sockets[0].getsockname()[:2])
    finally:
        server.close()


async def _attend(roster: Roster, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    frame = await next_frame(reader)
    if frame is None or frame[0] != TRIAL:
        return
    try:
        trial = roster.trial(frame[1].decode("utf-8", "replace"))
    except RefusalError as refusal:
        writer.write(framed(END, str(refusal).encode()))
        await writer.drain()
        return
    with roster.attending(trial):
        await Middleman(trial, writer).carry(reader)


async def next_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes] | None:
    """The next frame: from which side, and what it says. None at the end."""
    try:
        side, size = head_of(await reader.readexactly(HEAD))
        return side, await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        return None
