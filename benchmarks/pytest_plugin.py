"""What a trial of a test marked with agentmut costs beyond the test itself, next to its target.

`python benchmarks/pytest_plugin.py` prints two lines; exit code 1 where a target is missed. What the idle plugin adds
to a start of pytest is measured by `benchmarks/pytest_suite.py`; here is which part of that is the import.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TRIALS = 1000
ADDED_MS = 5.0
"""Target of what a trial costs more than a run of the test by pytest."""
IMPORT_MS = 20.0
"""Target of the import of the idle plugin, pytest itself aside."""
USUAL = """
import pytest

@pytest.fixture
def fresh():
    return []

@pytest.mark.parametrize("number", range({trials}))
def test_nothing(fresh, number):
    fresh.append(number)
"""
MARKED = """
import pytest

@pytest.fixture
def fresh():
    return []

@pytest.mark.agentmut(trials={trials}, method="fixed")
def test_nothing(fresh, agentmut_trial):
    fresh.append(agentmut_trial)
"""
CONFTEST = """
import time

def pytest_collection_finish(session):
    session.began = time.perf_counter()

def pytest_sessionfinish(session):
    print("SECONDS", time.perf_counter() - session.began)
"""


def main() -> None:
    """Print the figures; exit with 1 where a target is missed."""
    usual, marked = milliseconds(USUAL), milliseconds(MARKED)
    imported = import_ms()
    print(
        f"a test of {TRIALS} trials: {marked:.2f} ms a trial, verdict included; {usual:.2f} ms a test by pytest "
        f"itself: {marked - usual:.2f} ms added (target {ADDED_MS:g} ms)"
    )
    print(
        f"import of agentmut.pytest_plugin.plugin: {imported:.1f} ms beyond pytest (target {IMPORT_MS:g} ms)"
    )
    sys.exit(marked - usual > ADDED_MS or imported > IMPORT_MS)


def milliseconds(code: str) -> float:
    """Return the milliseconds of one test or trial, by a pytest process of its own."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "conftest.py").write_text(CONFTEST)
        (Path(folder) / "test_it.py").write_text(code.format(trials=TRIALS))
        command = [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", folder]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    seconds = re.search(r"SECONDS ([\d.]+)", done.stdout)
    assert seconds is not None, done.stdout
    return float(seconds[1]) / TRIALS * 1000


def import_ms() -> float:
    """By `-X importtime`, in the order of a start: pytest is there before its plugins; the least of five."""
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-c",
        "import pytest; import agentmut.pytest_plugin.plugin",
    ]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(5))
    return min(_microseconds(said, "agentmut.pytest_plugin.plugin") for said in runs) / 1000


def _microseconds(said: str, module: str) -> float:
    (found,) = re.findall(rf"\|\s+(\d+) \| {re.escape(module)}$", said, re.MULTILINE)
    return float(found)


if __name__ == "__main__":
    main()
