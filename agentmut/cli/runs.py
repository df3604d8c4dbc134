"""Finding the results of earlier runs."""

from pathlib import Path

from agentmut.errors import UsageError
from agentmut.project import FILE_NAME
from agentmut.result import Result, read_result
from agentmut.runtime import FOLDER


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


def _root(project: Path) -> Path:
    if project.is_dir():
        return project.resolve()
    if not project.exists():
        raise UsageError(f"{project} does not exist. Name a folder with {FILE_NAME}, or the file itself.")
    return project.resolve().parent
