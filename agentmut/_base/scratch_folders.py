"""Temporary folders for one piece of work; the next start removes folders that a killed command left."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from agentmut._base.whole_files import take_lock

PREFIX = "agentmut-"
OWNER = ".agentmut-owner"
"""A file in each folder, which its owner keeps locked. The system unlocks it when the owner is gone, by SIGKILL too."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that only this user can read, and remove it at the end of the block.

    First remove the folders of commands that were killed. Raises `OSError` where the folder cannot be made.
    """
    _remove_once(tempfile.gettempdir(), os.getpid())
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    handle = _owned(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@cache
def _remove_once(place: str, process: int) -> None:
    """Remove abandoned folders once in each process: a trial must not wait for that."""
    remove_abandoned(place)


def remove_abandoned(place: str) -> None:
    """Remove this user's folders whose owners are surely gone: a folder without an owner's mark is left alone."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry[str]) -> None:
    with suppress(OSError):  # of another user, or gone meanwhile
        if not entry.is_dir(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_uid != os.getuid():
            return
        handle = os.open(Path(entry.path, OWNER), os.O_RDWR | os.O_NOFOLLOW)
        try:
            if take_lock(handle):
                shutil.rmtree(entry.path, ignore_errors=True)
        finally:
            os.close(handle)


def _owned(folder: Path) -> int:
    """Return the locked mark of a new folder, which gets its name only once it is locked.

    Where the system or the file system has no locks the folder stays without a mark, and is never taken for left.
    """
    made = folder / f"{OWNER}-{secrets.token_hex(8)}"
    handle = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    if take_lock(handle):
        made.rename(folder / OWNER)
    return handle
