"""The border between pure work and the world: the project's folder, the environment, signals, the event loop."""

import asyncio
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path

from agentmut._base import UsageError, dummy_keys, environ, locked, open_to_others
from agentmut.campaign import (
    Session,
    declared_variables,
    open_session,
    with_ages,
)
from agentmut.project import FOLDER, Project, load_project, redactor, write_schemas
from agentmut.store import Store, StoreUrl, Where, is_read_only, project_of_folder, store_url

__all__ = [
    "FOLDER",
    "agent_environment",
    "alone_in",
    "has_store",
    "open_store",
    "opened",
    "redactor",
    "refuse_running_loop",
    "session_in",
    "stand_in_keys",
    "store_at",
    "store_beside",
    "store_place",
]

_log = logging.getLogger(__name__)


def refuse_running_loop(called: str) -> None:
    """Raise `UsageError` if an event loop runs already, because `called` has to start its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError(
        f"{called}() runs an event loop of its own and cannot be called from a running one (a notebook, an "
        f"async test). Use `await asyncio.to_thread({called}, project)`."
    )


def store_place(project: Project) -> Where:
    """Return the place of the project's store. Raise `UsageError` for a URL of an unknown kind."""
    if project.store_url is None:
        return project.root / FOLDER / "store.db"
    name = project.store.project or project_of_folder(project.root)
    return store_url(project.store_url.get_secret_value(), name)


def has_store(project: Project) -> bool:
    """Return whether a store may hold trials; a shared database is not asked."""
    where = store_place(project)
    return isinstance(where, StoreUrl) or where.is_file()


@contextmanager
def open_store(project: Project) -> Iterator[Store]:
    """Open the project's store, and close it at the end. Raises `StoreError`.

    A file is for this process alone; a database has room for any number of processes.
    """
    with store_at(store_place(project)) as store:
        with suppress(OSError):  # for editors; a disk that cannot be written keeps the old ones
            write_schemas(project.root)
        yield store


@contextmanager
def store_at(where: Where) -> Iterator[Store]:
    """Open a store, a file for this process alone, and close it at the end. Raises `StoreError`."""
    with alone_in(where), closing(Store(where)) as store:
        yield store


@contextmanager
def store_beside(where: Where) -> Iterator[Store]:
    """Open a store beside other commands that may use it, and close it at the end. Raises `StoreError`.

    For what touches no trial of a run: SQLite lets several processes read, and one after the other write.
    """
    with closing(Store(where)) as store:
        yield store


def alone_in(where: Where) -> AbstractContextManager[None]:
    """Keep other processes out of a store file during the block. Raise `StoreError`.

    A database has no such limit, and on a disk that cannot be written nobody changes the file.
    """
    if isinstance(where, StoreUrl) or is_read_only(where):
        return nullcontext()
    return locked(where.parent)


@contextmanager
def stand_in_keys() -> Iterator[None]:
    """Set keys that no service takes, where the environment has none, until the block ends.

    This is for verbs that run no agent, and may have to build one to read its tools and its flow.
    """
    with environ(dummy_keys(os.environ)):
        yield


@contextmanager
def agent_environment(project: Project) -> Iterator[None]:
    """Set the agent's environment variables for the block."""
    with environ(declared_variables(project)):
        yield


@contextmanager
def opened(
    project: Project | str | Path, scenarios: Sequence[str] = (), scenario_sample: int | None = None
) -> Iterator[tuple[Session, Store]]:
    """Open a project's session and store for the block, with the agent's environment set.

    Raises what `load_project`, `open_store` and `open_session` raise.
    """
    loaded = project if isinstance(project, Project) else load_project(Path(project))
    if said := open_to_others(loaded.root / FOLDER):
        _log.warning("%s.", said)
    with agent_environment(loaded), open_store(loaded) as store:
        yield session_in(store, loaded, scenarios, scenario_sample), store


def session_in(
    store: Store, project: Project, scenarios: Sequence[str] = (), scenario_sample: int | None = None
) -> Session:
    """Return the session of a project with an open store, which knows the age of the evaluators.

    Raises what `open_session` raises.
    """
    return with_ages(open_session(project, scenarios, scenario_sample), store)
