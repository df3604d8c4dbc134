"""The part of a store that the loop uses."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentmut.nouns import HookUse
from agentmut.store import Claims, Spent, StoredTrial


class TrialStore(Protocol):
    """The part of a store that the loop uses: see `Store`."""

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
        hook_uses: Sequence[HookUse] = (),
    ) -> None:
        """Store finished trials, and the ids of reused trials."""
        ...

    def claims(self, run: str) -> Claims:
        """Return the run's claims: the trials that it is executing, visible to other runs on the store."""
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
