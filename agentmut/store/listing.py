"""All stored trials of a project, whatever run they belong to, for who wants to read them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from agentmut.store.connections import Connections
from agentmut.store.rows import StoredTrial
from agentmut.store.schema import trials

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

    def trial(self, number: int) -> StoredTrial | None:
        """Return the trial in this row."""

        def found(connection: Connection) -> StoredTrial | None:
            row = connection.execute(select(trials).where(trials.c.id == number)).mappings().first()
            return self._read(row) if row else None

        return self._connections.read(found)
