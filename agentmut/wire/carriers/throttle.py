"""A limit on model requests per minute, for clients in any thread or event loop."""

import threading
import time
from collections.abc import Callable


class Throttle:
    """Spaces requests evenly.

    >>> throttle = Throttle(per_minute=60, clock=lambda: 0.0)
    >>> [throttle.reserve() for _ in range(3)]
    [0.0, 1.0, 2.0]
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._spacing = 60 / per_minute
        self._clock = clock
        self._next = clock()
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Take the next place under the limit; return the seconds to wait for it."""
        with self._lock:
            now = self._clock()
            due = max(now, self._next)
            self._next = due + self._spacing
        return due - now
