"""What a run's folder holds besides `result.json`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentmut.errors import UsageError
from agentmut.files.layout import runs_folder
from agentmut.report.beside import Extra
from agentmut.result import Result

if TYPE_CHECKING:
    from agentmut.documents.relation_report import RelationReport, SurvivorsReport


def find_beside(project: Path, run: str | None, result: Result) -> Extra:
    """Coverage, relations and what was judged again, where the run has them.

    `run` is what the user named: it may be the path of a `result.json`. Raises `UsageError` for a file that is damaged.
    """
    from agentmut.analysis.coverage.kept import FILE, read_coverage
    from agentmut.documents.rescored import read_rescored

    named = run is not None and run.endswith(".json")
    root = project.resolve() if project.is_dir() else project.resolve().parent
    folder = Path(str(run)).parent if named else runs_folder(root) / result.run_id
    rescored, coverage = folder / "rescored.json", folder / FILE
    return Extra(
        rescored=read_rescored(rescored) if rescored.is_file() else None,
        relations=tuple(_relations(folder, result.run_id)),
        coverage=read_coverage(coverage) if coverage.is_file() else None,
    )


def _relations(folder: Path, run_id: str) -> "Iterator[RelationReport | SurvivorsReport]":
    """The run's own report on relations, and the latest one of another run on this run's survivors."""
    from agentmut.documents.relation_report import read_relations

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
