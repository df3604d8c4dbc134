"""A request for tools on its way: its handling depends neither on the transport nor on the waiting client."""

import asyncio
from collections.abc import Callable
from typing import Any

from agentmut.recording import Trial
from agentmut.trial.mcp.messages import (
    CALL,
    Message,
    RefusedError,
    asks_for,
    call_answer,
    list_answer,
    refused,
)


class Exchange:
    """One request: its form for the server, and its answer in the form that the trial wants.

    It goes on by itself from the beginning. `ask` is told at once what the server is to be asked; it may raise
    `RefusedError`.
    """

    def __init__(
        self, trial: Trial, message: Message, ask: Callable[[Message], None] = lambda message: None
    ) -> None:
        self.number = message["id"]
        self._ask = ask
        loop = asyncio.get_running_loop()
        self._asked: asyncio.Future[Message] = loop.create_future()
        self._reply: asyncio.Future[Message] = loop.create_future()
        self._answer = asyncio.ensure_future(self._carried_out(trial, message))

    async def wanted(self) -> Message | None:
        """Return the request for the server; None if the server is not asked."""
        await asyncio.wait((self._asked, self._answer), return_when=asyncio.FIRST_COMPLETED)
        return self._asked.result() if self._asked.done() else None

    def settle(self, reply: Message) -> None:
        """Note that the server has replied."""
        if not self._reply.done():
            self._reply.set_result(reply)

    @property
    def is_settled(self) -> bool:
        """Return whether the server's reply is known, or will never come."""
        return self._reply.done()

    def fail(self, error: Any) -> None:
        """Give up on the server's reply; `error`, in the protocol's form, replaces it."""
        if not self._reply.done():
            self._reply.set_exception(RefusedError(error))
            self._reply.exception()  # it may be that nobody asked the server

    async def answer(self) -> Message:
        """Return the answer for the client, also for clients that reconnect."""
        return await asyncio.shield(self._answer)

    def leave(self) -> None:
        """Note that no client waits for the exchange any more."""
        self._answer.cancel()

    async def _carried_out(self, trial: Trial, message: Message) -> Message:
        if asks_for(message) == CALL:
            return await call_answer(trial, message, self._forward)
        try:
            return list_answer(trial, await self._forward(message))
        except RefusedError as error:
            return refused(self.number, error.error)

    async def _forward(self, message: Message) -> Message:
        self._ask(message)
        self._asked.set_result(message)
        return await self._reply
