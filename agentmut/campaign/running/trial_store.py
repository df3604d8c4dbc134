"""What the loop asks of a store."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentmut.store import Claims, Spent, StoredTrial


class TrialStore(Protocol):
    """What the loop asks of a store: see `Store`."""

    def find(self, key: str, run: str = "") -> StoredTrial | None:
        """Return the finished trial with this key."""
        ...

    def save(
        self,
        run: str,
        finished: Sequence[StoredTrial],
        reused_ids: Sequence[int] = (),
        seconds: float | None = None,
        judges_usd: float = 0.0,
    ) -> None:
        """Keep finished trials, and which ones were taken over."""
        ...

    def claims(self, run: str) -> Claims:
        """Return which trials the run is executing, for other runs on the same store to see."""
        ...

    def forget(self, run: str) -> None:
        """Hide this run's trials that never began from `find`."""
        ...

    def spent(self, run: str) -> Spent:
        """Return what a run has executed before."""
        ...

    def waits(self) -> Mapping[str, Sequence[float]]:
        """Return how long the latest trials waited for model services, by scenario, in seconds."""
        ...
