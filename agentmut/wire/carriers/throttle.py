"""A limit on model requests per minute, for clients in any thread or event loop."""

import threading
import time
from collections.abc import Callable, Mapping

ALL = "*"
"""Stands for all services together."""

PerMinute = float | Mapping[str, float]
"""Requests in a minute: of all services together, or of each host."""


def shared_rate(limit: PerMinute | None, parts: int) -> PerMinute | None:
    """Return the rate of one of several processes that keep to a limit together: equal parts.

    >>> shared_rate({"api.openai.com": 60}, 4)
    {'api.openai.com': 15.0}
    """
    if limit is None:
        return None
    if isinstance(limit, Mapping):
        return {host: rate / parts for host, rate in limit.items()}
    return limit / parts


def slowest_rate(limit: PerMinute | None) -> float | None:
    """Return the rate at which a trial may have to send its requests; None without a limit."""
    return min(limit.values(), default=None) if isinstance(limit, Mapping) else limit


class Throttle:
    """Spaces requests evenly: all of them together, or those of each service that has a limit.

    >>> throttle = Throttle(60, clock=lambda: 0.0)
    >>> [throttle.reserve() for _ in range(3)]
    [0.0, 1.0, 2.0]
    >>> throttle = Throttle({"api.openai.com": 60, "api.anthropic.com": 30}, clock=lambda: 0.0)
    >>> [throttle.reserve(host) for host in 2 * ("api.openai.com", "api.anthropic.com", "localhost")]
    [0.0, 0.0, 0.0, 1.0, 2.0, 0.0]
    """

    def __init__(self, per_minute: PerMinute, clock: Callable[[], float] = time.monotonic) -> None:
        limits = per_minute if isinstance(per_minute, Mapping) else {ALL: per_minute}
        self._spacing = {host: 60 / limit for host, limit in limits.items()}
        self._clock = clock
        self._next = dict.fromkeys(limits, clock())
        self._lock = threading.Lock()

    def reserve(self, host: str = "") -> float:
        """Take the next place under the limit of a service; return the seconds to wait for it."""
        limited = ALL if ALL in self._spacing else host
        if limited not in self._spacing:
            return 0.0
        with self._lock:
            now = self._clock()
            due = max(now, self._next[limited])
            self._next[limited] = due + self._spacing[limited]
        return due - now
