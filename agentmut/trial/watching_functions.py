"""Traces, profiles and audit hooks, which Python calls again and again: those of users see the code of users alone.

In a process that trials share, such a function would be called in the middle of the event loop and of each thread that
begins. What it raises there would be lost work of agentmut: a task that is never woken, or a future without a result.
"""

import asyncio
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from agentmut._base import HOOK_NOTE, notes_of
from agentmut.recording import current_trial, place_of, runs_users_code

_LIBRARIES = ("<", *{sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
_STEP = asyncio.Handle._run.__code__
WATCHED_BY = (
    (sys, "settrace"),
    (sys, "setprofile"),
    (threading, "settrace"),
    (threading, "setprofile"),
    (threading, "settrace_all_threads"),
    (threading, "setprofile_all_threads"),
)
"""What sets a function that is called with a frame, an event and an argument; Python 3.12 has the last two."""


@contextmanager
def kept_watching() -> Iterator[None]:
    """Put back after the block what users have replaced: a trace of theirs would be called until Python has ended."""
    before = [get() for get, _ in _SET_NOW]
    try:
        yield
    finally:
        for (get, put), function in zip(_SET_NOW, before, strict=True):
            now = get()
            if isinstance(now, partial) and now.func is _seen:
                put(function)


_SET_NOW: tuple[tuple[Callable[[], Any], Callable[[Any], None]], ...] = (
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    (threading.gettrace, threading.settrace),
    (threading.getprofile, threading.setprofile),
)


def guarded_watching(original: Callable[[Any], None], of_now: Any) -> Callable[[Any], None]:
    """Return `sys.settrace` or the like, by which a function of users sees the code of users of its own trial alone.

    `of_now` is the function that is set already, by a debugger or by a measure of coverage: users may set it again.
    """

    def set_function(function: Any) -> None:
        if callable(function) and function is not of_now and (trials := _trials_of(sys._getframe(1))):
            function = partial(_seen, trials, function)
        original(function)

    return set_function


def _seen(
    trials: "_Trials", function: Callable[..., Any], frame: FrameType, event: str, argument: Any
) -> Any:
    if not trials.has_present() or not in_users_code(frame):
        return None
    return function(frame, event, argument)


class _Trials(NamedTuple):
    """The trials whose code a function of users may see: one of them, or all where a module set it while it loaded."""

    trial: Any = None
    all: bool = False

    def has_present(self) -> bool:
        """Return whether the present trial is among them."""
        return self.all or current_trial() is self.trial


def _trials_of(frame: FrameType | None) -> _Trials | None:
    """Return the trials that a function may see which code of users sets in this frame; None for other code."""
    if runs_users_code():
        return _Trials(current_trial())
    return _Trials(all=True) if _of_users(frame) else None


class _Inside(threading.local):
    asks = False
    """Whether this thread looks for code of users just now, which Python tells audit hooks, too."""


def guarded_auditing(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return `sys.addaudithook`, by which a hook of users hears of the code of users of its own trial alone.

    No hook can be removed again, so it would be there for all trials to come.
    """
    inside = _Inside()

    def heard(trials: _Trials, place: str, hook: Callable[..., Any], event: str, arguments: Any) -> None:
        if inside.asks or not runs_users_code() or not trials.has_present():
            return
        inside.asks = True
        try:
            of_users = in_users_code(sys._getframe(1))
        finally:
            inside.asks = False
        if not of_users:
            return
        try:
            hook(event, arguments)
        except BaseException as error:
            if (note := f"{HOOK_NOTE} {place}") not in notes_of(error):
                error.add_note(note)
            raise

    def add_hook(hook: Any) -> None:
        frame = sys._getframe(1)
        if trials := _trials_of(frame):
            hook = partial(heard, trials, place_of(frame), hook)
        original(hook)

    return add_hook


def in_users_code(frame: FrameType | None) -> bool:
    """Return whether code of a user runs, or what it has called of Python and of packages; not what agentmut calls."""
    return runs_users_code() and _of_users(frame)


def _of_users(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _STEP:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == "agentmut":
            return False
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            return True
        frame = frame.f_back
    return False
