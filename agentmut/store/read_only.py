"""Reads which runs a store knows and what they reported. Changes nothing: makes no table, and migrates none."""

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, MetaData, create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from agentmut._base import StoreError
from agentmut.store.address import StoreUrl, Where
from agentmut.store.connections import Database
from agentmut.store.explanation import OF_FILES, explanation
from agentmut.store.reports import OWN, KeptReport, reports_in
from agentmut.store.schema import reports
from agentmut.store.store import database_of

T = TypeVar("T")

_SCHEMA = re.compile(r"agentmut_([a-z0-9][a-z0-9_]*)")
_RUNS = "SELECT id, status FROM {schema}runs ORDER BY started, id"
_TRIALS = "SELECT run, count(*) FROM {schema}trials GROUP BY run"


class ListedRun(NamedTuple):
    """A run as the store knows it."""

    id: str
    status: str
    trials: int
    """Trials that the run executed itself."""


def listed_runs(where: Where) -> dict[str, tuple[ListedRun, ...]]:
    """Return the runs of a store, the earliest first, by the name of their project.

    A file holds one project, whose name is empty. A database holds those projects that its user may read. Raises
    `StoreError` for a store that is not there or cannot be read.
    """
    if isinstance(where, StoreUrl):
        return _of_server(where, _runs_by_project)
    return {"": _of_file(where, lambda connection: _runs_in(connection, ""))} if where.is_file() else {}


def kept_reports(
    where: Where,
    project: str,
    without: Collection[str] = (),
    *,
    names: Collection[str] = OWN,
    run: str = "",
) -> tuple[KeptReport, ...]:
    """Return the documents with these names that a store has of a project's runs; none in an older store.

    They are those of `run`, or of all runs but those `without`. Raises `StoreError` for a store that is not there or
    cannot be read.
    """
    schema = f"agentmut_{project}" if isinstance(where, StoreUrl) else None

    def found(connection: Connection) -> tuple[KeptReport, ...]:
        if not _may_read(connection, schema, "reports"):
            return ()
        table = reports if schema is None else reports.to_metadata(MetaData(), schema=schema)
        return tuple(reports_in(connection, table, names, without, run))

    if isinstance(where, StoreUrl):
        return _of_server(where, found)
    return _of_file(where, found) if where.is_file() else ()


def _of_file(path: Path, read: Callable[[Connection], T]) -> T:
    engine = create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            return read(connection)
    except SQLAlchemyError as error:
        raise StoreError(explanation(str(path), "read", error, OF_FILES)) from None
    finally:
        engine.dispose()


def _of_server(where: StoreUrl, read: Callable[[Connection], T]) -> T:
    server: Database = database_of(where)
    try:
        with server.engine.connect() as connection:
            connection.execute(text("SET TRANSACTION READ ONLY"))
            return read(connection)
    except SQLAlchemyError as error:
        raise StoreError(server.explained("read", error)) from None
    finally:
        server.engine.dispose()


def _projects(connection: Connection) -> list[str]:
    """Return the projects whose tables the user of the database may read."""
    found = (_SCHEMA.fullmatch(schema) for schema in inspect(connection).get_schema_names())
    names = sorted(match[1] for match in found if match)
    return [name for name in names if _may_read(connection, f"agentmut_{name}", "runs", "trials")]


def _may_read(connection: Connection, schema: str | None, *tables: str) -> bool:
    """Return whether the tables are there and the user may read them; a file has no schema."""
    if schema is None:
        return all(inspect(connection).has_table(table) for table in tables)
    may_use = text("SELECT has_schema_privilege(:schema, 'USAGE')")
    if not connection.execute(may_use, {"schema": schema}).scalar_one():
        return False
    may_read = text(
        "SELECT count(*) FROM pg_tables WHERE schemaname = :schema AND tablename = ANY(:tables) AND "
        "has_table_privilege(quote_ident(schemaname) || '.' || tablename, 'SELECT')"
    )
    found = connection.execute(may_read, {"schema": schema, "tables": list(tables)}).scalar_one()
    return int(found) == len(tables)


def _runs_by_project(connection: Connection) -> dict[str, tuple[ListedRun, ...]]:
    return {name: _runs_in(connection, f'"agentmut_{name}".') for name in _projects(connection)}


def _runs_in(connection: Connection, schema: str) -> tuple[ListedRun, ...]:
    rows: Any = connection.execute(text(_RUNS.format(schema=schema))).all()
    counted: Any = connection.execute(text(_TRIALS.format(schema=schema))).all()
    counts: dict[str, int] = dict(counted)
    return tuple(ListedRun(run, status, counts.get(run, 0)) for run, status in rows)
