"""What a client and a server that speak HTTP have under way, beyond one request of it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from yarl import URL

from agentmut.recording import Trial
from agentmut.trial.mcp.events import ClientEvents
from agentmut.trial.mcp.exchange import Exchange
from agentmut.trial.mcp.messages import trouble

_GONE = trouble("the stream of the tool server has ended")


class Session:
    """Exchanges whose replies may come in another stream than they were asked for in."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.exchanges: dict[Any, Exchange] = {}
        self.events: ClientEvents | None = None
        """Where all answers go, in the transport of protocol version 2024-11-05."""
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done that outlasts the request it is for."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def end(self) -> None:
        """The server says no more."""
        self.events = None
        for exchange in self.exchanges.values():
            exchange.fail(_GONE)


class Sessions:
    """The sessions of the trials that are under way."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str, str], Session] = {}

    def of(self, trial: Trial, address: str, name: str = "") -> Session:
        """The session of that name with the server at an address; a new one where there is none."""
        key = (trial.id, str(URL(address)), name)
        found = self._sessions.get(key)
        if found is None or found.trial is not trial:
            self._forget()
            found = self._sessions[key] = Session(trial)
        return found

    def _forget(self) -> None:
        """Drop the sessions of trials that are over, and what still waits in them."""
        over = [key for key, session in self._sessions.items() if session.trial.recorder.closed]
        for key in over:
            for exchange in self._sessions.pop(key).exchanges.values():
                exchange.leave()
