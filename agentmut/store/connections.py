"""The connections of a store: errors are explained, and a server that is away is waited for."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

import sqlalchemy
from sqlalchemy import Connection, Engine, Select, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from agentmut._base import StoreError

T = TypeVar("T")
Insert = sqlite.Insert | postgresql.Insert
PAUSE = 0.25
"""Seconds between two attempts to reach a server."""
AT_ONCE = 200
"""Rows that are read at a time where there may be many."""


class AwayError(StoreError):
    """The server of a store cannot be reached just now."""


class Links(NamedTuple):
    """The connections of one store; a SQLite file uses one connection for reading and writing."""

    reading: Connection
    writing: Connection


class Database(Protocol):
    """The special parts of one kind of database."""

    @property
    def shown(self) -> str:
        """Return the address for messages, without secrets."""
        ...

    @property
    def engine(self) -> Engine:
        """Return the engine that makes connections."""
        ...

    @property
    def patience(self) -> float:
        """Return the seconds for which an absent server is waited for; 0 for a file."""
        ...

    def open(self) -> Links:
        """Connect, and create or migrate the tables: all or none."""
        ...

    def first(
        self, link: Connection, query: Select[Any], values: Mapping[str, Any]
    ) -> Mapping[Any, Any] | None:
        """Return the first row of a query that runs before every trial."""
        ...

    def insert_all(
        self, writing: Connection, statement: sqlalchemy.Insert, rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Insert rows with the same keys, at least one; trials that ended together are stored so."""
        ...

    @contextmanager
    def many(self, link: Connection) -> Iterator[Connection]:
        """Lend a connection to read any number of rows one by one."""
        ...

    def alone(self, writing: Connection) -> None:
        """Keep other writers out until the transaction ends."""
        ...

    def compact(self, links: Links) -> None:
        """Give the room of deleted rows back."""
        ...

    def is_away(self, error: Exception) -> bool:
        """Return whether an error says that the server cannot be reached."""
        ...

    def explained(self, doing: str, error: Exception) -> str:
        """Return one paragraph: what could not be done, why, and the remedy."""
        ...


class Connections:
    """The connections of one store. Used by one thread at a time."""

    def __init__(self, database: Database, opened: Callable[[Links], None] = lambda links: None) -> None:
        """Open the database; call `opened` whenever the connections are opened anew."""
        self.database = database
        self._opened = opened
        self._links: Links | None = None
        try:
            with self._explained("open"):
                self._links = database.open()
        except BaseException:
            self._drop()
            raise

    @property
    def links(self) -> Links:
        """Return the open connections; open them again if they were lost."""
        if self._links is None:
            links = self.database.open()
            self._opened(links)
            self._links = links
        return self._links

    def close(self) -> None:
        """Release the connections."""
        self._drop()

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads. Raises `StoreError`."""
        return self._patiently(lambda: self._once("read", lambda: work(self.links.reading)))

    def first(
        self, query: Select[Any], values: Mapping[str, Any], read: Callable[[Mapping[Any, Any]], T]
    ) -> T | None:
        """Return what `read` makes of the first row of a query that runs before every trial. Raises `StoreError`."""

        try:  # without the patience of `read`, which takes longer than the query
            row = self.database.first(self.links.reading, query, values)
            return read(row) if row else None
        except Exception:
            return self.read(lambda reading: self._first(reading, query, values, read))

    def _first(
        self,
        reading: Connection,
        query: Select[Any],
        values: Mapping[str, Any],
        read: Callable[[Mapping[Any, Any]], T],
    ) -> T | None:
        row = self.database.first(reading, query, values)
        return read(row) if row else None

    def write(
        self,
        work: Callable[[Connection], T],
        done: Callable[[Connection], T | None] = lambda connection: None,
    ) -> T:
        """Carry `work` out in one durable transaction, and return what it returns. Raises `StoreError`.

        Where the connection is lost, nobody knows whether the transaction has been kept. So `work` is repeated: it has
        to be of a kind that makes no difference when it is done twice, or `done` says what it returned the first time.
        """
        attempts = 0

        def attempt() -> T:
            nonlocal attempts
            attempts += 1
            connection = self.links.writing
            try:
                known = done(connection) if attempts > 1 else None
                result = work(connection) if known is None else known
                connection.commit()
            except BaseException:
                with suppress(SQLAlchemyError):
                    connection.rollback()
                raise
            return result

        return self._patiently(lambda: self._once("write to", attempt))

    def rows(self, query: Select[Any], read: Callable[[Mapping[Any, Any]], T]) -> Iterator[T]:
        """Yield `read` of each row, for any number of rows. Raise `StoreError`."""
        with self._explained("read"), self.database.many(self.links.reading) as connection:
            found = connection.execute(query.execution_options(yield_per=AT_ONCE))
            yield from map(read, found.mappings())

    def every(self, query: Select[Any], read: Callable[[Mapping[Any, Any]], T]) -> list[T]:
        """Return what `read` makes of each row. Raises `StoreError`."""
        return self._patiently(lambda: list(self.rows(query, read)))

    def compact(self) -> None:
        """Give the room of deleted rows back. Raises `StoreError`."""
        with self._explained("compact"):
            self.database.compact(self.links)

    def upsert(self, table: Table) -> Insert:
        """Return an insert into a table that can update an existing row."""
        server = self.database.engine.dialect.name == "postgresql"
        return postgresql.insert(table) if server else sqlite.insert(table)

    def _once(self, doing: str, work: Callable[[], T]) -> T:
        try:  # not `_explained`: making a context takes half as long as a look for a trial
            return work()
        except Exception as error:
            self._raise(doing, error)

    def _patiently(self, work: Callable[[], T]) -> T:
        begun = time.monotonic()
        while True:
            try:
                return work()
            except AwayError:
                self._drop()
                if time.monotonic() - begun >= self.database.patience:
                    raise
                time.sleep(PAUSE)

    def _drop(self) -> None:
        links, self._links = self._links, None
        for link in links or ():
            with suppress(SQLAlchemyError):
                link.close()
        self.database.engine.dispose()

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._raise(doing, error)

    def _raise(self, doing: str, error: Exception) -> NoReturn:
        """Raise what a database did as a `StoreError`; raise any other error unchanged."""
        of_database = isinstance(error, SQLAlchemyError | OSError | ValueError) or _is_of_driver(error)
        if isinstance(error, StoreError) or not of_database:
            raise error
        raise self._error(doing, error) from error

    def _error(self, doing: str, error: Exception) -> StoreError:
        said = self.database.explained(doing, error)
        return AwayError(said) if self.database.is_away(error) else StoreError(said)


def _is_of_driver(error: Exception) -> bool:
    """Return whether a database driver, rather than SQLAlchemy, raised the error."""
    return type(error).__module__.partition(".")[0] in ("sqlite3", "psycopg")


def driver_error(error: BaseException) -> BaseException:
    """Return the driver's own error inside SQLAlchemy's."""
    return error.orig if isinstance(error, DBAPIError) and error.orig else error
