"""`agentmut clean`: remove what is no longer needed."""

import time
from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import print_json


def clean(
    project: ProjectPath = Path(),
    keep: Annotated[
        int, typer.Option("--keep", min=0, help="How many of the latest runs to keep, of each kind.")
    ] = 1,
    imported_before: Annotated[
        str | None,
        typer.Option(
            "--imported-before",
            help="Also remove imported runs that started before this time: 2026-05-01, 90d or 12h.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before anything is removed.")] = False,
    as_json: Json = False,
) -> None:
    """Remove old runs and unused trials, after a question.

    Keeps the latest run of each kind (campaigns, tests, comparisons, checks of relations), and whatever a saved
    baseline rests on. Keeps an unfinished run beside the latest finished run. Imported runs stay unless
    --imported-before is given.

    Example: agentmut clean --keep 3 --dry-run
    """
    from agentmut._base import moment
    from agentmut.project import FILE_NAME

    before = None
    if imported_before is not None:
        before = moment(imported_before, time.time(), "--imported-before")
    if before is not None and project.is_dir() and not (project / FILE_NAME).is_file():
        _clean_imports(project, before, dry_run=dry_run, yes=yes, as_json=as_json)
    else:
        _clean_project(project, keep, before, dry_run=dry_run, yes=yes, as_json=as_json)


def _clean_project(
    folder: Path, keep: int, before: float | None, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Remove old runs and unused trials of a project, and its old imported runs if `before` is given."""
    from agentmut.project import load_project
    from agentmut.usecases import OldImports, open_store, unneeded

    project = load_project(folder)
    with open_store(project) as store:
        removable, old = unneeded(store, project, keep), OldImports(store.imports, before)
        imports = old.number
        if not as_json:
            typer.echo("\n".join(filter(None, (removable.summary(store), old.summary))))
        if not dry_run and (removable.runs or removable.trials or imports):
            _ask(yes=yes)
            old.remove()
            removable.remove(store, project)
    if as_json:
        document = {
            "runs_removed": removable.ids,
            "trials_removed": removable.trials,
            "runs_kept": removable.kept,
        }
        document |= {"dry_run": dry_run} | ({} if before is None else {"imports_removed": imports})
        print_json(document)


def _clean_imports(folder: Path, before: float, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove old imported runs of a folder that has no project file, and so no runs of its own."""
    from agentmut.usecases import OldImports, foreign_store

    with foreign_store(folder) as home:
        old = OldImports(home.store.imports, before)
        imports = old.number
        if not as_json:
            typer.echo(old.summary)
        if imports and not dry_run:
            _ask(yes=yes)
            old.remove()
    if as_json:
        document = {"runs_removed": [], "trials_removed": 0, "runs_kept": [], "dry_run": dry_run}
        print_json(document | {"imports_removed": imports})


def _ask(*, yes: bool) -> None:
    """Ask before anything is removed, unless `yes` was given."""
    from agentmut.cli.verbs.verdicts import ask

    if not yes:
        ask("Remove them?", "nothing was removed: give --yes to remove it without a question, or --dry-run.")
