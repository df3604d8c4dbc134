"""The link between a client and a server on stdin and stdout; `agentmut.mcp_proxy` connects both to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from agentmut.mcp_proxy import CLIENT, END, HEAD, SERVER, TRIAL, framed, head_of
from agentmut.recording import Trial
from agentmut.trial.mcp.exchange import Exchange
from agentmut.trial.mcp.messages import (
    TAKEN_BACK,
    Batch,
    Message,
    RefusedError,
    asks_for,
    each_of,
    read,
    replies_to,
    takes_back,
    trouble,
    written,
)
from agentmut.wire import RefusalError, Roster

_GONE = trouble("the tool server has ended")
_TWICE = trouble("a call with this id is under way", -32600)


class Middleman:
    """One connection of a client to its server."""

    def __init__(self, trial: Trial, writer: asyncio.StreamWriter) -> None:
        self._trial = trial
        self._writer = writer
        self._exchanges: dict[Any, Exchange] = {}
        """Requests for tools that have no reply of the server yet, by id."""
        self._batches: list[Batch] = []
        """The client's batches that are not answered."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def carry(self, reader: asyncio.StreamReader) -> None:
        """Pass messages on until the server, or the client, is gone."""
        try:
            while frame := await next_frame(reader):
                self._take(*frame)
                await asyncio.sleep(0)  # a call leaves before what the client says next
                await self._writer.drain()
            for exchange in self._exchanges.values():
                exchange.fail(_GONE)
            if self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()

    def _take(self, side: bytes, raw: bytes) -> None:
        if side == END:  # the client has closed its end, and the server is told so after all that came before
            self._send(END, raw)
            return
        message = read(raw)
        if side == CLIENT and isinstance(message, list):
            self._batches += Batch.from_messages(message)
        taken = self._from_client if side == CLIENT else self._from_server
        for one, its_raw in each_of(message, raw):
            taken(one, its_raw)

    def _from_client(self, message: Any, raw: bytes) -> None:
        if asks_for(message):
            self._begin(message)
            return
        self._send(SERVER, raw)
        if (number := takes_back(message)) is not None:  # servers need not answer it
            if exchange := self._exchanges.pop(number, None):
                exchange.fail(TAKEN_BACK)
            else:
                self._give_all(number, None)

    def _from_server(self, message: Any, raw: bytes) -> None:
        number = replies_to(message)
        if exchange := self._exchanges.pop(number, None):
            exchange.settle(message)
        elif number is None or not self._give_all(number, message):
            self._send(CLIENT, raw)

    def _begin(self, message: Message) -> None:
        number = message["id"]

        def ask(changed: Message) -> None:
            if number in self._exchanges:
                raise RefusedError(_TWICE)
            self._exchanges[number] = exchange
            self._send(SERVER, written(changed))

        exchange = Exchange(self._trial, message, ask)
        task = asyncio.ensure_future(self._answered(exchange))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: exchange.leave())

    async def _answered(self, exchange: Exchange) -> None:
        answer = await exchange.answer()
        if not self._give_all(exchange.number, answer):
            self._send(CLIENT, written(answer))

    def _give_all(self, number: Any, reply: Message | None) -> bool:
        """Add a reply, or its absence, to its batch. Return whether it belongs to a batch."""
        batch = next((batch for batch in self._batches if number in batch.waiting), None)
        if batch is None:
            return False
        if batch.complete_with(number, reply):
            self._batches.remove(batch)
            if batch.replies:
                self._send(CLIENT, written(batch.replies))
        return True

    def _send(self, side: bytes, raw: bytes) -> None:
        self._writer.write(framed(side, raw))


class Socket(NamedTuple):
    """The socket that `agentmut.mcp_proxy` connects to."""

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
    """Return the next frame: its side and its content. None at the end."""
    try:
        side, size = head_of(await reader.readexactly(HEAD))
        return side, await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        return None
