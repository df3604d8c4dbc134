"""Both kinds of store: a file of SQLite, and a schema of a real server where `make test-postgres` names one."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmut.store import Where, store_url
from tests.postgres_server import PostgresServer, programs

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """The files of a server that was never started: each server is a copy of them."""
    folder = programs()
    if folder is None:
        pytest.skip("make test-postgres")
    made = PostgresServer(folder)
    made.prepare()
    yield made.data
    made.remove()


@pytest.fixture(scope="session")
def server(template: Path) -> Iterator[PostgresServer]:
    """A server that all tests of the store share; each takes a project of its own."""
    with PostgresServer(folder_of_programs(), template) as found:
        yield found


@pytest.fixture
def own(template: Path) -> Iterator[PostgresServer]:
    """A server that a test may kill."""
    with PostgresServer(folder_of_programs(), template) as found:
        yield found


def folder_of_programs() -> Path:
    found = programs()
    assert found is not None
    return found


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    """Where a new store may stand: each test that takes this runs on both."""
    if request.param == "sqlite":
        return tmp_path / "deep" / "store.db"
    server: PostgresServer = request.getfixturevalue("server")
    return store_url(server.url(), f"p{next(_NUMBERS)}")
