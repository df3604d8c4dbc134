"""`isolate: process`: trials run in worker processes, so that a timeout can kill a run that does not stop."""

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from multiprocessing.context import ForkServerContext, SpawnContext

from agentmut._base import (
    PLACE_SIGNAL,
    GroupWatch,
    RunError,
    lacked_memory_since,
    memory_kills,
    users_places,
)
from agentmut.nouns import Ending, Execution, Footprint
from agentmut.recording import Purse, in_daemon_thread
from agentmut.trial.executor import TrialRequest
from agentmut.trial.isolated_worker import GROUPED, READY, SPOILED, MakeExecutor, Underway, serve
from agentmut.trial.worker_pool import WorkerPool

_log = logging.getLogger(__name__)
MARGIN = 5.0
"""Seconds past its own timeout that a worker has to answer before it is killed."""
STARTING = 300.0
"""Seconds that a worker may need to start: to import the agent, its suite and their frameworks."""
PLACED = 10.0
"""Seconds that a worker has to say where it is before it is killed. That takes no turn of Python, but a busy machine
may let the worker wait."""
CLOSING = 10.0
"""Seconds that workers have at the end to close what they kept open."""
NEEDED = "agentmut.campaign.preparation.executors"
"""What every worker imports, whatever its agent."""


class ProcessExecutor:
    """A pool of worker processes, each running one trial at a time.

    `make` builds the executor inside a worker; it must be picklable (a function with its arguments
    bound by `functools.partial`). A worker that does not answer in time, or that had to leave a thread
    behind, is killed and replaced. `exit_ends` is how a trial ends that ends its worker. No more workers
    start at once than there are processors: importing a framework keeps one of them busy for seconds. Meanwhile the
    workers that are ready take the trials. Model calls of all workers are paid from `purse`, which has a cell for
    each worker.
    """

    def __init__(
        self,
        make: MakeExecutor,
        workers: int,
        deadline: float,
        exit_ends: Ending = Ending.RAISED,
        purse: Purse | None = None,
    ) -> None:
        self._make = make
        self._exit_ends = exit_ends
        self._workers = workers
        self._purse = purse
        self._deadline = deadline + MARGIN
        self._pool: WorkerPool[_Worker] = WorkerPool((), at_once=1)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Start the workers, and end them with the block."""
        purses = [self._purse.of_worker(i) if self._purse else None for i in range(self._workers)]
        workers = [_Worker(self._make, self._exit_ends, purse) for purse in purses]
        self._pool = WorkerPool(workers, at_once=min(self._workers, os.cpu_count() or 1))
        try:
            yield
        finally:
            await self._pool.close()
            for worker in workers:
                worker.dismiss()
            await in_daemon_thread(_ended, workers)

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial in the next worker that is ready."""
        worker = await self._pool.take()
        try:
            return await worker.run(request, self._deadline)
        finally:
            self._pool.give_back(worker)


