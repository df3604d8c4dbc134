"""Containment: an agent that harms its shared process fails its own trial and harms no other trial.

It may end or kill the process, stop the event loop, cancel every task, fork, close the files of everybody, lower the
limits of the process, or leave Python no stack. Each of these is refused to agents and to evaluators. A mask for new
files (`os.umask`) leaves their owner access. Their traces and
audit hooks see the code of users alone. What no Python code can refuse, such as a crash, is left to `isolate: process`
and to the supervisor.

A command puts the guards in before it imports code of users (`contain_for_good`), so a module that takes a function by
its name, as by `from sys import settrace`, gets the guarded one.
"""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from agentmut.recording import AgentExitError, Trial, current_trial, runs_users_code
from agentmut.trial.system_limits import guarded_setrlimit, resource
from agentmut.trial.watching_functions import (
    WATCHED_BY,
    guarded_auditing,
    guarded_watching,
    kept_watching,
)

_ENDINGS = frozenset(getattr(signal, name) for name in ("SIGKILL", "SIGSTOP") if hasattr(signal, name))
"""Signals that no process can handle."""
_MARK = "agentmut_guards"
"""The attribute of a guard by which it is known: no function gets a second one."""
_ROOT = Path(__file__).parents[1]
_ENGINE = tuple(str(_ROOT / room) + os.sep for room in ("campaign", "trial"))


class EngineTask(asyncio.Task[Any]):
    """A task of the engine, or the task that runs an agent: no other trial can cancel it."""

    def __init__(self, coroutine: Any, **options: Any) -> None:
        super().__init__(coroutine, **options)
        self._trial = current_trial()

    def cancel(self, msg: Any = None) -> bool:
        """Cancel the task, unless the request comes from an agent that does not own the task."""
        trial: Trial | None = current_trial()
        if trial is not None and trial is not self._trial:
            return False
        return super().cancel(msg)


def make_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
    """Return a task; the task factory of event loops in which agents run beside the engine."""
    code = getattr(coroutine, "cr_code", None)
    own = code is not None and code.co_filename.startswith(_ENGINE)
    return (EngineTask if own else asyncio.Task)(coroutine, loop=loop, **options)


@contextmanager
def contained(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Prevent agents from ending shared parts of the process during the block."""
    with contained_calls(), kept_watching(), _replaced(loop, "stop", _guarded_stop):
        yield


@contextmanager
def contained_calls() -> Iterator[None]:
    """Prevent functions of users that run in threads from ending shared parts of the process during the block."""
    with ExitStack() as stack:
        for owner, name, make in _guards():
            if hasattr(owner, name) and not _is_guarded(owner, name):
                stack.enter_context(_replaced(owner, name, make))
        yield


def contain_for_good(*, watching_only: bool = False) -> None:
    """Prevent code of users from ending shared parts of the process, until the process ends.

    For a process that is agentmut's own, before it imports code of users. `watching_only` refuses nothing there, and
    lets traces, profiles and audit hooks of users see the code of users alone.
    """
    for owner, name, make in _guards_of_watching() if watching_only else _guards():
        if hasattr(owner, name) and not _is_guarded(owner, name):
            _put_in(owner, name, make)


def _is_guarded(owner: Any, name: str) -> bool:
    return hasattr(getattr(owner, name), _MARK)


def _guards() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield each function that is guarded, by its owner and its name, with what makes its guard."""
    yield os, "_exit", _guarded_exit
    yield os, "closerange", _guarded_closing
    yield sys, "setrecursionlimit", _guarded_limit
    yield resource, "setrlimit", guarded_setrlimit
    yield os, "umask", _guarded_umask
    yield sys.modules.get("posix"), "umask", _guarded_umask  # the module that `os` takes the function from
    yield os, "kill", partial(_guarded_kill, "kill")
    yield os, "killpg", partial(_guarded_kill, "killpg")
    yield os, "fork", _guarded_fork
    yield from _guards_of_watching()


def _guards_of_watching() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    yield sys, "addaudithook", guarded_auditing
    for owner, name in WATCHED_BY:
        yield owner, name, partial(guarded_watching, of_now=_set_now(owner, name))


def _set_now(owner: Any, name: str) -> Any:
    """Return the function that `settrace` or the like has set before."""
    get = getattr(owner, "getprofile" if "profile" in name else "gettrace", None)
    return get() if get else None


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    original = _put_in(owner, name, make)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _put_in(owner: Any, name: str, make: Callable[[Any], Any]) -> Any:
    """Put a guard in the place of a function; return the function."""
    original = getattr(owner, name)
    guard = make(original)
    setattr(guard, _MARK, True)
    setattr(owner, name, guard)
    return original


def _guarded_exit(original: Callable[[int], Any]) -> Callable[[int], Any]:
    process = os.getpid()

    def leave(status: int) -> Any:
        if runs_users_code() and os.getpid() == process:
            raise AgentExitError(f"os._exit({status!r}) was called")
        return original(status)

    return leave


def _guarded_kill(name: str, original: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Refuse to kill or stop this process, and any signal to its supervisor or to the group of both."""
    process = os.getpid()

    def kill(target: int, number: int, /) -> None:
        beyond = target in {0, os.getppid()} or abs(target) == os.getpgrp()
        fatal = (beyond and number != 0) or (target == process and number in _ENDINGS)
        if fatal and runs_users_code() and os.getpid() == process:
            raise AgentExitError(f"os.{name}({target!r}, {number!r}) was called")
        original(target, number)

    return kill


def _guarded_closing(original: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Refuse to close a range of descriptors: it holds those of the store, of the event loop and of other trials."""
    process = os.getpid()

    def close(low: int, high: int, /) -> None:
        if runs_users_code() and os.getpid() == process:
            raise AgentExitError(f"os.closerange({low!r}, {high!r}) was called")
        original(low, high)

    return close


def _guarded_stop(original: Callable[[], None]) -> Callable[[], None]:
    def stop() -> None:
        if runs_users_code():
            raise AgentExitError("the agent stopped the event loop")
        original()

    return stop


def _guarded_limit(original: Callable[[int], None]) -> Callable[[int], None]:
    def limit(depth: int) -> None:
        if runs_users_code() and depth < sys.getrecursionlimit():
            raise AgentExitError(f"the recursion limit was lowered to {depth!r}")
        original(depth)

    return limit


def _guarded_umask(original: Callable[[int], int]) -> Callable[[int], int]:
    """Leave the owner's access out of each mask: agentmut makes its own files in this process, and reads them again."""

    def umask(mask: int) -> int:
        return original(mask & ~stat.S_IRWXU)

    return umask


def _guarded_fork(original: Callable[[], int]) -> Callable[[], int]:
    """End the copy of the process that code of users makes in the event loop, once that code awaits or returns.

    In a thread of its own such code ends the copy as it returns: see `in_time` and `in_daemon_thread`.
    """

    def fork() -> int:
        loop = asyncio._get_running_loop()  # which is None in the copy
        child = original()
        if not child and loop is not None and runs_users_code():
            _be_no_engine(loop)
        return child

    return fork


def _be_no_engine(loop: Any) -> None:
    """End this forked copy of the process once its agent awaits or returns, so it does not run the campaign too."""
    with suppress(AttributeError):
        loop._ready.clear()
    loop._run_once = lambda: os._exit(0)


class ThisProcessOnly:
    """End the process after the block if it is a fork that the agent made."""

    def __enter__(self) -> None:
        self._process = os.getpid()

    def __exit__(self, *error: object) -> None:
        if os.getpid() != self._process:
            os._exit(0)
