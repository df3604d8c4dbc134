"""The replies of model judges in a file of their own."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from agentmut._base import StoreError, make_private_folder, touch_private

_TABLE = "create table if not exists opinions (key text primary key, reply text not null) without rowid"


class PassingOpinions:
    """An `OpinionCache` that ends with the process: for projects that keep no text."""

    def __init__(self) -> None:
        self._replies: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        """Return the reply with this key."""
        return self._replies.get(key)

    def keep(self, key: str, reply: str) -> None:
        """Remember a reply."""
        self._replies[key] = reply


class OpinionFile:
    """An `OpinionCache` in SQLite, opened when it is first needed. Raises `StoreError` for whatever the disk does."""

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        self._path = path
        self._redact = redact
        self._lock = threading.Lock()

    def find(self, key: str) -> str | None:
        """Return the reply with this key."""
        with self._lock:
            if not self._path.exists():
                return None
            row = self._run("select reply from opinions where key = ?", (key,))
            return str(row[0]) if row else None

    def keep(self, key: str, reply: str) -> None:
        """Keep a reply, without secrets: a judge may quote from what it was shown."""
        with self._lock:
            self._make_private()
            self._run("insert or replace into opinions values (?, ?)", (key, self._redact(reply)))

    def _make_private(self) -> None:
        try:
            make_private_folder(self._path.parent)
            touch_private(self._path)
        except OSError as error:
            raise StoreError(
                f"the judges' opinions cannot be kept in {self._path}: {error.strerror or error}."
            ) from error

    def _run(self, statement: str, values: tuple[str, ...]) -> tuple[str, ...] | None:
        try:
            with closing(sqlite3.connect(self._path, timeout=30)) as connection, connection:
                connection.execute(_TABLE)
                found: tuple[str, ...] | None = connection.execute(statement, values).fetchone()
                return found
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the judges' opinions in {self._path} cannot be used: {error}. Delete the file; they are asked again."
            ) from error
