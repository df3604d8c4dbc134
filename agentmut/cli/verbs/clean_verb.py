"""`agentmut clean`: remove what is no longer needed."""

import json
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import print_json

if TYPE_CHECKING:
    from agentmut.store import Store, StoredRun

FINISHED = "finished"
"""The status of a run that came to its end."""


def clean(
    project: ProjectPath = Path(),
    keep: Annotated[
        int, typer.Option("--keep", min=0, help="How many of the latest runs to keep, of each kind.")
    ] = 1,
    imported_before: Annotated[
        str | None,
        typer.Option(
            "--imported-before", help="Also imported runs that started before: 2026-05-01, 90d or 12h."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before anything is removed.")] = False,
    as_json: Json = False,
) -> None:
    """Remove old runs and unused trials, after a question.

    The latest of each kind is kept (campaigns, tests, comparisons, checks of relations), and whatever a saved baseline
    rests on. An unfinished run is kept beside the latest finished one. Imported runs stay unless --imported-before is
    given.

    Example: agentmut clean --keep 3 --dry-run
    """
    from agentmut._base import moment
    from agentmut.cli.verbs.verdicts import ask
    from agentmut.project import FILE_NAME, FOLDER, load_project
    from agentmut.usecases import open_store

    if imported_before is not None and project.is_dir() and not (project / FILE_NAME).is_file():
        _clean_imports(project, imported_before, dry_run=dry_run, yes=yes, as_json=as_json)
        return

    loaded = load_project(project)
    with open_store(loaded) as store:
        runs = store.runs()
        kept = kept_runs(runs, keep, loaded.root / FOLDER / "baselines")
        gone, trials = [run.id for run in runs if run.id not in kept], store.unused(kept)
        before = (
            None if imported_before is None else moment(imported_before, time.time(), "--imported-before")
        )
        imports = 0 if before is None else store.imports.older(before)
        if not as_json:
            typer.echo(_in_words(store, [run for run in runs if run.id in gone], trials, len(kept)))
            if before is not None:
                typer.echo(f"imported runs to be removed: {imports} of {store.imports.totals().trials}")
        if not dry_run and (gone or trials or imports):
            if not yes:
                ask(
                    "Remove them?",
                    "nothing was removed: give --yes to remove it without a question, or --dry-run.",
                )
            if before is not None:
                store.imports.forget(before)
            store.clean(kept)
            for run in gone:
                shutil.rmtree(loaded.runs / run, ignore_errors=True)
    if as_json:
        told = {"runs_removed": gone, "trials_removed": trials, "runs_kept": kept, "dry_run": dry_run}
        told |= {} if imported_before is None else {"imports_removed": imports}
        print_json(told)


def _clean_imports(folder: Path, imported_before: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove old imported runs of a folder that has no project file, and so no runs of its own."""
    from agentmut._base import moment
    from agentmut.cli.verbs.verdicts import ask
    from agentmut.usecases import foreign_store

    before = moment(imported_before, time.time(), "--imported-before")
    with foreign_store(folder) as home:
        imports = home.store.imports
        older = imports.older(before)
        if not as_json:
            typer.echo(f"imported runs to be removed: {older} of {imports.totals().trials}")
        if older and not dry_run:
            if not yes:
                ask(
                    "Remove them?",
                    "nothing was removed: give --yes to remove it without a question, or --dry-run.",
                )
            imports.forget(before)
    if as_json:
        told = {"runs_removed": [], "trials_removed": 0, "runs_kept": [], "dry_run": dry_run}
        print_json(told | {"imports_removed": older})


def kept_runs(runs: "Sequence[StoredRun]", keep: int, baselines: Path) -> list[str]:
    """Return the latest runs of each kind, and those that a saved baseline rests on. `runs`: the latest first.

    A run that was not finished takes the place of none that was: a paid campaign stays when a later one has failed.
    """
    from agentmut.store import baseline_names, read_baseline

    saved = [read_baseline(name, baselines) for name in baseline_names(baselines)]
    needed = {run for baseline in saved for run in (baseline.run_id, *baseline.runs)}
    seen: Counter[tuple[str, bool]] = Counter()
    kept = []
    for run in runs:
        kind = kind_of(run), run.status == FINISHED
        seen[kind] += 1
        if seen[kind] <= keep or run.id in needed:
            kept.append(run.id)
    return kept


def kind_of(run: "StoredRun") -> str:
    """Return what kind of run it was, as its plan says; `run` for a plan that does not say."""
    try:
        return str(json.loads(run.plan).get("kind", "run"))
    except (ValueError, AttributeError):
        return "run"


def _in_words(store: "Store", gone: "Sequence[StoredRun]", trials: int, kept: int) -> str:
    """Return the runs and the number of trials to be removed, with their cost."""
    runs = f"{kept} run is" if kept == 1 else f"{kept} runs are"
    if not gone and not trials:
        return f"there is nothing to remove: {runs} kept, and every stored trial belongs to a kept run"
    rows = [f"  {run.id}  {kind_of(run):<10} ${store.spent(run.id).usd:.2f}" for run in gone]
    return "\n".join([f"to be removed: {len(gone)} runs and {trials} trials; {runs} kept", *rows])
