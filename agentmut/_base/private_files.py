"""Files that only their owner can read, since stored trials may contain texts of users, tools and models."""

import os
from contextlib import suppress
from pathlib import Path

PRIVATE_FOLDER = ".agentmut"
"""Beside the project file: the store, the runs' results, baselines and tables."""
_FOLDER, _FILE = 0o700, 0o600
_IGNORED = """\
# Made by agentmut. Stored trials may hold what users, tools and models said, so git leaves them out,
# and only the owner can read them.
# Baselines hold pass rates only: a repository may keep them.
*
!baselines/
!baselines/*
"""
_EARLIER = """\
# Made by agentmut. Stored trials may hold what users, tools and models said, so git leaves them out.
# Baselines hold pass rates only: a repository may keep them.
*
!baselines/
!baselines/*
"""
"""Written by versions that closed `.agentmut` alone, and not the folders in it."""


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents. From `.agentmut` downwards, only the owner can read them.

    Whatever `.agentmut` holds is closed (0700, 0600) when agentmut puts its `.gitignore` there: whoever opens it to
    others afterwards keeps it open. Raises `OSError`.
    """
    root = next((path for path in (folder, *folder.parents) if path.name == PRIVATE_FOLDER), None)
    if root is None:
        folder.mkdir(parents=True, exist_ok=True)
        return
    root.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    _close(root)
    below = [path for path in (folder, *folder.parents) if path.is_relative_to(root)]
    for path in reversed(below):
        path.mkdir(mode=_FOLDER, exist_ok=True)


def open_to_others(folder: Path) -> str:
    """Return a sentence on a folder that other users own and can read; empty for one's own, and for none.

    agentmut cannot close such a folder. One's own that is open was opened on purpose.
    """
    try:
        state = folder.stat()
    except OSError:
        return ""
    if not hasattr(os, "getuid") or state.st_uid == os.getuid() or not state.st_mode & 0o077:
        return ""
    return (
        f"{folder} belongs to {_user(state.st_uid)}, and others can read what users, tools and models say in trials. "
        f"Have its owner run `chmod -R go= {folder.name}`, or use a folder of your own"
    )


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user with the number {number}"


def _close(root: Path) -> None:
    """Close a folder of an older version; one of somebody else, or on a disk that cannot be written, stays as it is."""
    ignore = root / ".gitignore"
    with suppress(OSError):
        if ignore.exists() and ignore.read_text("utf-8", "replace") != _EARLIER:
            return
        root.chmod(_FOLDER)
        for place, folders, files in os.walk(root):
            for names, mode in ((folders, _FOLDER), (files, _FILE)):
                for name in names:
                    _close_one(Path(place, name), mode)
        write_private(ignore, _IGNORED)


def _close_one(path: Path, mode: int) -> None:
    with suppress(OSError):  # gone meanwhile, or of another user
        if not path.is_symlink():  # what it leads to is no file of agentmut
            path.chmod(mode)


def write_private(path: Path, text: str) -> None:
    """Write a text in UTF-8 to a file that is made with mode 0600. Raises `OSError`."""
    with open(path, "w", encoding="utf-8", opener=_private) as file:
        file.write(text)


def touch_private(path: Path) -> None:
    """Make an empty file with mode 0600 if there is none. Raise `OSError`."""
    if not path.exists():
        with open(path, "ab", opener=_private):
            pass


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _FILE)
