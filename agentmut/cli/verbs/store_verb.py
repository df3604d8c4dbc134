"""`agentmut store copy`: all trials of a project into another store."""

import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeGuard

import typer

from agentmut._base import UsageError
from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmut.project import Project
    from agentmut.store import CopiedTable, Where

app = typer.Typer(
    name="store",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Move the project's trials to another store.\n\nA store is a file or a PostgreSQL database.\n\n"
    "Example: agentmut store copy 'postgresql://me:${PGPASSWORD}@db.example.org/trials'",
)


@app.callback()
def _alone() -> None:
    """Keep `copy` a verb of its own."""


@app.command()
def copy(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The URL or the file of an empty store. ${NAME} stands for an environment variable.",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from", help="The URL or the file of the store to copy. Default: the project's store."
        ),
    ] = None,
    named: Annotated[
        str | None,
        typer.Option(
            "--name", help="The project's name in the database. Default: the project file's `store.project`."
        ),
    ] = None,
    project: ProjectPath = Path(),
    as_json: Json = False,
) -> None:
    """Copy every trial and run into an empty store, and check the copy by a digest for each table.

    The original store stays unchanged. To use the copy, name it under `store.url` in the project file.

    Example: agentmut store copy 'postgresql://me:${PGPASSWORD}@db.example.org/trials'
    """
    from agentmut._base import locked
    from agentmut.project import load_project
    from agentmut.store import copy_store
    from agentmut.usecases import store_place

    loaded = load_project(project)
    origin = store_place(loaded) if source is None else _place(source, loaded, named)
    where = _place(target, loaded, named)
    _check_places(origin, where)
    made = isinstance(where, Path) and not where.parent.exists()
    with ExitStack() as held:
        for folder in {place.parent for place in (origin, where) if _of_a_project(place)}:
            held.enter_context(locked(folder))
        copied = copy_store(origin, where)
    if made and isinstance(where, Path):
        typer.echo(f"made the folder {where.parent}", err=True)
    _print_copied(copied, as_json)


def _check_places(origin: "Where", target: "Where") -> None:
    """Raise `UsageError` where there is no store to copy, or where it would be copied to itself."""
    from agentmut.store import StoreUrl

    if not isinstance(origin, StoreUrl) and not origin.is_file():
        raise UsageError(
            f"there is no store {origin}. Run `agentmut run` first, or name another with --from."
        )
    if origin == target:
        raise UsageError("a store cannot be copied to itself. Name another one.")


def _print_copied(tables: "Sequence[CopiedTable]", as_json: bool) -> None:
    """Print the rows and the digest of each table."""
    if as_json:
        print_json(
            {"schema_version": 1, "kind": "store_copy", "tables": [table._asdict() for table in tables]}
        )
        return
    for table in tables:
        typer.echo(f"{table.name:<12} {table.rows:>9} rows  digest {table.digest[:16]}")
    typer.echo(
        f"{sum(table.rows for table in tables)} rows copied; each table has the same digest in both stores. To use the "
        "copy, name it under `store.url` in the project file."
    )


def _of_a_project(place: "Where") -> TypeGuard[Path]:
    """Return whether other commands may be at work in the store's folder, which has a lock for them then."""
    from agentmut.project import FOLDER

    return isinstance(place, Path) and place.parent.name == FOLDER


def _place(written: str, project: "Project", name: str | None) -> "Where":
    """Return the address of a store that the command line names. Raises `UsageError`."""
    from agentmut.store import project_of_folder, store_url

    filled = re.sub(r"\$\{([A-Za-z_]\w*)\}", lambda match: _variable(match[1]), written)
    if "://" not in filled:
        return Path(filled).resolve()
    return store_url(filled, name or project.store.project or project_of_folder(project.root))


def _variable(name: str) -> str:
    if name not in os.environ:
        raise UsageError(f"the environment variable {name} is not set; set it, or name another store.")
    return os.environ[name]
