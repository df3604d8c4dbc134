"""Files that only their owner can read, since stored trials may contain texts of users, tools and models."""

import os
from contextlib import suppress
from pathlib import Path

PRIVATE_FOLDER = ".agentmut"
"""Beside the project file: the store, the runs' results, baselines and tables."""
_IGNORED = """\
# Made by agentmut. Stored trials may hold what users, tools and models said, so git leaves them out.
# Baselines hold pass rates only: a repository may keep them.
*
!baselines/
!baselines/*
"""


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents. From `.agentmut` downwards, only the owner can read them.

    `.agentmut` gets mode 0700 and a `.gitignore` of its own when it has none yet: whoever opens it to others
    afterwards keeps it open. Raises `OSError`.
    """
    root = next((path for path in (folder, *folder.parents) if path.name == PRIVATE_FOLDER), None)
    if root is not None:
        root.mkdir(parents=True, exist_ok=True)
        _close(root)
    folder.mkdir(parents=True, exist_ok=True)


def _close(root: Path) -> None:
    ignore = root / ".gitignore"
    if ignore.exists():
        return
    with suppress(
        OSError
    ):  # of somebody else, who decides who may read it; or on a disk that cannot be written
        root.chmod(0o700)
        write_private(ignore, _IGNORED)


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
    return os.open(path, flags, 0o600)