class _Worker:
    """One place in the pool; its process starts when it is first needed, and again after it was killed."""

    def __init__(self, make: MakeExecutor, exit_ends: Ending, purse: Purse | None) -> None:
        self._make = make
        self._exit_ends = exit_ends
        self._purse = purse
        self._process: _Process | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether a process waits for a trial."""
        return self._process is not None

    async def start(self) -> None:
        """Start a process, and wait until it has imported the agent. Raises `RunError`."""
        try:
            self._process = _Process(self._make, self._exit_ends, self._purse)
            await in_daemon_thread(self._process.wait_until_ready)
        except BaseException:
            self.kill()
            raise

    async def run(self, request: TrialRequest, deadline: float) -> Execution:
        """Run one trial in the process that has started."""
        process = self._process
        if process is None:
            raise RuntimeError("a trial was given to a worker that has not started")
        try:
            last = asyncio.get_running_loop().call_later(deadline + MARGIN, process.cut_short)
            try:
                execution: Execution = await in_daemon_thread(process.ask, request, deadline)
            finally:
                last.cancel()
        except BaseException:  # cancelled, or no trial can be run: the process is of no more use
            self.kill()
            raise
        if execution.abandoned or not process.alive:
            self.kill()
            execution = execution.model_copy(update={"abandoned": False})
        return execution

    def dismiss(self) -> None:
        """Let the process end by itself if it waits for a trial."""
        if self._process is not None:
            self._process.dismiss()

    def leave(self, seconds: float) -> None:
        """Wait for that, at most so long; then end the process."""
        if self._process is not None:
            self._process.leave(seconds)
        self.kill()

    def kill(self) -> None:
        """End the process at once; the next trial starts a new one."""
        if self._process is not None:
            self._process.kill()
        self._process = None


class _Process:
    """A worker process and the pipe to it."""

    def __init__(self, make: MakeExecutor, exit_ends: Ending, purse: Purse | None) -> None:
        self._exit_ends = exit_ends
        context = _context()
        self._pipe, theirs = context.Pipe()
        self._watch = GroupWatch()
        self._places, placed = context.Pipe(duplex=False)
        told = (make, theirs, placed, {**os.environ, **self._watch.variables}, purse)
        self._process = context.Process(target=serve, args=told, daemon=True)
        self._process.start()
        self._killed = False
        self._in_pipe = False
        """Whether a word passes the pipe just now, which has no end where the worker does not do its part."""
        theirs.close()
        placed.close()

    @property
    def alive(self) -> bool:
        """Return whether the process can take another trial."""
        return self._process.is_alive()

    def cut_short(self) -> None:
        """Send SIGKILL to a process that takes no request, or that has begun an answer and does not end it.

        Its pipe ends by that, for which `ask` waits.
        """
        if self._in_pipe and not self._killed:
            self._end_group()

    def wait_until_ready(self) -> None:
        """Wait until the agent is imported; these seconds belong to no trial. Raises `RunError`."""
        answer = self._next_word()
        if answer == GROUPED and self._process.pid is not None:
            self._watch.hold(self._process.pid)
            with suppress(OSError):  # the worker has ended, as the next word says
                self._pipe.send(GROUPED)
            answer = self._next_word()
        if answer != READY:
            raise RunError(f"a worker process could not import the agent: {answer}")

    def _next_word(self) -> object:
        try:
            if not self._pipe.poll(STARTING):
                raise RunError(
                    f"a worker process was not ready within {STARTING:g} s: importing the agent or its suite hangs, or "
                    "the machine is overloaded. This says nothing about the agent; try a lower execution.concurrency."
                )
            return self._pipe.recv()
        except (EOFError, OSError):
            return f"the process ended while it imported the agent ({self._how_it_ended()})"

    def ask(self, request: TrialRequest, deadline: float) -> Execution:
        """Run one trial; kill a process that does not answer."""
        before, underway = memory_kills(), Underway()
        try:
            with self._passing():
                self._pipe.send((request, deadline - MARGIN / 2))
            until = time.monotonic() + deadline
            while True:
                if not self._pipe.poll(max(0.0, until - time.monotonic())):
                    place = self._place()
                    self.kill()
                    why = f"killed: no answer within {deadline:g} s{place}"
                    return _torn_down(request, underway, why) or _unanswered(deadline, underway, place)
                if not isinstance(answer := self._heard(), Underway):
                    break
                underway = answer
        except (EOFError, OSError):
            return self._broken_off(request, before, underway)
        match answer:
            case Execution():
                return answer
            case (word, str(fault)) if word == SPOILED:
                self.kill()
                return _torn_down(request, underway, fault) or _lost(Ending.RAISED, fault, underway)
        if not isinstance(answer, str):
            return self._broken_off(request, before, underway)
        raise RunError(f"a worker process could not run a trial: {answer}")

    def _heard(self) -> object:
        """Return the worker's next word; raise `EOFError` for words in the pipe that agentmut has not written."""
        with self._passing():
            try:
                return self._pipe.recv()
            except OSError:
                raise
            except Exception as error:
                raise EOFError("no word of a worker") from error

    @contextmanager
    def _passing(self) -> Iterator[None]:
        self._in_pipe = True
        try:
            yield
        finally:
            self._in_pipe = False

    def _broken_off(self, request: TrialRequest, before: int | None, underway: Underway) -> Execution:
        """Return how a trial ended whose pipe has ended, or has words in it that are none of agentmut's."""
        self._process.join(timeout=MARGIN)
        if self._process.exitcode is not None:
            why = f"it ended the process ({self._how_it_ended()})"
            return _torn_down(request, underway, why) or self._ended(before, underway)
        self.kill()
        why = "killed: it closed or overwrote the pipe of its process to agentmut"
        return _torn_down(request, underway, why) or _lost(self._exit_ends, why, underway)

    def _place(self) -> str:
        """Return where the worker's code of users is, as the end of a sentence; empty where it does not say so."""
        with suppress(OSError, TypeError):  # it has ended meanwhile
            os.kill(self._process.pid, PLACE_SIGNAL)  # type: ignore[arg-type]  # without a pid: a TypeError
            if self._places.poll(PLACED):
                time.sleep(0.01)  # for the rest of what it writes
                written = os.read(self._places.fileno(), 65536).decode("utf-8", "replace")
                if found := users_places(written):
                    return f", at {found}"
        return ""

    def dismiss(self) -> None:
        """Tell the worker that no further trial comes."""
        self._pipe.close()

    def leave(self, seconds: float) -> None:
        """Wait at most so long for the end of the process."""
        self._process.join(seconds)

    def kill(self) -> None:
        """Kill the process, and the processes that it has started."""
        if self._killed:
            return
        self._killed = True
        self._end_group()
        self._process.join()
        self._places.close()
        self._watch.release()

    def _end_group(self) -> None:
        if self._process.pid is not None and hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):  # too young to have a group, or all gone
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _ended(self, before: int | None, underway: Underway) -> Execution:
        """Return how a trial ended that ended its process; `before` it, so many had been killed for want of memory."""
        how = self._how_it_ended()
        killed = self._process.exitcode == -signal.SIGKILL and lacked_memory_since(before)
        ending = Ending.INFRASTRUCTURE if killed else self._exit_ends
        whose = "agent" if self._exit_ends is Ending.RAISED else "test"
        return _lost(ending, f"the process of the {whose} ended ({how})", underway)

    def _how_it_ended(self) -> str:
        self._process.join(timeout=MARGIN)
        return f"exit code {self._process.exitcode}"


