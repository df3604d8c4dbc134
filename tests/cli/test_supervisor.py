"""The process that supervises a command: it ends with its worker, and only verbs that run code of users have one."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentmut._base import users_places
from agentmut.cli.supervising import wants_supervisor
from tests.warm_command import ROOT

pytestmark = pytest.mark.process


LIMIT = 600
"""Seconds until a test gives up: no bound on anything that is measured."""


def test_what_works_ends_with_its_supervisor(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\nfrom agentmut.cli.supervising import supervised\n"
        "supervised(lambda: (print(os.getpid(), flush=True), time.sleep(600)), '')\n"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout
    worker = int(supervisor.stdout.readline())
    supervisor.kill()
    supervisor.wait()
    until = time.monotonic() + LIMIT
    while alive(worker):
        assert time.monotonic() < until
        time.sleep(0.01)
    supervisor.stdout.close()


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_places_are_those_of_users_code() -> None:
    library = os.path.dirname(os.__file__)  # noqa: PTH120
    traces = (
        'Thread 0x1 (most recent call first):\n  File "/my/judge.py", line 3 in judge\n'
        f'Current thread 0x2 (most recent call first):\n  File "{library}/selectors.py", line 468 in select\n'
        f'  File "{ROOT}/agentmut/cli/entry.py", line 9 in main\n'
    )
    assert users_places(traces) == "/my/judge.py:3 in judge"


def test_a_library_that_calls_agentmut_blocks_nothing() -> None:
    """The command line's own parser stands below agentmut in the main thread; a library above it may be what blocks."""
    packages = f"{os.path.dirname(os.__file__)}/site-packages"  # noqa: PTH120
    ours = f'  File "{ROOT}/agentmut/cli/entry.py", line 9 in main\n'
    below = f'{ours}  File "{packages}/typer/main.py", line 5 in wrap\n'
    above = f'  File "{packages}/slow/parser.py", line 7 in parse\n'
    assert users_places(f"Thread 0x1 (most recent call first):\n{below}") == ""
    assert (
        users_places(f"Thread 0x1 (most recent call first):\n{above}{below}")
        == f"{packages}/slow/parser.py:7 in parse"
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [(["run", "--yes"], True), ([], False), (["--version"], False), (["run", "--help"], False)]
    + [([verb], False) for verb in ("simulate", "proxy", "init")],
)
def test_verbs_that_run_code_of_users_are_supervised(arguments: list[str], wanted: bool) -> None:
    assert wants_supervisor(arguments) is wanted
