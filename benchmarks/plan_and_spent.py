"""What `agentmut plan` foretells of each example, against what `agentmut run` then spends.

`python -m benchmarks.plan_and_spent [EXAMPLE ...]`. Each example is copied without its stored runs, planned, and run to
its end with `agentmut simulate`. Exits with 1 where trials or dollars are more than 30 % off.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ("callable", "order_pipeline", "ticket_triage", "support_desk")
OFF = 0.30
"""By how much an estimate may be off."""


class Compared(NamedTuple):
    """An example: trials and US dollars that were planned and spent, and what became of the mutants."""

    example: str
    planned: dict[str, float | None]
    spent: dict[str, float | None]
    mutants: str

    def off(self, what: str) -> float | None:
        """Return planned / spent - 1; None where one of them is not known."""
        planned, spent = self.planned[what], self.spent[what]
        return planned / spent - 1 if planned and spent else None

    @property
    def holds(self) -> bool:
        """Return whether the estimates of trials and dollars are near enough."""
        return all(abs(self.off(what) or 0.0) <= OFF for what in ("trials", "usd"))

    def row(self) -> str:
        """Return the example as a row of the table."""
        cells = [self.example, self.mutants]
        for what, form in (("trials", "{:,.0f}"), ("usd", "${:.2f}")):
            off = self.off(what)
            cells += [form.format(each) if each else "-" for each in (self.planned[what], self.spent[what])]
            cells.append("-" if off is None else f"{off:+.0%}")
        return f"| {' | '.join(cells)} |"


def compare(example: str) -> Compared:
    """Plan and run an example in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / example
        shutil.copytree(
            ROOT / "examples" / example, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__")
        )
        planned = _agentmut(project, "plan")["rounds"][-1]["total"]
        result = _agentmut(project, "run", "--yes", "--continue")
    score, cost = result["score"], result["cost"]
    statuses = f"{score['killed']} of {score['killed'] + score['survived']} killed, {score['no_coverage']} no coverage"
    return Compared(example, planned, {"trials": cost["trials"], "usd": cost["usd"]}, statuses)


def _agentmut(project: Path, *arguments: str) -> dict[str, Any]:
    agentmut = [sys.executable, "-m", "agentmut"]
    done = subprocess.run(
        [*agentmut, "simulate", "--port", "0", "--", *agentmut, *arguments, "--json"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout.strip():
        raise SystemExit(f"{project.name}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(examples: list[str]) -> int:
    """Print the table; return the exit code."""
    print("| example | mutants | trials planned | spent | off | dollars planned | spent | off |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    holds = True
    for example in examples or EXAMPLES:
        found = compare(example)
        print(found.row(), flush=True)
        holds = holds and found.holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
