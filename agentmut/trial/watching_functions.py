"""Traces, profiles and audit hooks, which Python calls again and again: those of users see the code of users alone.

In a process that trials share, such a function would be called in the middle of the event loop and of each thread that
begins. What it raises there would be lost work of agentmut: a task that is never woken, or a future without a result.
"""

import asyncio
import sys
import sysconfig
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from agentmut.recording import current_trial, runs_users_code

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


def guarded_watching(original: Callable[[Any], None], of_now: Any) -> Callable[[Any], None]:
    """Return `sys.settrace` or the like, by which a function of users sees the code of users of its own trial alone.

    `of_now` is the function that is set already, by a debugger or by a measure of coverage: users may set it again.
    """

    def set_function(function: Any) -> None:
        if callable(function) and function is not of_now and runs_users_code():
            function = partial(_seen, current_trial(), function)
        original(function)

    return set_function


def _seen(trial: Any, function: Callable[..., Any], frame: FrameType, event: str, argument: Any) -> Any:
    if current_trial() is not trial or not in_users_code(frame):
        return None
    return function(frame, event, argument)


class _Inside(threading.local):
    asks = False
    """Whether this thread looks for code of users just now, which Python tells audit hooks, too."""


def guarded_auditing(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return `sys.addaudithook`, by which a hook of users hears of the code of users of its own trial alone.

    No hook can be removed again, so it would be there for all trials to come.
    """
    inside = _Inside()

    def heard(trial: Any, hook: Callable[..., Any], event: str, arguments: Any) -> None:
        if inside.asks or not runs_users_code() or current_trial() is not trial:
            return
        inside.asks = True
        try:
            of_users = in_users_code(sys._getframe(1))
        finally:
            inside.asks = False
        if of_users:
            hook(event, arguments)

    def add_hook(hook: Any) -> None:
        original(partial(heard, current_trial(), hook) if runs_users_code() else hook)

    return add_hook


def in_users_code(frame: FrameType | None) -> bool:
    """Return whether code of a user runs, or what it has called: neither agentmut, nor Python, nor a package alone."""
    if not runs_users_code():
        return False
    while frame is not None and frame.f_code is not _STEP:
        own = str(frame.f_globals.get("__name__", "")).partition(".")[0] == "agentmut"
        if not own and not frame.f_code.co_filename.startswith(_LIBRARIES):
            return True
        frame = frame.f_back
    return False
