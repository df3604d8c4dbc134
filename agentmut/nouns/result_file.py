"""`result.json`: a result is written, read, and refused with the place of its fault."""

from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from agentmut._base import UsageError, first_fault, write_json
from agentmut.nouns.result import SCHEMA_VERSION, Result


def write_result(result: Result, folder: Path) -> Path:
    """Write `result.json` into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(result, folder / "result.json", "`agentmut resume`")


def read_result(path: Path) -> Result:
    """Return the content of a `result.json`. Raise `UsageError` if it is missing or invalid."""
    return parse_result(lambda: path.read_text(encoding="utf-8"), str(path))


def parse_result(text: Callable[[], str], place: str) -> Result:
    """Return the result in a text that `text` reads from a place. Raise `UsageError` if it cannot."""
    try:
        result = Result.model_validate_json(text())
    except FileNotFoundError:
        raise UsageError(f"{place} does not exist. Run `agentmut run` first, or name another run.") from None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{place} cannot be read as a result of schema {SCHEMA_VERSION}: {_first_fault(error)}. `agentmut "
            "resume` writes it anew."
        ) from None
    if result.schema_version > SCHEMA_VERSION:
        raise UsageError(
            f"{place} is a result of schema {result.schema_version}, and this agentmut reads {SCHEMA_VERSION}. Read "
            "it with the version of agentmut that wrote it."
        )
    return result


def _first_fault(error: Exception) -> str:
    """Return the place and the fault that pydantic names first; else the first line of what went wrong."""
    if not isinstance(error, ValidationError):
        return str(error).splitlines()[0]
    return first_fault(error).under()
