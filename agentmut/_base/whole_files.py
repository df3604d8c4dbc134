"""Files that are written whole or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel

from agentmut._base.errors import StoreError
from agentmut._base.frozen import storable_json
from agentmut._base.private_files import make_private_folder, write_private


def write_json(model: BaseModel, path: Path, remedy: str) -> Path:
    """Write a model as JSON that only the owner can read.

    Raises `StoreError`: the trials are in the store, and `remedy` says how to go on.
    """
    scratch = _scratch(path)
    try:
        make_private_folder(path.parent)
        write_private(scratch, storable_json(model, indent=2, by_alias=True) + "\n")
        scratch.replace(path)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink()
        raise StoreError(
            f"cannot write {path}: {error}. The trials are in the store: make room, then {remedy}."
        ) from error
    return path


def _scratch(path: Path) -> Path:
    """Return a name beside a file that is nobody's, and that nobody can put a link at beforehand."""
    return path.with_name(f".agentmut-{secrets.token_hex(16)}")


def write_whole(path: Path, content: bytes) -> None:
    """Write a user's file whole or not at all, with the permissions that it has. Raises `OSError`."""
    path = path.resolve()  # a link stays a link
    scratch = _scratch(path)
    try:
        scratch.write_bytes(content)
        if path.exists():
            shutil.copymode(path, scratch)
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


def refuse_read_only(path: Path) -> None:
    """Raise `PermissionError` for a file that its owner made read-only: replacing it would not ask for that."""
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only", str(path))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock for the block. It goes with the process, however that ends.

    Raises `StoreError` when another process holds it. Systems without `fcntl` are not protected.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        make_private_folder(folder)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror}. Check that the folder is writable and has space."
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreError(
            f"another agentmut command is at work in {folder}. Wait until it ends, or stop it; what it has "
            "finished is kept."
        ) from None
    finally:
        os.close(handle)
