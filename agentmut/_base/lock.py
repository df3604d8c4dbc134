"""One campaign at a time on one store: two would run the same trials twice."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentmut._base.errors import StoreError


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
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
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
