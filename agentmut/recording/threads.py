"""Running a user's blocking function without blocking the event loop."""

import asyncio
import contextvars
import inspect
import os
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from agentmut.recording.current import current_trial
from agentmut.recording.recorder import Recorder

P = ParamSpec("P")
T = TypeVar("T")


class AgentExitError(RuntimeError):
    """The code under test tried to end the process (`sys.exit`), or to cancel itself."""

    @property
    def bare(self) -> str:
        """The message without the words of an exception, which may quote a run."""
        return str(self).partition(": ")[0]


class RunEndedError(BaseException):
    """An agent's run is ended from outside. It is no `Exception`, so that an agent cannot catch it by accident."""


class OverdueError(RuntimeError):
    """A user's function did not end in time. The message names its place: `file:line in function`."""


async def in_daemon_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` in a new daemon thread and wait for its result.

    The thread sees the caller's context variables. It is a daemon, so a run that never ends, once
    cancelled here, keeps neither a pool slot nor the process alive.
    """
    return await asyncio.wrap_future(_started(contextvars.copy_context().run, function, *args))


class KeptThreads:
    """Daemon threads that wait for the next call, because a new thread takes a tenth of a millisecond.

    They are for calls of a library that leave nothing in their thread. A user's function gets a new thread.
    """

    def __init__(self, idle_seconds: float = 10.0) -> None:
        self._idle: list[SimpleQueue[Callable[[], None]]] = []
        self._idle_seconds = idle_seconds
        """How long a thread waits for the next call before it ends."""

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function` in a thread that sees the caller's context variables, and wait for its result."""
        called = partial(contextvars.copy_context().run, function, *args)
        return await asyncio.wrap_future(_called_in(self._start, called))

    def _start(self, call: Callable[[], None]) -> None:
        try:
            calls = self._idle.pop()
        except IndexError:
            calls = SimpleQueue()
            _start_thread(partial(self._work, calls))
        calls.put(call)

    def _work(self, calls: "SimpleQueue[Callable[[], None]]") -> None:
        while (call := self._next(calls)) is not None:
            call()
            del call  # what was asked and answered does not wait with the thread
            self._idle.append(calls)

    def _next(self, calls: "SimpleQueue[Callable[[], None]]") -> Callable[[], None] | None:
        """Return the next call; None where none came in time."""
        try:
            return calls.get(timeout=self._idle_seconds)
        except Empty:
            pass
        try:
            self._idle.remove(calls)
        except ValueError:  # a call has just been given
            return calls.get()
        return None


class TrialThreads(ThreadPoolExecutor):
    """An event loop's default executor that runs the blocking code of each trial in daemon threads.

    Frameworks send sync tools and nodes there. One that hangs must neither take a place of the pool from
    other trials nor keep the process from ending. What is not part of a trial uses the pool as usual.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Run `fn` soon in a thread that belongs to the trial; the trial counts the thread until `fn` ends."""
        if current_trial() is None:
            return super().submit(fn, *args, **kwargs)
        return _started(contextvars.copy_context().run, fn, *args, **kwargs)


_judging: contextvars.ContextVar[bool] = contextvars.ContextVar("agentmut_judging", default=False)


def runs_users_code() -> bool:
    """Return whether the calling code belongs to a trial, or to what a `DaemonWorker` was given."""
    return current_trial() is not None or _judging.get()


def users_context() -> contextvars.Context:
    """Return a copy of the current context, in which `runs_users_code` is true."""
    context = contextvars.copy_context()
    context.run(_judging.set, True)
    return context


def place_of(frame: FrameType | None) -> str:
    """Return `file:line in function` of the innermost code that is not Python's own; empty for no frame."""
    library = sysconfig.get_path("stdlib")
    found = frame
    while found is not None and (
        found.f_code.co_filename.startswith((library, "<frozen"))
        and "site-packages" not in found.f_code.co_filename
    ):
        found = found.f_back
    if (found := found or frame) is None:
        return ""
    return f"{found.f_code.co_filename}:{found.f_lineno} in {found.f_code.co_name}"


def completed(value: Any) -> Any:
    """Return `value`, or its result if it is awaitable: for sync code that got an async function."""
    if not inspect.isawaitable(value):
        return value

    async def finish() -> Any:
        return await value

    return _started(contextvars.copy_context().run, asyncio.run, finish()).result()


def _start_thread(target: Callable[[], None]) -> None:
    threading.Thread(target=target, daemon=True, name="agentmut-trial").start()


def _started(function: Callable[..., Any], *args: Any, **kwargs: Any) -> "Future[Any]":
    """Call a function in a new thread, and return its future result."""
    return _called_in(_start_thread, partial(function, *args, **kwargs))


def _called_in(start: Callable[[Callable[[], None]], None], function: Callable[[], Any]) -> "Future[Any]":
    """Call a function in a thread that `start` chooses, and return its future result."""
    done: Future[Any] = Future()
    recorder = trial.recorder if (trial := current_trial()) else Recorder()

    def called() -> Any:
        try:
            return function()
        finally:
            recorder.count(threads=-1)

    recorder.count(threads=1)
    start(partial(_settle, done, called))
    return done


def _settle(done: "Future[Any]", function: Callable[..., Any], *args: Any) -> None:
    """Call a function and pass on its result or error, unless the waiter has given up meanwhile."""
    process = os.getpid()
    try:
        settle = partial(done.set_result, function(*args))
    except BaseException as error:
        settle = partial(done.set_exception, harmless(error))
    if os.getpid() != process:  # the function has forked: its copy has no waiter
        os._exit(0)
    if done.set_running_or_notify_cancel():
        settle()


def harmless(error: BaseException) -> BaseException:
    """Return an exception that the waiter can raise without ending its event loop or looking cancelled."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    exit_error = AgentExitError(f"{type(error).__name__}: {error}")
    exit_error.__cause__ = error
    return exit_error
