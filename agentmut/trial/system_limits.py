"""Limits of the system for the process that trials share: code of users may not lower them there."""

import os
from collections.abc import Callable
from typing import Any

from agentmut.recording import AgentExitError, runs_users_code

resource: Any
try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None


def guarded_setrlimit(original: Callable[[int, tuple[int, int]], None]) -> Callable[..., None]:
    """Refuse to lower a limit of the system, such as `RLIMIT_AS`: it holds for the store and for other trials, too."""
    process = os.getpid()

    def limit(number: int, limits: tuple[int, int], /) -> None:
        if runs_users_code() and os.getpid() == process and _is_lower(number, limits):
            raise AgentExitError(
                f"the limit {_limit_name(number)} of the process was lowered to {limits[0]!r}"
            )
        original(number, limits)

    return limit


def _is_lower(number: int, limits: tuple[int, int]) -> bool:
    """Return whether new limits are lower than the present ones; False for a value that is no pair of limits."""
    try:
        now = resource.getrlimit(number)
        return any(_as_number(new) < _as_number(old) for new, old in zip(limits, now, strict=True))
    except (OSError, TypeError, ValueError):
        return False


def _as_number(limit: int) -> float:
    return float("inf") if limit == resource.RLIM_INFINITY else limit


def _limit_name(number: int) -> str:
    names = (name for name in vars(resource) if name.startswith("RLIMIT_"))
    return next((name for name in names if getattr(resource, name) == number), str(number))