def _ended(workers: list[_Worker]) -> None:
    """Wait for dismissed workers to close their resources, and kill workers that take too long."""
    deadline = time.monotonic() + CLOSING
    for worker in workers:
        worker.leave(max(0.0, deadline - time.monotonic()))


def _torn_down(request: TrialRequest, underway: Underway, why: str) -> Execution | None:
    """Return how the run had ended whose teardown has stopped or ended the worker, and log that; None for no teardown.

    The trial stands: what its agent did is known by then.
    """
    if underway.concluded is None:
        return None
    _log.warning("teardown of scenario %s failed: %s", request.scenario, why)
    return underway.concluded.model_copy(update={"hooks": underway.hooks})


def _unanswered(deadline: float, underway: Underway, place: str) -> Execution:
    """Return how a trial ended that had to be killed: what blocks before the agent begins is the scenario's setup."""
    if underway.began:
        return _lost(Ending.TIMEOUT, f"killed: no answer within {deadline:g} s{place}", underway)
    reason = f"setup: killed, as the agent had not begun within {deadline:g} s{place}"
    return _lost(Ending.SETUP_FAILED, reason, underway)


def _lost(ending: Ending, reason: str, underway: Underway) -> Execution:
    return Execution(ending=ending, reason=reason, footprint=Footprint(lost=True), hooks=underway.hooks)


def _context() -> ForkServerContext | SpawnContext:
    """Return how workers start: forked from a process that has imported the engine, which takes half a second, and no
    agent.

    Elsewhere than on Linux a forked process may crash in the system's own libraries.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([NEEDED])
    return context
