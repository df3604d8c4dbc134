"""What a search for scenarios finds on `examples/support_desk`, by the number of agent runs it may take.

`python benchmarks/search.py` copies the example, measures it on the offline simulator and searches: no tool of the copy
is called that the example does not declare safe, and nothing is written into the example. The simulator's replies have
a seed, so the figures are the same each time. Exit code 1 where a target is missed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOL = "tool check_stock"
"""No scenario of the example calls it."""
CLI = (sys.executable, "-c", "from agentmut.cli import main; main()")
REACHED_WITHIN = 60
KILLS, KILLED_WITHIN = 2, 120


def main() -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "support_desk"
        shutil.copytree(
            ROOT / "examples" / "support_desk", copied, ignore=shutil.ignore_patterns(".agentmut")
        )
        _agentmut(copied, "run", "--yes")
        small, large = (_searched(copied, trials) for trials in (REACHED_WITHIN, KILLED_WITHIN))
    reached = any(TOOL in one["adds"] for one in small)
    killed = {mutant for one in large for mutant in one["kills"]}
    print(f"within {REACHED_WITHIN} runs: {TOOL} {'reached' if reached else 'not reached'}")
    print(
        f"within {KILLED_WITHIN} runs: {len(killed)} mutants killed that the suite lets live (at least {KILLS})"
    )
    return 0 if reached and len(killed) >= KILLS else 1


def _searched(folder: Path, trials: int) -> Sequence[dict[str, Any]]:
    said = _agentmut(
        folder, "suggest", "--scenarios", "--trials", str(trials), "--seed", "1", "--yes", "--json"
    )
    found: list[dict[str, Any]] = json.loads(said)["scenarios"]
    return found


def _agentmut(folder: Path, *arguments: str) -> str:
    command = [*CLI, "simulate", "--", *CLI, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
