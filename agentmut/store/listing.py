"""All stored trials of a project, whatever run they belong to, for who wants to read them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from agentmut.store.connections import Connections
from agentmut.store.rows import StoredTrial, TrialHead
from agentmut.store.schema import trials
from agentmut.store.used_trials import in_batches, trials_used

Read = Callable[[Mapping[Any, Any]], StoredTrial]


class Listing:
    """The trials of one store, one after the other; those in quarantine and those without evidence included."""

    def __init__(self, connections: Connections, read: Read) -> None:
        self._connections = connections
        self._read = read

    def found(self, scenario: str | None = None, mutant: str | None = None) -> Iterator[StoredTrial]:
        """Yield the trials of a scenario and of the mutant whose id begins so (empty: the original); None: of all."""
        query = select(trials).order_by(trials.c.id)
        if scenario is not None:
            query = query.where(trials.c.scenario == scenario)
        if mutant is not None:
            same = trials.c.mutant.startswith(mutant, autoescape=True) if mutant else trials.c.mutant == ""
            query = query.where(same)
        yield from self._connections.rows(query, self._read)

    def has_mutants(self) -> bool:
        """Return whether a trial of a mutant is stored."""

        def found(connection: Connection) -> bool:
            query = select(trials.c.id).where(trials.c.mutant != "").limit(1)
            return connection.execute(query).first() is not None

        return self._connections.read(found)

    def heads(
        self, run: str, mutant: str, most: int | None = None, besides: Collection[str] = ()
    ) -> list[TrialHead]:
        """Return the identities of what `Store.trials_of` reads, in the same order."""
        query = trials_used(run, mutant, most, besides, *TrialHead._fields)
        return self._connections.every(query, lambda row: TrialHead(**row))

    def some(self, numbers: Iterable[int]) -> Iterator[StoredTrial]:
        """Yield the trials in these rows in the given order, a page of them in memory."""
        for page in in_batches(numbers):
            query = select(trials).where(trials.c.id.in_(page))
            found = {trial.id: trial for trial in self._connections.every(query, self._read)}
            yield from (found[number] for number in page if number in found)

    def trial(self, number: int) -> StoredTrial | None:
        """Return the trial in this row."""

        def found(connection: Connection) -> StoredTrial | None:
            row = connection.execute(select(trials).where(trials.c.id == number)).mappings().first()
            return self._read(row) if row else None

        return self._connections.read(found)
