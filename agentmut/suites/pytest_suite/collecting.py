"""Collect the tests of a suite in a separate process, so that agentmut's process does not import them.

`python -m agentmut.suites.pytest_suite.collecting SETTINGS FILE` writes what it found to FILE.
"""

import subprocess
import sys
from pathlib import Path

from agentmut._base import Frozen, UsageError, scratch_folder
from agentmut.suites.pytest_suite.pytest_settings import COLLECTING, Case, PytestSettings, not_in_time

_TELLING = ("ERROR:", "ImportError while loading", "E  ")
"""Beginnings of the stderr lines in which pytest says why it cannot go on."""
_OF_ARGUMENTS = ": error: "
_USAGE = ("usage:", "ERROR: usage:")
"""The beginning of pytest's list of options, before it says what is wrong with the given ones."""


class Collection(Frozen):
    """The result of a collection, or why it failed."""

    cases: tuple[Case, ...] = ()
    error: str = ""


def collected(settings: PytestSettings) -> tuple[Case, ...]:
    """Return the tests of a suite, in pytest's order. Raise `UsageError` if that fails or there are none."""
    with scratch_folder() as folder:
        found, said = _collected_in_process(settings, folder / "collected.json")
    if found.error:
        raise UsageError(f"{found.error.rstrip('.')}{said}.")
    if not found.cases:
        given = " ".join(settings.arguments)
        raise UsageError(f"suite.pytest: `pytest {given}`, started in {settings.directory}, collects no test")
    return found.cases


def _collected_in_process(settings: PytestSettings, file: Path) -> tuple[Collection, str]:
    command = [sys.executable, "-m", __name__, settings.model_dump_json(), str(file)]
    if not Path(settings.directory).is_dir():
        raise UsageError(f"suite.pytest: there is no folder {settings.directory}")
    try:
        done = subprocess.run(
            command, cwd=settings.directory, capture_output=True, text=True, check=False, timeout=COLLECTING
        )
    except subprocess.TimeoutExpired:
        raise UsageError(not_in_time(COLLECTING)) from None
    if not file.is_file():
        ended = f"suite.pytest: the process that collected the tests ended with code {done.returncode}"
        return Collection(error=ended), _telling(done.stderr) or _last(done.stderr)
    return Collection.model_validate_json(file.read_text("utf-8")), _telling(done.stderr)


def _telling(stderr: str) -> str:
    told = (line for line in stderr.splitlines() if line.startswith(_TELLING) or _OF_ARGUMENTS in line)
    lines = [" ".join(line.split()) for line in told if not line.startswith(_USAGE)]
    return f": {'; '.join(lines)}" if lines else ""


def _last(stderr: str) -> str:
    lines = [" ".join(line.split()) for line in stderr.splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""


def main() -> None:
    """Collect the tests, and write the file."""
    from agentmut.suites.pytest_suite.held_session import HeldSession

    settings, file = PytestSettings.model_validate_json(sys.argv[1]), Path(sys.argv[2])
    held = HeldSession(settings)
    try:
        found = Collection(cases=held.cases())
    except UsageError as error:
        found = Collection(error=str(error))
    file.write_text(found.model_dump_json(), "utf-8")
    held.close()


if __name__ == "__main__":
    main()
