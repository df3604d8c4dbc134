"""`python -m benchmarks.calibration.in_words > docs/error-rates.md`: how often agentmut was right, in plain sentences.

The sentences count the figures of docs/calibration.md: the tables are the data, this page is for reading. With `--csv`
the command prints the tables as data: one row a figure.
"""

import csv
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TABLES = Path(__file__).parents[2] / "docs" / "calibration.md"
_HEAD = """# How often agentmut was right

agentmut promises error rates: how often an unchanged agent is called killed, how often a real drop is missed, how often
an interval holds the truth. Each promise was measured, by exact calculation or by simulation with a known truth. This
page counts the results; `python -m benchmarks.calibration.in_words` makes it from the
[calibration tables](calibration.md). With `--csv` the same command prints the tables as data, one row a figure.

What the main promises mean:

- **A false kill.** At most 5 of 100 mutants without effect are called killed (`statistics.alpha`).
- **A missed drop.** About 10 of 100 mutants that fail 0.2 more often survive (`statistics.power`), on average over
  baselines.
- **The interval of the score.** In at least 95 of 100 runs it holds the score that endless trials would give.
- **A false FAIL.** At most 5 of 100 agents that meet their threshold are failed.

Three of the promises have a picture. Each dot is a figure of the tables, and the dashed line is the promise.
`python -m benchmarks.calibration.pictures` draws them.

![Chance of a false kill by the number of baseline trials; every dot lies below 0.05](pictures/false-kills.svg)

Whatever the failure rate of the unchanged agent is, at most 5 of 100 mutants without effect are called killed. The
rule uses nearly all of what is promised at each size of the baseline.

![Chance that a drop of 0.2 is noticed, by the agent's pass rate, from 0.785 to 0.911](pictures/drops-noticed.svg)

A drop of 0.2 is noticed in 91 of 100 cases where the unchanged agent passes 99 of 100 runs. At lower pass rates
it is noticed less often than 0.9: an agent that passes half of its runs varies more, and the drop is noticed in 79 of
100 cases.

![How often each end of the interval of the score was right; every dot lies above 0.965](pictures/score-interval.svg)

Each end of the interval is right in at least 965 of 1,000 runs, in each simulated cell.
"""
_FOOT = """
A simulated figure holds if it is within four standard errors of its promise. An exact figure holds if it is on the
right side of its promise. A simulation on coins is no evidence about real models: services drift, and runs may depend
on each other. [Limits](limitations.md) says what this changes.
"""


class Section(NamedTuple):
    """A section of the tables: its figures with what became of each promise."""

    title: str
    held: int
    failed: tuple[str, ...]
    """Figures outside of their promise, with both numbers."""
    told: int
    """Figures without a promise."""


def figures(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each section's title with its rows: the cells of a figure, a measurement and what follows it."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        rows = [
            [cell.strip() for cell in line.strip("| ").split(" | ")]
            for line in part.splitlines()
            if line.startswith("| ")
        ]
        rows = [row for row in rows if len(row) >= 3 and row[0] != "figure" and not row[0].startswith("---")]
        if rows:
            yield part.splitlines()[0].strip(), rows


def sections(text: str) -> Iterator[Section]:
    """Yield the sections of the tables that have figures."""
    for title, rows in figures(text):
        held = sum(row[-1].startswith("holds") for row in rows)
        failed = tuple(f"{row[0]}: {row[1]}, promised {row[2]}" for row in rows if "FAILS" in row[-1])
        yield Section(title, held, failed, len(rows) - held - len(failed))


def as_csv(text: str) -> str:
    """Return the tables as CSV: section, figure, measured, promised, and `holds`, `fails` or an empty result."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(("section", "figure", "measured", "promised", "result"))
    for title, rows in figures(text):
        for row in rows:
            result = "fails" if "FAILS" in row[-1] else "holds" if row[-1].startswith("holds") else ""
            table.writerow((title, *row[:3], result))
    return file.getvalue()


def page(text: str) -> str:
    """Return the page."""
    found = list(sections(text))
    held, failed = sum(each.held for each in found), [one for each in found for one in each.failed]
    lines = [
        _HEAD,
        f"**{held:,} of {held + len(failed):,} promised figures hold.** "
        + ("These do not:" if failed else "None is outside of its promise."),
        "",
        *(f"- {one}." for one in failed),
        "",
        "## By section",
        "",
        "| what was measured | promised figures that hold | figures without a promise |",
        "| --- | ---: | ---: |",
        *(
            f"| {each.title} | {each.held:,} of {each.held + len(each.failed):,} | {each.told:,} |"
            for each in found
        ),
        _FOOT,
    ]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    made = as_csv if "--csv" in sys.argv[1:] else page
    print(made(TABLES.read_text(encoding="utf-8")), end="")
