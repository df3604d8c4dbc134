"""`agentmut clean`: remove what is no longer needed."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import Json, ProjectPath
from agentmut.cli.output import print_json


def clean(
    project: ProjectPath = Path(),
    keep: Annotated[int, typer.Option("--keep", min=0, help="How many of the latest runs to keep.")] = 1,
    as_json: Json = False,
) -> None:
    """Remove old runs and unused trials; those of saved baselines are kept.

    Example: agentmut clean --keep 3
    """
    from agentmut.project import FOLDER, load_project
    from agentmut.usecases import open_store

    loaded = load_project(project)
    with open_store(loaded) as store:
        runs = [stored.id for stored in store.runs()]
        kept = kept_runs(runs, keep, loaded.root / FOLDER / "baselines")
        removed = store.clean(kept)
    gone = [run for run in runs if run not in kept]
    for run in gone:
        shutil.rmtree(loaded.runs / run, ignore_errors=True)
    if as_json:
        print_json({"runs_removed": gone, "trials_removed": removed, "runs_kept": kept})
    else:
        typer.echo(f"removed {len(gone)} runs and {removed} trials; kept {len(kept)} runs")


def kept_runs(runs: list[str], keep: int, baselines: Path) -> list[str]:
    """Return the latest runs, and those that a saved baseline rests on."""
    from agentmut.store import baseline_names, read_baseline

    saved = [read_baseline(name, baselines) for name in baseline_names(baselines)]
    needed = {run for baseline in saved for run in (baseline.run_id, *baseline.runs)}
    return [run for position, run in enumerate(runs) if position < keep or run in needed]
