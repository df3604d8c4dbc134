"""Finding the results of earlier runs, and what their folders hold besides `result.json`."""

from collections.abc import Callable, Iterable, Iterator
from glob import escape as glob_escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentmut._base import UsageError
from agentmut.nouns import Result, read_result
from agentmut.project import FILE_NAME, runs_folder
from agentmut.report import Extra

if TYPE_CHECKING:
    from agentmut.store import RelationReport, Rescored, SurvivorsReport

_Report = TypeVar("_Report")


def find_result(project: Path, run: str | None) -> Result:
    """Return the result of the run that `run` begins, or of the latest run. Raises `UsageError`.

    `run` may also be the path of a `result.json`, of a folder with one, or of another project, whose latest run
    it is then.
    """
    if run is not None and run.endswith(".json"):
        return read_result(Path(run))
    if run is not None and (Path(run) / "result.json").is_file():
        return read_result(Path(run) / "result.json")
    if run is not None and Path(run).is_dir() and runs_folder(Path(run).resolve()).is_dir():
        return find_result(Path(run), None)
    folder = _runs(project)
    runs = [path.parent.name for path in folder.glob("*/result.json")]
    if not runs:
        raise UsageError(f"there is no result in {folder}. Run `agentmut run` first.")
    return read_result(folder / _the_one(runs, run, f"result in {folder}") / "result.json")


def find_recorded(project: Path, run: str | None) -> Path:
    """Return the folder of the run that `run` begins, or of the latest one, of those that recorded trials.

    Raises `UsageError`.
    """
    from agentmut.store import cassettes_of

    folder = _runs(project)
    runs = [path.name for path in folder.glob("*") if any(cassettes_of(path))]
    if not runs:
        raise UsageError(
            f"there is no recorded trial in {folder}. Set `execution.record: true` in the project file, then give "
            "`agentmut run`: it records the trials that it makes."
        )
    return folder / _the_one(runs, run, f"recorded trial in {folder}")


def _the_one(runs: Iterable[str], begins: str | None, document: str) -> str:
    """Return the only run whose id begins so, or the latest run if none is named. Raises `UsageError`."""
    known = sorted(runs)
    matching = [name for name in known if begins is None or name.startswith(begins)]
    if not matching:
        raise UsageError(f"run {begins} has no {document}. Known: {', '.join(known)}.")
    if begins is not None and len(matching) > 1:
        raise UsageError(f"{len(matching)} runs begin with {begins!r}: {', '.join(matching)}.")
    return matching[-1]


def find_report(project: Path, run: str | None, name: str, read: Callable[[Path], _Report]) -> _Report | None:
    """Return the report in the file `name` of the test, comparison or run that `run` begins; None if it names none.

    `run` may also be the path of such a file; `latest_outcome` names the latest. Raises `UsageError`.
    """
    if run is None or (run.endswith(".json") and Path(run).name != name):
        return None
    if run.endswith(".json"):
        return read(Path(run))
    paths = sorted(_runs(project).glob(f"{glob_escape(run)}*/{name}"))
    return read(paths[0]) if len(paths) == 1 else None


def latest_outcome(project: Path, *, alone: bool = False) -> str | None:
    """Return the id of the latest report if it is a test's, a comparison's or a check's of relations, else None.

    A check on the survivors of a campaign is part of the campaign's own report, and does not count. `alone` asks for a
    report of a project that has no campaign, such as one of recorded runs.
    """
    latest = None
    for folder in sorted(_runs(project).glob("*"), key=lambda path: path.name, reverse=True):
        if (folder / "result.json").is_file():
            return None if alone else latest
        if latest is None and ((folder / "verdicts.json").is_file() or _has_relations(folder)):
            latest = folder.name
        if latest is not None and not alone:
            return latest
    return latest


def _has_relations(folder: Path) -> bool:
    from agentmut.store import read_relations

    try:
        path = folder / "relations.json"
        return path.is_file() and read_relations(path).kind == "relations"
    except UsageError:  # a damaged report is named where its run is asked for
        return False


def _runs(project: Path) -> Path:
    if not project.exists():
        raise UsageError(f"{project} does not exist. Name a folder with {FILE_NAME}, or the file itself.")
    return runs_folder(project.resolve() if project.is_dir() else project.resolve().parent)


def find_beside(project: Path, run: str | None, result: Result) -> Extra:
    """Return coverage, relations and rescored results of a run, where the run has them.

    `run` is what the user named: it may be the path of a `result.json`. Raises `UsageError` for a file that is damaged.
    """
    from agentmut.insight import read_coverage
    from agentmut.store import COVERAGE

    folder = _folder(project, run, result)
    coverage = folder / COVERAGE
    return Extra(
        project=_name_of(folder),
        rescored=find_rescored(project, run, result),
        relations=tuple(_relations(folder, result.run_id)),
        coverage=read_coverage(coverage) if coverage.is_file() else None,
    )


def _name_of(folder: Path) -> str:
    """Return the name of the project whose run this folder holds; empty where it is no run's folder of a project."""
    parents = folder.resolve().parents
    return parents[2].name if len(parents) > 2 and runs_folder(parents[2]) == parents[0] else ""


def find_rescored(project: Path, run: str | None, result: Result) -> "Rescored | None":
    """Return what `agentmut rescore` made of the run's trials, where that was done. Raises `UsageError`."""
    from agentmut.store import RESCORED, read_rescored

    path = _folder(project, run, result) / RESCORED
    return read_rescored(path) if path.is_file() else None


def folder_of(project: Path, run_id: str) -> Path:
    """Return the folder in which a run of a project keeps its documents."""
    root = project.resolve() if project.is_dir() else project.resolve().parent
    return runs_folder(root) / run_id


def _folder(project: Path, run: str | None, result: Result) -> Path:
    named = run is not None and run.endswith(".json")
    return Path(str(run)).parent if named else folder_of(project, result.run_id)


def _relations(folder: Path, run_id: str) -> "Iterator[RelationReport | SurvivorsReport]":
    """Yield the run's own report on relations, and the latest one of another run on this run's survivors."""
    from agentmut.store import read_relations

    own = folder / "relations.json"
    if own.is_file():
        yield read_relations(own)
    for path in sorted(folder.parent.glob("*/relations.json"), reverse=True):
        try:
            report = read_relations(path)
        except UsageError:  # of another run: its own report says so
            continue
        if report.kind == "relations on survivors" and report.campaign == run_id:
            yield report
            return
