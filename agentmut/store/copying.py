"""Copies a whole store into an empty one of any kind, and proves the copy by a digest for each table."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, LargeBinary, Table, func, insert, select, text

from agentmut._base import StoreError, UsageError
from agentmut.store.address import Where
from agentmut.store.connections import Connections
from agentmut.store.rows import plain_text
from agentmut.store.schema import alembic_version, claims, metadata
from agentmut.store.store import database_of

TABLES: tuple[Table, ...] = tuple(
    table for table in metadata.sorted_tables if table not in (alembic_version, claims)
)
"""All tables of a store but what is under way, each after those that it refers to."""
AT_ONCE = 500


class CopiedTable(NamedTuple):
    """A table with the same content in both stores."""

    name: str
    rows: int
    digest: str
    """SHA-256 over all rows, in the order of the primary key."""


def copy_store(source: Where, target: Where) -> list[CopiedTable]:
    """Copy every table with its numbers into an empty store, in one transaction; all tables or none.

    Raises `UsageError` for a target that holds rows, and `StoreError` if a table would not be the same.
    """
    with ExitStack() as held:
        theirs = Connections(database_of(source))
        held.callback(theirs.close)
        if isinstance(target, Path) and not target.exists():
            held.push(partial(_removed_on_failure, target))
        ours = Connections(database_of(target))
        held.callback(ours.close)
        return ours.write(lambda connection: [_copied(theirs, connection, table) for table in TABLES])


def _removed_on_failure(target: Path, kind: object, *_: object) -> None:
    """Remove a file that holds no copy, such as on a full disk."""
    if kind is not None:
        for beside in ("", "-wal", "-shm", "-journal"):
            target.with_name(target.name + beside).unlink(missing_ok=True)


def _copied(theirs: Connections, connection: Connection, table: Table) -> CopiedTable:
    if connection.execute(select(func.count()).select_from(table)).scalar_one():
        raise UsageError(
            f"the target store is not empty: its table {table.name} has rows. Name the file of a new store, or give "
            "the project another --name in the database."
        )
    read = hashlib.sha256()
    rows = 0
    for some in _batches(theirs, table):
        for row in some:
            _add(read, table, row)
        connection.execute(insert(table), some)
        rows += len(some)
    _go_on_counting(connection, table)
    written = hashlib.sha256()
    for again in connection.execute(_ordered(table).execution_options(yield_per=AT_ONCE)).mappings():
        _add(written, table, dict(again))
    if read.digest() != written.digest():
        raise StoreError(f"the copy of {table.name} differs from the table: nothing was copied.")
    return CopiedTable(table.name, rows, written.hexdigest())


def _batches(theirs: Connections, table: Table) -> Iterator[Sequence[dict[str, Any]]]:
    some: list[dict[str, Any]] = []
    for row in theirs.rows(_ordered(table), dict):
        some.append({column.name: _storable(column, row[column.name]) for column in table.c})
        if len(some) == AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _storable(column: Column[Any], value: Any) -> Any:
    """Return a value in a form for every database. A SQLite file may hold text where bytes are declared."""
    if isinstance(value, str):
        return value.encode() if isinstance(column.type, LargeBinary) else plain_text(value)
    return value


def _ordered(table: Table) -> Any:
    return select(table).order_by(*table.primary_key.columns)


def _add(digest: "hashlib._Hash", table: Table, row: dict[str, Any]) -> None:
    """Add a row to a digest; numbers, texts and bytes differ, and so do their borders."""
    digest.update(repr([row[column.name] for column in table.c]).encode("utf-8", "surrogatepass"))


def _go_on_counting(connection: Connection, table: Table) -> None:
    """Let the numbers of new rows follow the copied ones, if a server counts them separately."""
    if connection.dialect.name == "postgresql" and table.autoincrement_column is not None:
        name = table.autoincrement_column.name
        newest = connection.execute(select(func.max(table.c[name]))).scalar()
        if newest is not None:
            sequence = text("SELECT setval(pg_get_serial_sequence(:table, :name), :newest)")
            connection.execute(sequence, {"table": table.name, "name": name, "newest": newest})
