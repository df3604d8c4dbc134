"""A store's file on a disk that cannot be written: verbs that only read work there, and every write is an error."""

import os
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, StaticPool, create_engine, text

from agentmut._base import scratch_folder
from agentmut.store.connections import Links
from agentmut.store.migrating import VERSION
from agentmut.store.sqlite_file import SqliteFile


def is_read_only(path: Path) -> bool:
    """Return whether a store's file is there, and its folder cannot be written by this process."""
    return path.is_file() and not os.access(path.parent, os.W_OK)


class ReadOnlyFile(SqliteFile):
    """One `store.db` that is read where it stands.

    Where a killed command has left a write-ahead log, or an earlier version has made the tables, the file is read by
    way of a copy in memory: SQLite could read the one only where it may write, and the other has to be migrated.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.engine = create_engine(f"{_address(path)}&immutable=1&uri=true")

    def open(self) -> Links:
        """Open the file, and write nothing."""
        connection = self.engine.connect()
        if _has_log(self._path) or self._version(connection) != VERSION:
            connection.close()
            connection = self._copied()
        connection.execute(text("PRAGMA query_only = ON"))
        connection.commit()
        return Links(connection, connection)

    def _copied(self) -> Connection:
        self.engine.dispose()
        self.engine = create_engine(
            "sqlite://", creator=partial(_in_memory, self._path), poolclass=StaticPool
        )
        connection = self.engine.connect()
        self._prepare(connection)
        return connection


def _address(path: Path) -> str:
    return f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro"


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _has_log(path: Path) -> bool:
    return _log(path).is_file() and _log(path).stat().st_size > 0


def _in_memory(path: Path) -> sqlite3.Connection:
    """Return a copy of a database, with what stands in its write-ahead log."""
    with scratch_folder() as folder:
        for file in (path, _log(path)):
            if file.is_file():
                shutil.copyfile(file, folder / file.name)
        memory = sqlite3.connect(":memory:")
        with closing(sqlite3.connect(folder / path.name)) as copied:
            copied.backup(memory)
        return memory
