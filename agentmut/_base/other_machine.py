"""Another machine for a program: another working folder, host name and clock, in namespaces of its own (Linux).

The working folder is the same folder at another path. This file is run as a script, which becomes the program.
"""

import ctypes
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

OTHER_MACHINE = "AGENTMUT_OTHER_MACHINE"
"""Names the empty folder at which a program's working folder is to appear; programs do not get it."""
OTHER_CLOCK = "AGENTMUT_OTHER_CLOCK"
"""Seconds by which a program's clock is to be ahead; programs do not get it."""
OTHER_HOST = "elsewhere"
PROBE_SECONDS = 20.0
_NEW_PLACE, _NEW_HOST, _NEW_USER = 0x00020000, 0x04000000, 0x10000000
"""CLONE_NEWNS, CLONE_NEWUTS and CLONE_NEWUSER of unshare(2)."""
_BIND, _INNER, _PRIVATE = 0x1000, 0x4000, 0x40000
"""MS_BIND, MS_REC and MS_PRIVATE of mount(2)."""


class OtherMachine(NamedTuple):
    """A program on another machine."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str]


def moved(arguments: Sequence[str], variables: Mapping[str, str]) -> OtherMachine:
    """Return the program on the other machine that its variables name; unchanged if they name none."""
    own = {name: value for name, value in variables.items() if name not in (OTHER_MACHINE, OTHER_CLOCK)}
    found = tuple(arguments)
    if (seconds := variables.get(OTHER_CLOCK)) and (faketime := shutil.which("faketime")):
        own |= {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        found = (faketime, "-m", "-f", f"+{seconds}s", *found)
    if place := variables.get(OTHER_MACHINE):
        found = (sys.executable, "-I", "-S", __file__, place, *found)
    return OtherMachine(found, own)


def can_move_programs(folder: Path) -> bool:
    """Return whether the system lets a program have namespaces of its own; `folder` is an empty one."""
    if sys.platform != "linux":
        return False
    words = (sys.executable, "-I", "-S", __file__, str(folder), sys.executable, "-I", "-S", "-c", "")
    try:
        return not subprocess.run(words, capture_output=True, timeout=PROBE_SECONDS, check=False).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def can_shift_programs() -> bool:
    """Return whether the package libfaketime is here, which shifts the clock of programs."""
    return shutil.which("faketime") is not None


def main(place: str, *arguments: str) -> None:
    """Become the program, with another host name and with the working folder at another path."""
    libc = ctypes.CDLL(None, use_errno=True)
    _enter(libc)
    socket.sethostname(OTHER_HOST)
    _call(libc.mount, None, b"/", None, _INNER | _PRIVATE, None)
    _call(libc.mount, os.fsencode(Path.cwd()), os.fsencode(place), None, _BIND | _INNER, None)
    os.chdir(place)
    os.environ["PWD"] = place
    os.execvp(arguments[0], arguments)


def _enter(libc: ctypes.CDLL) -> None:
    """Enter new namespaces: as the system's administrator, or else as the same user of a namespace of users."""
    user, group = os.getuid(), os.getgid()
    try:
        _call(libc.unshare, _NEW_PLACE | _NEW_HOST)
    except PermissionError:
        _call(libc.unshare, _NEW_PLACE | _NEW_HOST | _NEW_USER)
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny")
        (own / "uid_map").write_text(f"{user} {user} 1")
        (own / "gid_map").write_text(f"{group} {group} 1")


def _call(function: "ctypes._FuncPointer", *values: bytes | int | None) -> None:
    if function(*values):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main(*sys.argv[1:])
