"""Calls of a user's functions with a deadline, for code without an event loop: it waits until the function is done."""

import os
import pickle
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from typing import Any

from agentmut._base import signs_of_life, stop_asked
from agentmut.recording.forked_copy import ForkedCopy, UnpicklableError, packed
from agentmut.recording.forked_line import HEAD
from agentmut.recording.threads import OverdueError, harmless, place_of, users_context

_GLANCE = 0.1
"""Seconds between two looks for Ctrl-C."""


class BoundedCalls:
    """Calls functions one after another, each with a deadline of `seconds`.

    Where `apart` returns true they run in a forked copy of this process: there alone a call can be ended that lets
    Python run nothing else. The copy is made with the first call. It is made anew after it has ended, and where it does
    not know a function yet. Otherwise, and for arguments that cannot be handed over, each call has a thread.
    """

    def __init__(self, seconds: float, *, apart: Callable[[], bool]) -> None:
        self.seconds = seconds
        self._apart = apart
        self._functions: list[Callable[..., Any]] = []
        self._copy: ForkedCopy | None = None
        self._end: Callable[[], object] = _nothing
        """Ends the copy; it does so by itself when nobody uses this object any more."""
        self._known = 0
        """Functions that the copy knows."""

    def add(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what calls the function with the deadline.

        The call raises what the function raises, `OverdueError` past the deadline, and `ForkedWorkerEndedError` where
        the function ended the process that it ran in.
        """
        self._functions.append(function)
        return partial(self._call, len(self._functions) - 1)

    def _call(self, number: int, *arguments: Any) -> Any:
        if self._apart():
            with suppress(UnpicklableError, OSError):  # OSError: no room for another process
                return self._in_copy(number, arguments)
        return in_time(partial(self._functions[number], *arguments), self.seconds)

    def _in_copy(self, number: int, arguments: tuple[Any, ...]) -> Any:
        call = packed((number, *arguments))
        copy = self._copy_that_knows(number)
        try:
            succeeded, value = _outcome_of(copy, call)
        except BaseException as error:  # Ctrl-C, too: the copy is in the middle of a call
            ended = copy.ended() if isinstance(error, (OSError, EOFError)) else error
            self._close()
            raise ended from None
        if succeeded:
            return value
        raise value

    def _copy_that_knows(self, number: int) -> ForkedCopy:
        if self._copy is not None and number >= self._known:
            self._close()
        if self._copy is None:
            self._copy = ForkedCopy(partial(_one_of, tuple(self._functions)), self.seconds)
            self._known = len(self._functions)
            self._end = weakref.finalize(self, self._copy.close)
        return self._copy

    def _close(self) -> None:
        self._copy = None
        self._end()


def _nothing() -> None:
    """Do nothing: there is no copy yet."""


def _one_of(functions: tuple[Callable[..., Any], ...], number: int, *arguments: Any) -> Any:
    return functions[number](*arguments)


def _outcome_of(copy: ForkedCopy, call: bytes) -> tuple[bool, Any]:
    """Return whether the call succeeded, and its result or error. Raise `OSError` or `EOFError` if the copy ended."""
    copy.socket.settimeout(copy.limit)
    copy.socket.sendall(call)
    answer: tuple[bool, Any] = pickle.loads(_received(copy, *HEAD.unpack(_received(copy, HEAD.size))))
    return answer


def _received(copy: ForkedCopy, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        if not (piece := copy.socket.recv(min(size - len(received), 1 << 20))):
            raise EOFError
        received += piece
    return bytes(received)


def in_time(function: Callable[[], Any], seconds: float) -> Any:
    """Call a function in a thread, and return its result.

    Raises what the function raises, and `OverdueError` after `seconds`. Ctrl-C ends the wait by `KeyboardInterrupt`.
    """
    done: Future[Any] = Future()
    called = partial(_settle, done, partial(users_context().run, function))
    thread = threading.Thread(target=called, daemon=True, name="agentmut-judging")
    with signs_of_life(seconds):  # from before the thread, which may never let this one run again
        thread.start()
        if _has_ended(done, seconds):
            return done.result()
    raise OverdueError(place_of(sys._current_frames().get(thread.ident or 0)))


def _has_ended(done: "Future[Any]", seconds: float) -> bool:
    """Wait for the end of a call. Return whether it came within `seconds`.

    Raises `KeyboardInterrupt` after Ctrl-C: a campaign's handler of Ctrl-C only leaves a note, which is read here.
    """
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if wait([done], timeout=min(left, _GLANCE)).done:
            return True
        if stop_asked():
            raise KeyboardInterrupt
    return done.done()


def _settle(done: "Future[Any]", function: Callable[[], Any]) -> None:
    process = os.getpid()
    try:
        settle = partial(done.set_result, function())
    except BaseException as error:
        settle = partial(done.set_exception, harmless(error))
    if os.getpid() != process:  # the function has forked: its copy has no waiter
        os._exit(0)
    settle()
