"""Limits of this process, as `resource.setrlimit` sets them, that code of users has lowered since it began."""

import errno
import mmap
import sys
from collections.abc import Iterator

_NAMES = (
    "RLIMIT_AS",
    "RLIMIT_DATA",
    "RLIMIT_FSIZE",
    "RLIMIT_NOFILE",
    "RLIMIT_NPROC",
    "RLIMIT_STACK",
    "RLIMIT_CPU",
)
_OF_MEMORY = frozenset({"RLIMIT_AS", "RLIMIT_DATA"})
_NEEDED_BYTES = 16 << 20
"""Memory without which no campaign goes on."""
_REFUSALS = frozenset(
    {errno.EMFILE, errno.EBADF, errno.EFBIG, errno.ENOMEM, errno.EAGAIN, errno.EIO, errno.ENOSPC}
)
"""What the system answers where a limit is reached; some calls and SQLite say it in other words."""


def _limits() -> dict[str, float]:
    if sys.platform == "win32":
        return {}
    import resource

    found: dict[str, float] = {}
    for name in _NAMES:
        if (number := getattr(resource, name, None)) is not None:
            soft, _ = resource.getrlimit(number)
            found[name] = float("inf") if soft == resource.RLIM_INFINITY else soft
    return found


_AT_FIRST = _limits()


def lowered_limits() -> tuple[str, ...]:
    """Return the limits that are lower than at first, as `the limit RLIMIT_AS (to 1000)`."""
    now = _limits()
    return tuple(
        f"the limit {name} (to {now[name]:.0f})" for name, first in _AT_FIRST.items() if now[name] < first
    )


def lacks_memory_by_limit() -> bool:
    """Return whether so little memory is left that no campaign goes on, and a limit of it was lowered."""
    now = _limits()
    if all(now[name] >= _AT_FIRST[name] for name in _OF_MEMORY & set(now)):
        return False
    try:
        mmap.mmap(-1, _NEEDED_BYTES, flags=mmap.MAP_PRIVATE).close()  # what is shared is no data
    except OSError:
        return True
    return False


def refusal_in(error: BaseException) -> BaseException | None:
    """Return the first cause of an error that is what the system answers where a limit is reached; None for none."""
    return next(filter(_is_refusal, reversed(list(_with_causes(error)))), None)


def _is_refusal(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _REFUSALS
    no_thread = isinstance(error, RuntimeError) and "start new thread" in str(error)
    in_store = type(error).__module__ == "sqlite3" and type(error).__name__ == "OperationalError"
    return no_thread or in_store or isinstance(error, MemoryError)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__
