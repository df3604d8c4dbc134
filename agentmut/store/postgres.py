"""A store in a PostgreSQL database: any number of processes read and write it at once.

Each project has a schema of its own, so that a role is given the trials of a project by grants on its schema.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, Select, create_engine, event, inspect, text
from sqlalchemy.dialects.postgresql.psycopg import dialect
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from agentmut._base import StoreError, UsageError
from agentmut.store.address import StoreUrl
from agentmut.store.connections import Links, driver_error
from agentmut.store.explanation import OF_SERVERS, explanation
from agentmut.store.migrating import VERSION, make_tables, migrate, stored_version

PATIENCE = 20.0
"""Seconds for which a server that is away is waited for; `AGENTMUT_STORE_PATIENCE` says otherwise."""
AWAY = ("57P01", "57P02", "57P03", "57P05", "08000", "08001", "08003", "08004", "08006", "08P01")
"""What the server says of itself when it stops, starts or ends an idle connection, and what the driver or a pooler says
of a lost connection."""
SETTINGS = {"application_name": "agentmut", "connect_timeout": "10"}
"""A connection has these settings unless the URL says otherwise; its other options, such as TLS, go to libpq."""
ALIVE = {"keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3"}
"""A server whose machine is gone is noticed within half a minute, and the server notices a lost client."""


class PostgresServer:
    """The schema of one project in a database, read and written by two connections.

    Reading commits nothing, so that a long run keeps no transaction open between two trials.
    """

    def __init__(self, address: StoreUrl) -> None:
        self._address = address
        self.shown = address.shown
        self.patience = float(os.environ.get("AGENTMUT_STORE_PATIENCE") or PATIENCE)
        try:
            self.engine = create_engine(
                address.for_driver,
                connect_args=_settings(address.url),
                pool_size=3,
                use_native_hstore=False,  # asking for its number is a round trip
            )
        except (ImportError, NoSuchModuleError):
            raise UsageError(
                f"the store {self.shown} needs a driver. Install with: pip install 'agentmut[postgres]'"
            ) from None
        except ArgumentError:
            raise UsageError(f"the URL of the store {self.shown} cannot be read.") from None
        event.listen(self.engine, "connect", self._in_schema)

    def open(self) -> Links:
        """Connect; make the project's schema and its tables, or bring them to today's format."""
        reading = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if self._version(reading) != VERSION:
            with self.engine.begin() as connection:
                self._prepare(connection)
        return Links(reading, self.engine.connect())

    def first(
        self, link: Connection, query: Select[Any], values: Mapping[str, Any]
    ) -> Mapping[Any, Any] | None:
        """Return the first row of a query.

        The driver runs it, and the server plans it once: what SQLAlchemy adds takes longer than the server needs.
        """
        driver = link.connection.driver_connection
        assert driver is not None
        row = driver.execute(_compiled(query), values, prepare=True).fetchone()
        return dict(zip(query.selected_columns.keys(), row, strict=True)) if row else None

    def insert_all(self, writing: Connection, statement: Insert, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows with the same keys."""
        writing.execute(statement, list(rows))

    @contextmanager
    def many(self, link: Connection) -> Iterator[Connection]:
        """Lend a connection of its own: rows are fetched in a transaction."""
        with link.engine.connect() as connection:
            yield connection

    def alone(self, writing: Connection) -> None:
        """Keep other writers of trials out until the transaction ends."""
        writing.execute(text("LOCK TABLE trials, footprints, reused IN SHARE ROW EXCLUSIVE MODE"))

    def compact(self, links: Links) -> None:
        """Leave the room to the server: its autovacuum gives it to new rows."""

    def is_away(self, error: Exception) -> bool:
        """Return whether the server cannot be reached, or has ended the connection."""
        said = driver_error(error)
        state = getattr(said, "sqlstate", None)
        if state is not None:
            return state in AWAY
        unreachable = type(said).__name__ == "OperationalError" and not _is_refusal(str(said))
        return unreachable or getattr(error, "connection_invalidated", False)

    def explained(self, doing: str, error: Exception) -> str:
        """Return one paragraph: what could not be done, why, and the remedy."""
        return explanation(self.shown, doing, error, OF_SERVERS)

    def _in_schema(self, driver: Any, _record: object) -> None:
        before, driver.autocommit = driver.autocommit, True
        driver.execute(f'SET search_path TO "{self._address.schema}"')
        driver.autocommit = before

    def _prepare(self, connection: Connection) -> None:
        schema = self._address.schema
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": schema})
        version = self._version(connection)  # another process may have made them just now
        if version:
            migrate(connection, version)
        else:
            if schema not in inspect(connection).get_schema_names():
                connection.execute(text(f'CREATE SCHEMA "{schema}"'))
            self._refuse_foreign_tables(connection)
            make_tables(connection)

    def _version(self, connection: Connection) -> int:
        found = stored_version(connection, self._address.schema)
        if found not in range(VERSION + 1):
            raise StoreError(
                f"{self.shown} was written by another version of agentmut (format {found}, this one reads up to "
                f"{VERSION}). Use that version, or give the store another `project`."
            )
        return found

    def _refuse_foreign_tables(self, connection: Connection) -> None:
        if tables := inspect(connection).get_table_names(schema=self._address.schema):
            raise StoreError(
                f"the schema {self._address.schema} of {self.shown} holds tables of something else ({tables[0]}). "
                "Give the store another `project`."
            )


@cache
def _compiled(query: Select[Any]) -> bytes:
    """Return a query as the driver takes it. Compiled once: queries that ask for it are constants of a module."""
    return str(query.compile(dialect=dialect())).encode()  # type: ignore[no-untyped-call]  # SQLAlchemy's dialect has no types


def _is_refusal(text: str) -> bool:
    """Return whether a server that was reached does not let us in; waiting makes no difference then."""
    refusals = (
        "authentication",
        "does not exist",
        "no pg_hba",
        "certificate",
        "SSL",
        "too many",
        "permission",
    )
    return any(word in text for word in refusals)


def _settings(url: str) -> dict[str, str]:
    return {name: value for name, value in (SETTINGS | ALIVE).items() if f"{name}=" not in url}
