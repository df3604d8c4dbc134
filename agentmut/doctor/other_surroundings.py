"""Another user on another machine and day, for an agent in this process: other names, settings and clocks."""

import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from agentmut._base import (
    OTHER_CLOCK,
    OTHER_HOST,
    OTHER_MACHINE,
    can_move_programs,
    can_shift_programs,
    environ,
    scratch_folder,
)

USER, HOST = "someone_else", OTHER_HOST
USER_NAMES = ("USER", "LOGNAME", "LNAME", "USERNAME")
HOST_NAMES = ("HOSTNAME", "COMPUTERNAME", "HOST")
LANGUAGES = ("C.UTF-8", "POSIX")
"""Languages that every machine has."""
ZONES = ("Asia/Kathmandu", "Pacific/Chatham")
SHIFT_SECONDS = (403 * 24 + 13) * 3600 + 7 * 60 + 11
"""403 days, 13 hours, 7 minutes and 11 seconds: another year, month, day, weekday, hour, minute and second."""
EXTRA = "agentmut[clock]"


@contextmanager
def elsewhere(declared: Collection[str] = ()) -> Iterator[None]:
    """Give user, host, home, working folder, language and time zone other names until the block ends.

    Home and working folder are links to the real ones, so that every file is still found. Variables that the project
    itself declares keep their values.
    """
    with ExitStack() as stack:
        with suppress(OSError):  # a machine that makes no links keeps the names of its folders
            folder = stack.enter_context(scratch_folder())
            home, here = _linked(folder / "home", Path.home()), _linked(folder / "work", Path.cwd())
            declared_home = {"HOME", "USERPROFILE"}.intersection(declared)
            stack.enter_context(environ({} if declared_home else {"HOME": home, "USERPROFILE": home}))
            stack.enter_context(environ({} if "PWD" in declared else {"PWD": here}))
            stack.enter_context(_answering(os, "getcwd", lambda: here))
        stack.callback(_read_zone)  # at the end, when the variables are back
        stack.enter_context(environ({n: v for n, v in _other_variables() if n not in declared}))
        stack.enter_context(_answering(socket, "gethostname", lambda: HOST))
        stack.enter_context(_answering(platform, "node", lambda: HOST))
        _read_zone()
        yield


@contextmanager
def programs_elsewhere() -> Iterator[str]:
    """Run programs as on another machine until the block ends: other host name, working folder and clock.

    Yield what stays the same, in a sentence; empty if nothing does.
    """
    with scratch_folder() as folder:
        place = folder / "work"
        place.mkdir()
        lacking = []
        variables = {}
        if can_move_programs(place):
            variables[OTHER_MACHINE] = str(place)
        else:
            lacking.append("host name and working folder, since this system allows no namespaces (unshare)")
        if can_shift_programs():
            variables[OTHER_CLOCK] = str(SHIFT_SECONDS)
        else:
            lacking.append("clock, since the package libfaketime is not installed")
        with environ(variables):
            yield (
                f"doctor cannot change the program's {'; nor its '.join(lacking)}: words of requests that depend on "
                "this may stay unnoticed"
                if lacking
                else ""
            )


def can_shift() -> bool:
    """Return whether the package is there that shifts the clock."""
    return find_spec("time_machine") is not None


@contextmanager
def shifted() -> Iterator[None]:
    """Shift clocks and calendars of this process by `SHIFT_SECONDS` until the block ends; they go on running."""
    import time_machine

    with time_machine.travel(time.time() + SHIFT_SECONDS, tick=True):
        yield


def unshifted() -> str:
    """Return what stays the same for an agent in this process, in a sentence; empty if nothing does."""
    return (
        ""
        if can_shift()
        else f"Dates and times may stay unnoticed: `pip install '{EXTRA}'` lets doctor shift the clock"
    )


def _other_variables() -> Iterator[tuple[str, str]]:
    yield from ((name, USER) for name in USER_NAMES)
    yield from ((name, HOST) for name in HOST_NAMES)
    yield from ((name, _other_than(os.environ.get(name), LANGUAGES)) for name in ("LANG", "LC_ALL"))
    yield "TZ", _other_than(os.environ.get("TZ"), ZONES)


def _other_than(now: str | None, known: Collection[str]) -> str:
    return next(each for each in known if each != now)


def _linked(link: Path, target: Path) -> str:
    link.symlink_to(target, target_is_directory=True)
    return str(link)


def _read_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()


@contextmanager
def _answering(owner: ModuleType, name: str, answer: Callable[[], str]) -> Iterator[None]:
    """Let a function of a module give another answer, also where modules have imported it by its name."""
    original = getattr(owner, name)
    places = [(vars(module), known) for module in _modules() for known in _names_of(module, original)]
    replacement = partial(answer)
    for names, known in places:
        names[known] = replacement
    try:
        yield
    finally:
        for names, known in places:
            if names.get(known) is replacement:
                names[known] = original


def _modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]


def _names_of(module: ModuleType, wanted: Any) -> list[str]:
    return [name for name, value in list(vars(module).items()) if value is wanted]
