"""Make a sheet of proposals to be graded blind, or count graded sheets.

`python -m benchmarks.proposals run FOLDER` writes six agents with thin suites (`thin.py`) and runs them: minutes.
With `--fresh` they are six others, which nobody who works on the miner had seen before they were graded; since the
miner was mended by those grades, `--unseen` has six more, and `--unseen2` to `--unseen4` another six each.
`python -m benchmarks.proposals sheet FOLDER ... > sheet.csv` takes projects with a finished run, mines the assertions
of their survivors (nothing is run), and draws at most ten of each project, in another order for each `--grader N`.
`python -m benchmarks.proposals table` prints which kinds of proposals graders accept, `forecast` what the present
rules keep of what was graded, and `against FOLDER ... > benchmarks/proposals/bases.csv` makes the table for `forecast`
from finished runs of the graded agents.
`python -m benchmarks.proposals count ONE.csv TWO.csv` prints the share of yes and how far both graders agree.
The rubric is `benchmarks/proposals/rubric.md`; the goal is a share of .8. An example's agent is built
with the simulator's addresses: put `agentmut simulate --` before the command.
"""

import csv
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import canonical_json
from benchmarks.proposals.against import against, forecast
from benchmarks.proposals.mined import rows
from benchmarks.proposals.table import print_table
from benchmarks.proposals.thin import FOURTH, FRESH, KNOWN, SECOND, THIRD, UNSEEN, Thin, run

COLUMNS = ("number", "input", "rule", "assertion", "grade")
EACH = 10
GOAL = 0.8
USAGE = (
    "usage: python -m benchmarks.proposals run FOLDER [--fresh|--unseen|--unseen2|--unseen3|--unseen4] | "
    "sheet FOLDER ... [--grader N] | count ONE.csv [TWO.csv] | table | against FOLDER ... | forecast"
)


class Counted(NamedTuple):
    """Two graders, or one."""

    graded: int
    """Proposals with a grade of each grader."""
    shares: tuple[float, ...]
    """The share of yes of each grader."""
    agreement: float
    kappa: float | None
    """Cohen's; None where chance alone would agree always."""


def sheet(found: Sequence[Mapping[str, str]], grader: int) -> list[dict[str, str]]:
    """Return numbered rows in a grader's order; a number is the same row for every grader."""
    numbered = [{"number": str(i), **row, "grade": ""} for i, row in enumerate(found, 1)]
    random.Random(grader).shuffle(numbered)
    return numbered


def drawn(found: Sequence[dict[str, str]], folder: Path) -> list[dict[str, str]]:
    """Return at most `EACH` different rows of a project, by chance."""
    different = list({canonical_json(row): row for row in found}.values())
    random.Random(folder.name).shuffle(different)
    return different[:EACH]


def counted(graders: Sequence[Mapping[str, bool]]) -> Counted:
    """Count what was graded by all graders, by number of the row."""
    common = set.intersection(*(set(one) for one in graders))
    n = len(common)
    if not n:
        return Counted(0, (), 0.0, None)
    shares = tuple(sum(one[i] for i in common) / n for one in graders)
    same = sum(len({one[i] for one in graders}) == 1 for i in common) / n
    first, last = shares[0], shares[-1]
    chance = first * last + (1 - first) * (1 - last)
    return Counted(n, shares, same, None if chance == 1 else (same - chance) / (1 - chance))


def counted_in_words(found: Counted) -> str:
    """Return the line that `count` prints; of one grader, no agreement.

    >>> counted_in_words(Counted(50, (0.7,), 1.0, 1.0))
    '50 graded; yes: 0.70 (goal 0.8); one grader, so no agreement'
    """
    said = f"{found.graded} graded; yes: {', '.join(f'{one:.2f}' for one in found.shares)} (goal {GOAL})"
    if len(found.shares) < 2:
        return f"{said}; one grader, so no agreement"
    kappa = "not defined" if found.kappa is None else f"{found.kappa:.2f}"
    return f"{said}; agreement {found.agreement:.2f}, kappa {kappa}"


def graded(path: Path) -> dict[str, bool]:
    """Return the grades of a sheet by number; rows without yes or no are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        said = {row["number"]: row["grade"].strip().lower() for row in csv.DictReader(file)}
    return {number: grade == "yes" for number, grade in said.items() if grade in ("yes", "no")}


def _agents(arguments: Sequence[str]) -> tuple[Thin, ...]:
    sets = {
        "--fresh": FRESH,
        "--unseen": UNSEEN,
        "--unseen2": SECOND,
        "--unseen3": THIRD,
        "--unseen4": FOURTH,
    }
    return next((agents for option, agents in sets.items() if option in arguments), KNOWN)


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0; 1 where the goal is missed; 2 for a wrong command line."""
    if arguments in (["table"], ["forecast"]):
        return print_table() if arguments == ["table"] else forecast()
    if len(arguments) < 2 or arguments[0] not in ("run", "sheet", "count", "against"):
        print(USAGE, file=sys.stderr)
        return 2
    if arguments[0] == "against":
        return against(map(Path, arguments[1:]))
    if arguments[0] == "run":
        return run(Path(arguments[1]), _agents(arguments))
    if arguments[0] == "count":
        found = counted([graded(Path(name)) for name in arguments[1:]])
        print(counted_in_words(found))
        return 0 if found.shares and min(found.shares) >= GOAL else 1
    grader = int(arguments[arguments.index("--grader") + 1]) if "--grader" in arguments else 1
    folders = [Path(name) for name in arguments[1:] if name not in ("--grader", str(grader))]
    taken = [row for folder in folders for row in drawn(list(rows(folder)), folder)]
    writer = csv.DictWriter(sys.stdout, COLUMNS)
    writer.writeheader()
    writer.writerows(sheet(taken, grader))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
