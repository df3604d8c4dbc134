"""The reports of runs in the store, for who reads it on another machine: the documents that stand in a run's folder."""

import zlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import Connection, Table, select

from agentmut._base import StoreError, storable_json
from agentmut.store.connections import Connections, driver_error
from agentmut.store.schema import reports, runs

RESULT, VERDICTS, RELATIONS = "result.json", "verdicts.json", "relations.json"
COVERAGE, RESCORED, SURVIVORS = "coverage.json", "rescored.json", "survivors.json"
"""Documents that verbs make of a campaign when it has ended. `SURVIVORS` is the latest check of relations on its
survivors."""
REFUSED = ("42501", "25006")
"""What a server says to a role that may not write, and of itself where it takes no writes."""
OWN = (RESULT, VERDICTS, RELATIONS)
"""Documents that runs themselves report."""


class KeptReport(NamedTuple):
    """A document of a run, as the store has it."""

    run: str
    name: str
    """The name of its file in the folder of the run."""
    text: str
    """JSON."""


class Reports:
    """The reports of one store."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        new = connections.upsert(reports)
        self._keep = new.on_conflict_do_update(
            index_elements=["run", "name"], set_={"content": new.excluded.content}
        )

    def keep(self, run: str, name: str, report: BaseModel) -> None:
        """Keep a document of a run that the store knows; it replaces an earlier one. Raises `StoreError`."""
        content = zlib.compress(storable_json(report, by_alias=True).encode())
        row = {"run": run, "name": name, "content": content}
        self._connections.write(lambda connection: connection.execute(self._keep, row))

    def keep_later(self, run: str, name: str, report: BaseModel) -> None:
        """Keep a document that a verb makes of an earlier run, and prints too. Raises `StoreError`.

        A store that does not know the run any more keeps nothing, and so does one that takes no writes of this user.
        """
        known = select(runs.c.id).where(runs.c.id == run)
        if self._connections.read(lambda connection: connection.execute(known).first()) is None:
            return
        try:
            self.keep(run, name, report)
        except StoreError as error:
            if not _takes_no_writes(error):
                raise


def reports_in(
    connection: Connection, table: Table, names: Collection[str], without: Collection[str] = (), run: str = ""
) -> Iterator[KeptReport]:
    """Yield the documents with these names, of one run or of all runs but those `without`, in the order of the ids."""
    known = (
        select(table.c.run, table.c.name).where(table.c.name.in_(names)).order_by(table.c.run, table.c.name)
    )
    if run:
        known = known.where(table.c.run == run)
    for of, name in connection.execute(known).all():
        if of not in without:
            one = select(table.c.content).where(table.c.run == of, table.c.name == name)
            content: Any = connection.execute(one).scalar()
            if content is not None:  # nobody has cleaned the store meanwhile
                yield KeptReport(of, name, zlib.decompress(content).decode())


def _takes_no_writes(error: StoreError) -> bool:
    """Return whether this user may not write: a role that only reads, or a disk that cannot be written."""
    said = driver_error(error.__cause__ or error)
    return getattr(said, "sqlstate", None) in REFUSED or "readonly" in str(said)
