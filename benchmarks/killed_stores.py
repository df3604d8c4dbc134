"""The two kinds of store of `benchmarks/kills.py`: how a project is copied with its store, and what the store holds."""

import re
import secrets
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.postgres_server import PostgresServer

Trial = tuple[int, str, str]
"""The number, the key and the run of a stored trial."""
PROJECT = "kills"


class KilledStore(ABC):
    """A kind of store."""

    name: str
    line: str
    """What names the store in the project file."""

    @abstractmethod
    def make(self, folder: Path) -> None:
        """Make an empty store for a project, where the first command does not."""

    @abstractmethod
    def copy(self, folder: Path, to: Path) -> None:
        """Copy a project with its store."""

    @abstractmethod
    def remove(self, folder: Path) -> None:
        """Remove the store of a project whose folder goes."""

    @abstractmethod
    def rows(self, folder: Path, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none where there is no store or no such table yet."""

    def trials(self, folder: Path) -> frozenset[Trial]:
        """Return the trials that are stored."""
        return frozenset(
            (one[0], one[1], one[2]) for one in self.rows(folder, "select id, key, run from trials")
        )

    def imported(self, folder: Path) -> object:
        """Return how many runs of another tool are stored, and how many different ones."""
        return self.rows(folder, "select count(*), count(distinct digest) from imported")

    def unsound(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with the store: trials that a run has twice."""
        once = "select 1 from trials where key != '' group by key, run having count(*) > 1"
        twice = self.rows(folder, f"select count(*) from ({once}) as doubled")
        if twice and twice[0][0]:
            yield f"{twice[0][0]} trials are stored twice"


class SqliteStore(KilledStore):
    """A file in the project's folder."""

    name = "SQLite"
    line = ""

    def make(self, folder: Path) -> None:
        """Leave it to the first command."""

    def copy(self, folder: Path, to: Path) -> None:
        """Copy the folder."""
        shutil.copytree(folder, to)

    def remove(self, folder: Path) -> None:
        """Leave it to whoever removes the folder."""

    def rows(self, folder: Path, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        path = folder / ".agentmut" / "store.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as store:
            try:
                return store.execute(query).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                raise

    def unsound(self, folder: Path) -> Iterator[str]:
        """Yield damaged pages, too."""
        try:
            checked = self.rows(folder, "pragma integrity_check")
            if checked and checked[0][0] != "ok":
                yield f"integrity: {checked[0][0]}"
            yield from super().unsound(folder)
        except sqlite3.DatabaseError as error:
            yield f"integrity: {error}"


class PostgresStore(KilledStore):
    """A database for each copy of a project; its name stands in the project file."""

    name = "PostgreSQL"

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self.line = f'store: {{url: "{server.url("unmade")}", project: {PROJECT}}}\n'

    def make(self, folder: Path) -> None:
        """Make an empty database."""
        name = f"kills{secrets.token_hex(8)}"
        self._server.execute(f"create database {name}")
        self._name_it(folder, name)

    def copy(self, folder: Path, to: Path) -> None:
        """Copy folder and database."""
        shutil.copytree(folder, to)
        name = f"kills{secrets.token_hex(8)}"
        self._server.execute(f"create database {name} template {self._named(folder)}")
        self._name_it(to, name)

    def remove(self, folder: Path) -> None:
        """Drop the database."""
        self._server.execute(f"drop database {self._named(folder)} with (force)")

    def rows(self, folder: Path, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        named, schema = self._named(folder), f"agentmut_{PROJECT}"
        found = self._server.execute(f"select to_regclass('{schema}.trials') is not null", database=named)
        if not found[0][0]:
            return []
        return self._server.execute(f"set search_path to {schema}", query, database=named)

    @staticmethod
    def _named(folder: Path) -> str:
        found = re.search(r"/(\w+)\", project", (folder / "agentmut.yaml").read_text())
        assert found, folder
        return found[1]

    @staticmethod
    def _name_it(folder: Path, name: str) -> None:
        for path in folder.rglob("agentmut.yaml"):
            path.write_text(re.sub(r'/\w+", project', f'/{name}", project', path.read_text()))
