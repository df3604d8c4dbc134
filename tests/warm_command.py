"""The command `agentmut` in tests: forked from a process that has imported everything, see testdata/warm_cli.py."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
AGENTMUT = [sys.executable, "-IS", str(ROOT / "tests" / "testdata" / "warm_cli.py")]


def run_agentmut(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, without input; `variables` are added to the environment."""
    return subprocess.run(
        [*AGENTMUT, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
    )
