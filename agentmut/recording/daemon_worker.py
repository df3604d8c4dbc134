"""One thread beside the event loop, for a user's blocking functions that may not be thread-safe."""

import asyncio
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from agentmut.recording.threads import OverdueError, harmless, place_of, users_context

T = TypeVar("T")

HELD_SECONDS = 0.01
"""How long results wait for those of the functions behind them, so that they reach the event loop together."""


class _Job:
    """A function, the time when it began (`time.monotonic`), and the future that waits for its result."""

    def __init__(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.function = function
        self.waiting: asyncio.Future[Any] = loop.create_future()
        self.begun = 0.0
        self.seconds = seconds
        self.deadline: asyncio.TimerHandle | None = None

    def left(self) -> float:
        """Return how many seconds the function has left; its whole time before it begins."""
        return self.begun + self.seconds - time.monotonic() if self.begun else self.seconds


class DaemonWorker:
    """One daemon thread that calls functions one after another, for one event loop.

    A function that never ends keeps the thread and neither the event loop nor the process. Waking the thread, or the
    loop, costs more than a short function. So functions that are asked for together reach the thread together, and
    their results are handed over together.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._asked: list[_Job] = []
        """Functions that go to the thread when the event loop has run what is ready now."""
        self._settled: deque[Callable[[], None]] = deque()
        self._thread: threading.Thread | None = None

    async def call(self, function: Callable[..., T], *args: Any, seconds: float) -> T:
        """Return what the function returns. Raise `OverdueError` if it runs for more than `seconds`."""
        loop = asyncio.get_running_loop()
        job = _Job(partial(users_context().run, function, *args), loop, seconds)
        if not self._asked:
            loop.call_soon(self._send, loop)
        self._asked.append(job)
        job.deadline = loop.call_later(seconds, self._check, job, loop)
        try:
            result: T = await job.waiting
            return result
        finally:
            job.deadline.cancel()

    def close(self) -> None:
        """Let the thread end after the functions that were asked for."""
        if self._asked:
            self._jobs.put(self._asked)
            self._asked = []
        self._jobs.put(None)

    def _send(self, loop: asyncio.AbstractEventLoop) -> None:
        self._jobs.put(self._asked)
        self._asked = []
        self._start(loop)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._work, args=(loop,), daemon=True, name="agentmut-judging"
            )
            self._thread.start()

    def _check(self, job: _Job, loop: asyncio.AbstractEventLoop) -> None:
        """Stop waiting for an overdue function; the time of a function that began late runs from its beginning."""
        self._hand_over()
        if job.waiting.done():
            return
        left = job.left()
        if left > 0:
            job.deadline = loop.call_later(left, self._check, job, loop)
        else:
            job.waiting.set_exception(OverdueError(self._place()))

    def _hand_over(self) -> None:
        while self._settled:
            self._settled.popleft()()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while (jobs := self._jobs.get()) is not None:
            held_since = time.monotonic()
            for job in jobs:
                job.begun = time.monotonic()
                if not job.waiting.done():  # the waiter may have been cancelled
                    self._settled.append(_settling(job))
                if time.monotonic() - held_since > HELD_SECONDS:
                    self._notify(loop)
                    held_since = time.monotonic()
            self._notify(loop)

    def _notify(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(self._hand_over)

    def _place(self) -> str:
        frames = sys._current_frames()
        frame = frames.get(self._thread.ident) if self._thread and self._thread.ident else None
        return place_of(frame)


def _settling(job: _Job) -> Callable[[], None]:
    """Call a job's function; return the callback that gives its result to the waiter on the event loop."""
    process = os.getpid()
    try:
        settle = partial(job.waiting.set_result, job.function())
    except BaseException as error:
        settle = partial(job.waiting.set_exception, harmless(error))
    if os.getpid() != process:  # the function has forked: its copy has no waiter
        os._exit(0)

    def unless_given_up() -> None:
        if not job.waiting.done():
            settle()

    return unless_given_up
