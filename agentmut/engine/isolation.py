"""`isolate: process`: trials run in worker processes, so that a timeout can kill what will not stop."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from agentmut.engine.executor import Executor, TrialRequest
from agentmut.errors import RunError
from agentmut.execution import Ending, Execution
from agentmut.threads import in_daemon_thread

MARGIN = 5.0
"""Seconds past its own timeout that a worker has to answer before it is killed."""
MakeExecutor = Callable[[], Executor]


class ProcessExecutor:
    """A pool of worker processes, each running one trial at a time.

    `make` builds the executor inside a worker; it must be picklable (a function with its arguments
    bound by `functools.partial`). A worker that does not answer in time, or that had to leave a thread
    behind, is killed and replaced.
    """

    def __init__(self, make: MakeExecutor, workers: int, deadline: float) -> None:
        self._make = make
        self._workers = workers
        self._deadline = deadline + MARGIN
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Start the workers, and end them with the block."""
        workers = [_Worker(self._make) for _ in range(self._workers)]
        for worker in workers:
            self._idle.put_nowait(worker)
        try:
            yield
        finally:
            for worker in workers:
                worker.kill()

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial in the next idle worker."""
        worker = await self._idle.get()
        try:
            return await worker.run(request, self._deadline)
        finally:
            self._idle.put_nowait(worker)


class _Worker:
    """One worker process and the pipe to it; the process is started when it is first needed."""

    def __init__(self, make: MakeExecutor) -> None:
        self._make = make
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    async def run(self, request: TrialRequest, deadline: float) -> Execution:
        try:
            execution: Execution = await in_daemon_thread(self._ask, request, deadline)
        except asyncio.CancelledError:
            self.kill()
            raise
        if execution.abandoned:
            self.kill()
            execution = execution.model_copy(update={"abandoned": False})
        return execution

    def _ask(self, request: TrialRequest, deadline: float) -> Execution:
        pipe = self._connected()
        try:
            pipe.send(request)
            if not pipe.poll(deadline):
                self.kill()
                return Execution(ending=Ending.TIMEOUT, reason=f"killed: no answer within {deadline:g} s")
            answer = pipe.recv()
        except (EOFError, OSError):
            self.kill()
            return Execution(ending=Ending.RAISED, reason="the agent ended its process")
        if isinstance(answer, Execution):
            return answer
        self.kill()
        raise RunError(f"a worker process could not run the agent: {answer}")

    def _connected(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(self._make, theirs), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe

    def kill(self) -> None:
        """End the process at once; the next trial starts a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def _serve(make: MakeExecutor, pipe: Connection) -> None:
    """The worker's main loop: build once, then answer requests until the pipe closes."""
    try:
        executor = make()
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return
    asyncio.run(_answer(executor, pipe))


async def _answer(executor: Executor, pipe: Connection) -> None:
    async with executor.session():
        while True:
            try:
                request = await asyncio.to_thread(pipe.recv)
            except (EOFError, OSError):
                return
            pipe.send(await executor.execute(request))
