"""Commands are forked from a process that has imported everything: see tests/testdata/warm_cli.py."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WARM = ROOT / "tests" / "testdata" / "warm_cli.py"
VARIABLE = "AGENTMUT_WARM"


@pytest.fixture(scope="session", autouse=True)
def warm() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        path = f"{folder}/s"
        command = [sys.executable, "-c", f"import runpy, sys; sys.argv = ['w', 'serve', {path!r}]; "
                   f"runpy.run_path({str(WARM)!r}, run_name='__main__')"]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout and process.stdin
            assert process.stdout.readline() == b"ready\n"
            os.environ[VARIABLE] = path
            yield
            del os.environ[VARIABLE]
            process.stdin.close()
