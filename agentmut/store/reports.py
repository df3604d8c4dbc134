"""The reports of runs in the store, for who reads it on another machine: the documents that stand in a run's folder."""

import zlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import Connection, Table, select

from agentmut._base import storable_json
from agentmut.store.connections import Connections
from agentmut.store.schema import reports

RESULT, VERDICTS, RELATIONS = "result.json", "verdicts.json", "relations.json"


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


def reports_in(connection: Connection, table: Table, without: Collection[str]) -> Iterator[KeptReport]:
    """Yield the documents of all runs but those `without`, in the order of the runs' ids."""
    known = select(table.c.run, table.c.name).order_by(table.c.run, table.c.name)
    for run, name in connection.execute(known).all():
        if run not in without:
            one = select(table.c.content).where(table.c.run == run, table.c.name == name)
            content: Any = connection.execute(one).scalar()
            if content is not None:  # nobody has cleaned the store meanwhile
                yield KeptReport(run, name, zlib.decompress(content).decode())
