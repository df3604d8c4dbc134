"""The turns of several runs that work on one store at once: each trial is executed by one of them."""

import asyncio
from collections.abc import Callable, Iterable

from agentmut.store import Claims, StoredTrial

PAUSE = 0.2
"""Seconds between two looks for a trial that another run executes."""
MOST_WAITING = 4
"""Trials that are waited for, as a multiple of those that run at the same time."""


class Turns:
    """The turns of one run."""

    def __init__(self, claims: Claims, concurrency: int) -> None:
        self._claims = claims
        self._concurrency = concurrency
        self._waiting = 0

    def has_room(self, under_way: int) -> bool:
        """Return whether one more trial may begin; a trial that another run executes needs no room here."""
        most = MOST_WAITING * self._concurrency
        return under_way - self._waiting < self._concurrency and self._waiting < most

    async def take_turn(self, key: str, find: Callable[[], StoredTrial | None]) -> StoredTrial | None:
        """Wait for a trial's turn. Return None if this run executes it, else the trial that `find` has."""
        if not self._claims.shared:
            return None
        if not self._claims.take(key):
            self._waiting += 1
            try:
                while not self._claims.take(key):
                    await asyncio.sleep(PAUSE)
                    if stored := find():
                        return stored
            finally:
                self._waiting -= 1
        if stored := find():  # stored between the first look and the claim
            self._claims.release([key])
        return stored

    def release(self, keys: Iterable[str]) -> None:
        """Release the trials that are stored now to other runs."""
        if self._claims.shared:
            self._claims.release(keys)
