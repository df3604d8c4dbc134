"""A store in one file of SQLite: a write-ahead log with synchronous NORMAL.

What a write has returned from survives SIGKILL (not a power cut).
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Insert, Select, create_engine, event, text
from sqlalchemy.dialects.sqlite import dialect

from agentmut._base import StoreError, make_private_folder, touch_private
from agentmut.store.connections import Links
from agentmut.store.explanation import OF_FILES, explanation
from agentmut.store.migrating import VERSION, make_tables, migrate

_SWITCHES = 100
"""How often a switch to the write-ahead log is tried, 50 ms apart."""


class SqliteFile:
    """One `store.db`; read and written by the same connection."""

    patience = 0.0

    def __init__(self, path: Path) -> None:
        self._path = path
        self.shown = str(path)
        self.engine = create_engine(f"sqlite:///{path}")
        event.listen(self.engine, "connect", _make_durable)

    def open(self) -> Links:
        """Open the file; make the tables of a new store, or bring those of an earlier format to today's."""
        make_private_folder(self._path.parent)
        touch_private(self._path)
        connection = self.engine.connect()
        self._prepare(connection)
        return Links(connection, connection)

    def first(
        self, link: Connection, query: Select[Any], values: Mapping[str, Any]
    ) -> Mapping[Any, Any] | None:
        """Return the first row of a query.

        The driver runs it: looking takes SQLite a few microseconds, everything around it ten times as long.
        """
        driver = link.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        row = driver.execute(_compiled(query), dict(values)).fetchone()
        return dict(zip(query.selected_columns.keys(), row, strict=True)) if row else None

    def insert_all(self, writing: Connection, statement: Insert, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows with the same keys; the driver takes them unconverted, as all their types are its own."""
        compiled, values = _compiled_insert(statement, tuple(rows[0]))
        writing.exec_driver_sql(compiled, [values(row) for row in rows])

    @contextmanager
    def many(self, link: Connection) -> Iterator[Connection]:
        """Lend the one connection."""
        yield link

    def alone(self, writing: Connection) -> None:
        """Do nothing: a file has one writer at a time."""

    def compact(self, links: Links) -> None:
        """Make the file as small as its rows."""
        links.writing.execute(text("VACUUM"))
        links.writing.commit()

    def is_away(self, error: Exception) -> bool:
        """Return False: a file is never away for a while."""
        return False

    def explained(self, doing: str, error: Exception) -> str:
        """Return one paragraph: what could not be done, why, and the remedy."""
        return explanation(self.shown, doing, error, OF_FILES)

    def _prepare(self, connection: Connection) -> None:
        if self._version(connection) == VERSION:
            connection.commit()
            return
        connection.execute(text("BEGIN IMMEDIATE"))  # another process may be making them right now
        version = self._version(connection)
        if version:
            migrate(connection, version)
        else:
            self._refuse_foreign_tables(connection)
            make_tables(connection)
        connection.execute(text(f"PRAGMA user_version = {VERSION}"))
        connection.commit()

    def _version(self, connection: Connection) -> int:
        found = int(connection.execute(text("PRAGMA user_version")).scalar_one())
        if found not in range(VERSION + 1):
            raise StoreError(
                f"{self._path} was written by another version of agentmut (format {found}, this one reads up to "
                f"{VERSION}). Use that version, or move the file away and run again without its trials."
            )
        return found

    def _refuse_foreign_tables(self, connection: Connection) -> None:
        if connection.execute(text("SELECT count(*) FROM sqlite_master")).scalar_one():
            raise StoreError(
                f"{self._path} is a database of something else: it is not a store of agentmut. Move it away and "
                "run again."
            )


@cache
def _compiled(query: Select[Any]) -> str:
    """Return a query as the driver takes it. Compiled once: queries that ask for it are constants of a module."""
    return str(query.compile(dialect=dialect(paramstyle="named")))


@cache
def _compiled_insert(insert: Insert, keys: tuple[str, ...]) -> tuple[str, Callable[[Mapping[str, Any]], Any]]:
    """Return an insert as the driver takes it, and what reads the values of a row in their order."""
    return str(insert.compile(dialect=dialect(), column_keys=list(keys))), itemgetter(
        *_in_order(insert, keys)
    )


def _in_order(insert: Insert, keys: tuple[str, ...]) -> list[str]:
    """Return the keys in the order of the table's columns, which is the order of the statement's parameters."""
    return [column.key for column in insert.table.columns if column.key in keys]


def _make_durable(connection: Any, _record: object) -> None:
    """Prepare a new connection: a write-ahead log, a wait for other writers, and 8 MB of cache."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 5000")
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA cache_size = -8000")  # 8 MB: the index of keys is read at random
    cursor.close()


def _write_ahead(cursor: Any) -> None:
    """Use a write-ahead log. SQLite does not wait for others that switch too, so this is tried again."""
    for left in reversed(range(_SWITCHES)):
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if not left:
                raise
            time.sleep(0.05)
