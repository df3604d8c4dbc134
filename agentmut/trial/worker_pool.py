"""Workers that take one trial at a time: a trial never waits for the start of a worker while another worker is free."""

import asyncio
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar


class Startable(Protocol):
    """A worker that has to start before it can take a trial."""

    @property
    def is_ready(self) -> bool:
        """Return whether it has started, and not ended since."""

    async def start(self) -> None:
        """Start it; whatever stops that leaves the worker as before."""


W = TypeVar("W", bound=Startable)


class WorkerPool(Generic[W]):
    """Gives each trial a ready worker.

    Workers start while trials wait, at most `at_once` of them at a time. A worker's turn to start passes where no
    trial waits any more. So a suite that takes long to import is imported as often as its trials need it.
    """

    def __init__(self, workers: Sequence[W], at_once: int) -> None:
        self._cold = list(workers)
        self._ready: asyncio.Queue[W | Exception] = asyncio.Queue()
        self._turns = asyncio.Semaphore(at_once)
        self._waiting = 0
        self._starts: set[asyncio.Task[None]] = set()

    async def take(self) -> W:
        """Return the next ready worker. Raise what a worker's start has raised, once for each start."""
        if not self._ready.empty():
            found = self._ready.get_nowait()
        else:
            found = await self._next_ready()
        if isinstance(found, Exception):
            self._start_more()  # for the others that wait
            raise found
        return found

    def give_back(self, worker: W) -> None:
        """Take back a worker whose trial has ended; a worker that is no longer ready starts when a trial waits."""
        if worker.is_ready:
            self._ready.put_nowait(worker)
        else:
            self._cold.append(worker)
            self._start_more()

    async def close(self) -> None:
        """Break off all starts."""
        self._cold.clear()
        starts = tuple(self._starts)
        for start in starts:
            start.cancel()
        await asyncio.gather(*starts, return_exceptions=True)

    async def _next_ready(self) -> W | Exception:
        self._waiting += 1
        try:
            self._start_more()
            return await self._ready.get()
        finally:
            self._waiting -= 1

    def _start_more(self) -> None:
        """Let a worker start for each trial that waits."""
        self._starts = {start for start in self._starts if not start.done()}
        while self._cold and len(self._starts) < self._waiting:
            self._starts.add(asyncio.create_task(self._started(self._cold.pop(0))))

    async def _started(self, worker: W) -> None:
        async with self._turns:
            if not self._waiting:
                self._cold.append(worker)
                return
            try:
                await worker.start()
            except Exception as error:
                self._cold.append(worker)
                self._ready.put_nowait(error)
            else:
                self._ready.put_nowait(worker)
