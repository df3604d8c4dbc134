"""`python -m benchmarks.calibration.in_words`: write docs/error-rates.md and its plots from the calibration tables.

The tables in docs/calibration are the data, the page is for reading. With `--csv` the command prints all tables as one:
a row for each figure.
"""

import csv
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.calibration import pictures
from benchmarks.calibration.tables import COLUMNS, Result, Table, read

PAGE = Path(__file__).parents[2] / "docs" / "error-rates.md"
_HEAD = """# How often agentmut was right

agentmut promises error rates: how often an unchanged agent is called killed, how often a real drop is missed, how often
an interval holds the truth. Each promise was measured, by exact calculation or by simulation with a known truth. This
page counts the results and draws them. The figures themselves are data: a CSV file for each section
([below](#by-section)), and [how each section was measured](calibration/sections.csv), with its commit.

`python -m benchmarks.calibration --full --write` measures everything again and writes the files, the plots and this
page. `python -m benchmarks.calibration.in_words` writes the plots and the page from the files. With `--csv` it prints
all files as one.

What the main promises mean:

- **A false kill.** At most 5 of 100 mutants without effect are called killed (`statistics.alpha`).
- **A missed drop.** About 10 of 100 mutants that fail 0.2 more often survive (`statistics.power`), on average over
  baselines.
- **The interval of the score.** In at least 95 of 100 runs it holds the score that endless trials would give.
- **A false FAIL.** At most 5 of 100 agents that meet their threshold are failed.

## All promises in one picture

![By section, each figure with a bound as a share of the bound; nearly every dot lies left of 1](pictures/promises.svg)

A dot is a figure that may be at most as large as promised. It lies at the measured figure divided by the promise: left
of the dashed line, the promise holds. A dot on the right belongs to a simulation. If the list below does not name it,
it is beyond the promise by less than four standard errors, which chance can do. Many dots lie close to the line: a
rule that uses all of its promise notices most.

## Three promises in detail

Each dot is a figure of the files, and the dashed line is the promise.

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
A file has a row for each figure: what was measured, the number, its standard error if it was simulated, the promise in
words, and the result. A simulated figure holds if it is within four standard errors of its promise. An exact figure
holds if it is on the right side of its promise. A figure with an empty result is reported, and nothing is promised
about it.

A simulation on coins is no evidence about real models: services drift, and runs may depend
on each other. [Limits](limitations.md) says what this changes.
"""


def as_csv(tables: Sequence[Table]) -> str:
    """Return the tables as one: the columns of a table's file, after the section's title."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("section", *COLUMNS))
    writer.writerows((table.section, *row) for table in tables for row in table.rows)
    return file.getvalue()


def page(tables: Sequence[Table]) -> str:
    """Return the page."""
    results = Counter(row.result for table in tables for row in table.rows)
    held = results[Result.HOLDS] + results[Result.WITHIN]
    failed = [_failure(table, at) for table in tables for at in range(len(table.rows))]
    lines = [
        _HEAD,
        f"**{held:,} of {held + results[Result.FAILS]:,} promised figures hold.** "
        f"{results[Result.WITHIN]:,} of them are beyond the",
        "promise by less than four standard errors. "
        + ("These do not hold:" if results[Result.FAILS] else "None fails."),
        "",
        *(f"- {one}." for one in failed if one),
        "",
        "## By section",
        "",
        "Each section is a file to download. The first column links to it.",
        "",
        "| what was measured | promised figures that hold | figures without a promise |",
        "| --- | ---: | ---: |",
        *map(_line, tables),
        _FOOT,
    ]
    return "\n".join(lines).rstrip() + "\n"


def _failure(table: Table, at: int) -> str:
    row = table.rows[at]
    if row.result is not Result.FAILS:
        return ""
    return f"**{table.section}**, {row.figure}: {row.shown}, promised {row.promised}"


def _line(table: Table) -> str:
    count = Counter(row.result for row in table.rows)
    held, free = count[Result.HOLDS] + count[Result.WITHIN], count[Result.NONE]
    promised = len(table.rows) - free
    return f"| [{table.section}](calibration/{table.file}) | {held:,} of {promised:,} | {free:,} |"


def write() -> None:
    """Write the page and its plots from the stored tables."""
    tables = read()
    PAGE.write_text(page(tables), encoding="utf-8")
    pictures.write(tables)


if __name__ == "__main__":
    if "--csv" in sys.argv[1:]:
        print(as_csv(read()), end="")
    else:
        write()
