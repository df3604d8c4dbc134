"""What a run's folder holds besides `result.json`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut._base import UsageError
from agentmut.nouns import Result
from agentmut.project import runs_folder
from agentmut.report import Extra

if TYPE_CHECKING:
    from agentmut.store import RelationReport, Rescored, SurvivorsReport


def find_beside(project: Path, run: str | None, result: Result) -> Extra:
    """Coverage, relations and what was judged again, where the run has them.

    `run` is what the user named: it may be the path of a `result.json`. Raises `UsageError` for a file that is damaged.
    """
    from agentmut.insight import FILE, read_coverage

    folder = _folder(project, run, result)
    coverage = folder / FILE
    return Extra(
        rescored=find_rescored(project, run, result),
        relations=tuple(_relations(folder, result.run_id)),
        coverage=read_coverage(coverage) if coverage.is_file() else None,
    )


def find_rescored(project: Path, run: str | None, result: Result) -> "Rescored | None":
    """What `agentmut rescore` made of the run's trials, where that was done. Raises `UsageError`."""
    from agentmut.store import FILE, read_rescored

    path = _folder(project, run, result) / FILE
    return read_rescored(path) if path.is_file() else None


def _folder(project: Path, run: str | None, result: Result) -> Path:
    named = run is not None and run.endswith(".json")
    root = project.resolve() if project.is_dir() else project.resolve().parent
    return Path(str(run)).parent if named else runs_folder(root) / result.run_id


def _relations(folder: Path, run_id: str) -> "Iterator[RelationReport | SurvivorsReport]":
    """The run's own report on relations, and the latest one of another run on this run's survivors."""
    from agentmut.store import read_relations

    own = folder / "relations.json"
    if own.is_file():
        yield read_relations(own)
    for path in sorted(folder.parent.glob("*/relations.json"), reverse=True):
        try:
            found = read_relations(path)
        except UsageError:  # of another run: its own report says so
            continue
        if found.kind == "relations on survivors" and found.campaign == run_id:
            yield found
            return
