"""Trials that an outage of a service has spoiled: they stay in the store with the reason, and are no evidence."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from agentmut.store.connections import Connections
from agentmut.store.schema import quarantined, trials


class QuarantinedTrials(NamedTuple):
    """Trials that a run has set aside together."""

    reason: str
    trials: int
    since: float
    """When the first of them ended, in seconds since the epoch."""
    until: float
    """When the last of them ended."""


def sound() -> ColumnElement[bool]:
    """Return the condition that a trial is not in quarantine."""
    return trials.c.id.not_in(select(quarantined.c.trial))


class Quarantine:
    """The quarantine of one store."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, run: str, keys: Iterable[str], reason: str) -> int:
        """Set the trials aside that `run` has executed under these keys. Return how many that are."""
        wanted = trials.c.key.in_(list(dict.fromkeys(keys)))
        query = select(trials.c.id).where(trials.c.run == run, wanted, sound())
        keep = self._connections.upsert(quarantined).on_conflict_do_nothing()

        def added(connection: Connection) -> int:
            found = connection.execute(query).scalars().all()
            if found:
                connection.execute(keep, [{"trial": id, "reason": reason} for id in found])
            return len(found)

        return self._connections.write(added)

    def set_aside_by(self, run: str) -> tuple[QuarantinedTrials, ...]:
        """Return what the run has set aside, in order."""
        query = (
            select(
                quarantined.c.reason,
                func.count(),
                func.min(trials.c.finished),
                func.max(trials.c.finished),
            )
            .join(trials, trials.c.id == quarantined.c.trial)
            .where(trials.c.run == run)
            .group_by(quarantined.c.reason)
            .order_by(func.min(trials.c.id))
        )
        return self._connections.read(
            lambda connection: tuple(QuarantinedTrials(*row) for row in connection.execute(query))
        )

    def reasons(self) -> dict[int, str]:
        """Return why each trial in quarantine is there, by the trial's row."""
        query = select(quarantined.c.trial, quarantined.c.reason)
        return self._connections.read(
            lambda connection: {row.trial: row.reason for row in connection.execute(query)}
        )
