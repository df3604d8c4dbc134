"""The actor on a node of a Ray cluster: it executes trials and returns ended trials in batches."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from agentmut._base import __version__, described
from agentmut.nouns import Execution
from agentmut.trial.containment import make_task
from agentmut.trial.executor import Executor, TrialRequest

LINGER = 0.02
"""Seconds for which a trial that ended waits for others, so that they share one answer: an answer costs far more
processor time than a trial in it."""
CALLS = 16
"""Calls that an actor answers at the same time; the trials that it runs are not limited by it."""


class Failure(NamedTuple):
    """The error that prevented a trial from running."""

    message: str


Ended = tuple[int, Execution | Failure]
"""A trial by its number, and what became of it."""


class TrialActor:
    """One process on a node. It imports the agent once, and runs several trials at the same time."""

    def __init__(self, make: Callable[[], Executor], environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._make = make
        self._stack = AsyncExitStack()
        self._executor: Executor | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._ended: list[Ended] = []
        self._some = asyncio.Event()

    async def start(self) -> str:
        """Import the agent; return the version of agentmut on this node."""
        asyncio.get_running_loop().set_task_factory(make_task)
        self._executor = await asyncio.to_thread(self._make)
        await self._stack.enter_async_context(self._executor.session())
        return __version__

    async def begin(self, requests: Sequence[tuple[int, TrialRequest]]) -> None:
        """Begin trials, and return at once."""
        for number, request in requests:
            task = asyncio.get_running_loop().create_task(self._execute(number, request))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def ended(self) -> list[Ended]:
        """Return the trials that ended since the last call; wait for the first one."""
        await self._some.wait()
        await asyncio.sleep(LINGER)
        self._some.clear()
        ended, self._ended = self._ended, []
        return ended

    async def _execute(self, number: int, request: TrialRequest) -> None:
        assert self._executor is not None
        outcome: Execution | Failure
        try:
            outcome = await self._executor.execute(request)
        except Exception as error:
            outcome = Failure(described(error))
        self._ended.append((number, outcome))
        self._some.set()
