"""Finding the results of earlier runs."""

from glob import escape as glob_escape
from pathlib import Path

from agentmut.errors import UsageError
from agentmut.project import FILE_NAME
from agentmut.result import Result, read_result
from agentmut.runtime import FOLDER
from agentmut.verdict_report import VerdictReport, read_verdicts


def find_result(project: Path, run: str | None) -> Result:
    """The result of the run that `run` begins, or of the latest run. Raises `UsageError`.

    `run` may also be the path of a `result.json`.
    """
    if run is not None and run.endswith(".json"):
        return read_result(Path(run))
    folder = _root(project) / FOLDER / "runs"
    known = sorted(path.parent.name for path in folder.glob("*/result.json"))
    found = [name for name in known if run is None or name.startswith(run)]
    if not found:
        listed = f"Known: {', '.join(known)}." if known else "Run `agentmut run` first."
        raise UsageError(f"there is no result {'of run ' + run + ' ' if run else ''}in {folder}. {listed}")
    if run is not None and len(found) > 1:
        raise UsageError(f"{len(found)} runs begin with {run!r}: {', '.join(found)}.")
    return read_result(folder / found[-1] / "result.json")


def find_run_folder(project: Path, run: str | None) -> Path:
    """The folder of the run that `run` begins, or of the latest one. Raises `UsageError`."""
    folder = _root(project) / FOLDER / "runs"
    found = sorted(path for path in folder.glob(f"{glob_escape(run or '')}*") if path.is_dir())
    if not found or (run and len(found) > 1):
        raise UsageError(
            f"{len(found)} runs in {folder} begin with {run or ''!r}. Run `agentmut run` first, or see there."
        )
    return found[-1]


def find_verdicts(project: Path, run: str | None) -> VerdictReport | None:
    """The verdicts of the test or comparison that `run` begins; None if it names none. Raises `UsageError`.

    `run` may also be the path of a `verdicts.json`.
    """
    if run is None or (run.endswith(".json") and Path(run).name != "verdicts.json"):
        return None
    if run.endswith(".json"):
        return read_verdicts(Path(run))
    found = sorted((_root(project) / FOLDER / "runs").glob(f"{glob_escape(run)}*/verdicts.json"))
    return read_verdicts(found[0]) if len(found) == 1 else None


def _root(project: Path) -> Path:
    if project.is_dir():
        return project.resolve()
    if not project.exists():
        raise UsageError(f"{project} does not exist. Name a folder with {FILE_NAME}, or the file itself.")
    return project.resolve().parent
