"""All stored trials of a project, whatever run they belong to, for who wants to read them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, select

from agentmut.store.rows import StoredTrial
from agentmut.store.schema import trials

Read = Callable[[Mapping[Any, Any]], StoredTrial]


class Listing:
    """The trials of one store, one after the other; those in quarantine and those without evidence included."""

    def __init__(
        self, connection: Connection, reading: Callable[[str], AbstractContextManager[None]], read: Read
    ) -> None:
        self._connection = connection
        self._reading = reading
        self._read = read

    def found(self, scenario: str | None = None, mutant: str | None = None) -> Iterator[StoredTrial]:
        """Yield the trials of a scenario and of the mutant whose id begins so (empty: the original); None: of all."""
        query = select(trials).order_by(trials.c.id)
        if scenario is not None:
            query = query.where(trials.c.scenario == scenario)
        if mutant is not None:
            same = trials.c.mutant.startswith(mutant, autoescape=True) if mutant else trials.c.mutant == ""
            query = query.where(same)
        with self._reading("read"):
            for row in self._connection.execute(query).mappings():
                yield self._read(row)

    def trial(self, number: int) -> StoredTrial | None:
        """Return the trial in this row."""
        with self._reading("read"):
            row = self._connection.execute(select(trials).where(trials.c.id == number)).mappings().first()
            return self._read(row) if row else None
