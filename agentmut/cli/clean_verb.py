"""`agentmut clean`: remove what is no longer needed."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from agentmut.cli.options import Json, ProjectPath


def clean(
    project: ProjectPath = Path(),
    keep: Annotated[int, typer.Option("--keep", min=0, help="How many of the latest runs to keep.")] = 1,
    as_json: Json = False,
) -> None:
    """Remove old runs and unused trials.

    Example: agentmut clean --keep 3
    """
    from agentmut.cli.output import print_json
    from agentmut.project import load_project
    from agentmut.runtime import FOLDER, open_store

    loaded = load_project(project)
    with open_store(loaded) as store:
        runs = [stored.id for stored in store.runs()]
        removed = store.clean(runs[:keep])
    for run in runs[keep:]:
        shutil.rmtree(loaded.root / FOLDER / "runs" / run, ignore_errors=True)
    if as_json:
        print_json({"runs_removed": runs[keep:], "trials_removed": removed, "runs_kept": runs[:keep]})
    else:
        typer.echo(f"removed {len(runs[keep:])} runs and {removed} trials; kept {len(runs[:keep])} runs")
