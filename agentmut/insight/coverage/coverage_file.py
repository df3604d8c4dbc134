"""`coverage.json` in a run's folder: the coverage that reports of the run show."""

from pathlib import Path

from pydantic import ValidationError

from agentmut._base import UsageError, write_json
from agentmut.insight.coverage.nouns import Coverage

FILE = "coverage.json"
_AGAIN = "`agentmut coverage`"


def write_coverage(coverage: Coverage, folder: Path) -> Path:
    """Write a coverage into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(coverage, folder / FILE, _AGAIN)


def read_coverage(path: Path) -> Coverage:
    """Read what `write_coverage` wrote. Raises `UsageError` when it is missing or not one."""
    try:
        return Coverage.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(
            f"{path} cannot be read as a coverage: {said}. {_AGAIN} writes it anew; or delete it."
        ) from None
