"""Files that are written completely or not at all."""

import errno
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from agentmut._base.errors import DISK_IS_FULL, REFUSALS_OF_THE_SYSTEM, AgentmutError, StoreError, UsageError
from agentmut._base.frozen import storable_json
from agentmut._base.private_files import make_private_folder

_log = logging.getLogger(__name__)
SCRATCH = ".agentmut-whole-"
"""How the name of a file begins that is not in its place yet; those of edits have other names, for a journal."""
LEFT_AFTER = 3600
"""Seconds without a change after which a scratch file that nobody has locked is taken for left."""


def write_json(model: BaseModel, path: Path, remedy: str) -> Path:
    """Write a model as JSON that only the owner can read.

    Raises `StoreError`: the trials are in the store, and `remedy` says how to go on.
    """
    try:
        make_private_folder(path.parent)
        _put(path, [f"{storable_json(model, indent=2, by_alias=True)}\n".encode()], 0o600)
    except OSError as error:
        first = "make room" if error.errno in DISK_IS_FULL else "let this user write there"
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}. The trials are in the store: {first}, then {remedy}."
        ) from error
    return path


def keep_json(model: BaseModel, path: Path, remedy: str) -> None:
    """Write a model as `write_json` does, where the verb prints the same: a disk that cannot be written keeps nothing.

    Raises `StoreError` where the disk could be written and has no room.
    """
    there = next(parent for parent in path.parents if parent.exists())
    if os.access(there, os.W_OK):
        write_json(model, path, remedy)


def unwritten(text: str, error: OSError, remedy: str) -> AgentmutError:
    """Return the error of a user's file that cannot be written: `StoreError` without room, else `UsageError`.

    `text` names the file, and `remedy` is what to do where there is room.
    """
    why = f"{text}: {error.strerror or error}."
    if error.errno in DISK_IS_FULL:
        return StoreError(f"{why} Make room, then give the same command again.")
    if error.errno == errno.EFBIG:
        return StoreError(f"{why} {REFUSALS_OF_THE_SYSTEM[errno.EFBIG]}")
    return UsageError(f"{why} {remedy}")


def write_whole(path: Path, content: bytes) -> None:
    """Write a user's file completely or not at all, with its present permissions. Raise `OSError`.

    A device or a pipe, such as `/dev/null`, is written to and stays what it is.
    """
    if _is_special(path):
        _put_into(path, [content])
    else:
        _put(path.resolve(), [content], None)  # a link stays a link


def write_private_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a private file part by part; it gets its name once it is complete.

    A device or a pipe is written to as parts come. Raises `OSError`, and whatever `parts` raises: then the file is as
    before.
    """
    if _is_special(path):
        _put_into(path, parts)
    else:
        _put(path.resolve(), parts, 0o600)


def _is_special(path: Path) -> bool:
    """Return whether a device, a pipe or a socket stands there: root could replace it by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _put_into(path: Path, content: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(content)


def _put(path: Path, content: Iterable[bytes], mode: int | None) -> None:
    """Write a scratch file and move it to the path; without a mode, it gets the mode of the replaced file."""
    _remove_once(str(path.parent), os.getpid())
    scratch = path.with_name(f"{SCRATCH}{secrets.token_hex(16)}")  # nobody can put a link there beforehand
    replaced = path if mode is None and path.exists() else None
    try:
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode or first_mode(replaced))
        with os.fdopen(handle, "wb") as file:
            take_lock(handle)
            file.writelines(content)
        if replaced is not None:
            give_owner_and_mode(replaced, scratch)
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


def first_mode(replaced: Path | None) -> int:
    """Return the mode of a scratch file while it is written: nobody else may read what replaces a private file."""
    return 0o666 if replaced is None else 0o600


def give_owner_and_mode(replaced: Path, scratch: Path) -> None:
    """Give a scratch file the owner, the group and the mode of the file that it replaces, where the system lets us."""
    was, now = replaced.stat(), scratch.stat()
    if hasattr(os, "chown") and (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        with suppress(OSError):
            os.chown(scratch, was.st_uid, was.st_gid, follow_symlinks=False)
    shutil.copymode(replaced, scratch)


@cache
def _remove_once(folder: str, process: int) -> None:
    """Remove what killed commands left in a folder, once in each process: a folder may hold many files."""
    remove_left(folder)


def remove_left(folder: str) -> None:
    """Remove scratch files of dead writers: they are unlocked, and an hour old."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(SCRATCH) and entry.is_file(follow_symlinks=False):
                _remove_if_left(Path(entry.path))


def _remove_if_left(scratch: Path) -> None:
    with suppress(OSError):  # gone meanwhile, or of another user
        if scratch.lstat().st_mtime > time.time() - LEFT_AFTER:
            return
        handle = os.open(scratch, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if take_lock(handle):
                scratch.unlink()
        finally:
            os.close(handle)


def take_lock(handle: int) -> bool:
    """Lock an open file for this process, without waiting; return whether it now is. The lock goes with the process."""
    try:
        import fcntl
    except ImportError:  # a system without these locks
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def lock_at_once(handle: int, folder: Path) -> None:
    """Lock an open file of a folder for this process. Raise `BlockingIOError` if another process holds the lock.

    A disk without locks, such as some shared folders, is named in the log; nothing is locked there.
    """
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        said = "%s is on a disk without locks (%s). Give only one agentmut command at a time there."
        _log.warning(said, ascii(str(folder)), error.strerror)


def let_go(handle: int, owner: int) -> None:
    """Unlock and close a file that the process `owner` has locked.

    Closing it alone would leave the lock to copies of the process that were forked meanwhile.
    """
    import fcntl

    if os.getpid() == owner:
        with suppress(OSError):  # an agent has closed it
            fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


def refuse_read_only(path: Path) -> None:
    """Raise `PermissionError` for a file that its owner made read-only, since a replacement would ignore that."""
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only", str(path))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock during the block. The lock ends with the process.

    Raises `StoreError` when another process holds it. Systems without `fcntl` are not protected.
    """
    try:
        import fcntl  # noqa: F401  (only whether there is one)
    except ImportError:
        yield
        return
    try:
        make_private_folder(folder)
        handle, owner = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600), os.getpid()
    except FileExistsError:
        kind = "a link to a place that is not there" if folder.is_symlink() else "no folder"
        raise StoreError(f"{folder} is {kind}. Move it away; the command makes a folder there.") from None
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror}. Check that the folder is writable and has space."
        ) from None
    try:
        try:
            lock_at_once(handle, folder)
        except BlockingIOError:
            raise StoreError(
                f"another agentmut command is at work in {folder}. Wait until it ends, or stop it; what it has "
                "finished is kept."
            ) from None
        yield
    finally:
        let_go(handle, owner)
