"""Whether the system has killed processes because memory ran out: SIGKILL alone does not say who sent it."""

from pathlib import Path

_COUNTS = Path("/proc/vmstat")


def memory_kills(counts: Path = _COUNTS) -> int | None:
    """Return how many processes Linux has killed for want of memory since it started, in containers too.

    None where the system keeps no such count.
    """
    try:
        words = counts.read_text("ascii").split()
        return int(words[words.index("oom_kill") + 1])
    except (OSError, ValueError, IndexError):
        return None


def lacked_memory_since(before: int | None, counts: Path = _COUNTS) -> bool:
    """Return whether a process may have been killed for want of memory since `before` was counted."""
    now = memory_kills(counts)
    return before is None or now is None or now > before
