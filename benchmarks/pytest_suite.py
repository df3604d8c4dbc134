"""What attaching to a pytest suite costs a test, and the idle plugin a start of pytest, next to their targets.

`python benchmarks/pytest_suite.py [TESTS]`
"""

import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.project.loading import load_project
from agentmut.trial.executor import Executor, TrialRequest

TESTS = 300
ADDED_MS = 5.0
"""Target of what attaching adds to a test, at the median."""
IDLE_MS = 20.0
"""Target of what the idle plugin adds to a start of pytest that does nothing."""
STARTS = 15
PROJECT = """
version: 1
agent:
  config: {prompt: Be kind.}
suite: {pytest: test_nothing.py}
execution: {concurrency: 1}
"""
FILE = """
import time

import pytest


@pytest.fixture(scope="session")
def began():
    return time.perf_counter()


@pytest.fixture
def number(request):
    return request.param


@pytest.mark.parametrize("number", range(%d), indirect=True)
def test_nothing(number, began):
    assert number >= 0
"""
TIMING = """
import time


def pytest_runtestloop(session):
    session.began = time.perf_counter()


def pytest_sessionfinish(session):
    print("SECONDS", time.perf_counter() - session.began)
"""
"""In conftest.py of the usual run: how long all tests took together."""


def main() -> None:
    """Print the figures; exit with 1 where a target is missed."""
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else TESTS
    with TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "agentmut.yaml").write_text(PROJECT)
        (project / "pytest.ini").write_text("[pytest]\n")
        (project / "test_nothing.py").write_text(FILE % tests)
        attached = attached_ms(project)
        (project / "conftest.py").write_text(TIMING)
        usual = usual_ms(project, tests)
    idle = idle_ms()
    added = statistics.median(attached) - usual
    print(
        f"a test of a pytest suite: {usual:.2f} ms by pytest itself, {statistics.median(attached):.2f} ms attached "
        f"(median of {tests}): {added:.2f} ms added (target {ADDED_MS:g} ms)"
    )
    print(
        f"idle plugin: {idle:.1f} ms of processor time added to `pytest -VV` "
        f"(target {IDLE_MS:g} ms, median of {STARTS})"
    )
    sys.exit(added > ADDED_MS or idle > IDLE_MS)


def attached_ms(project: Path) -> list[float]:
    """Return milliseconds from asking for each test to having its execution, in one worker that is ready."""
    session = open_session(load_project(project))
    names = [scenario.name for scenario in session.scenarios]
    return asyncio.run(_asked(make_executor(session), names))


async def _asked(executor: Executor, names: list[str]) -> list[float]:
    found = []
    async with executor.session():
        await executor.execute(TrialRequest(None, names[0], "first"))  # starts the worker
        for number, name in enumerate(names):
            begun = time.perf_counter()
            execution = await executor.execute(TrialRequest(None, name, str(number)))
            found.append((time.perf_counter() - begun) * 1000)
            assert execution.trace.checks[0].passed, execution.reason
    return found


def usual_ms(project: Path, tests: int) -> float:
    """Return milliseconds that pytest takes for one of them, its printing included."""
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", str(project)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    seconds = re.search(r"SECONDS ([\d.]+)", done.stdout)
    assert seconds is not None, done.stdout
    return float(seconds[1]) / tests * 1000


def idle_ms() -> float:
    """Return milliseconds of processor time that the plugin adds to `pytest -VV`, alternating with runs without it.

    pytest 9 answers a single `--version` before it loads any plugin; asked twice, it starts as for a run of tests.
    """
    others = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    without = [sys.executable, "-m", "pytest", "-VV"]
    with_it = [*without, "-p", "agentmut.pytest_plugin.plugin"]
    pairs = [(_seconds(without, others), _seconds(with_it, others)) for _ in range(STARTS)]
    return statistics.median(after - before for before, after in pairs) * 1000


def _seconds(command: list[str], variables: dict[str, str]) -> float:
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=variables, capture_output=True, check=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime


if __name__ == "__main__":
    main()
