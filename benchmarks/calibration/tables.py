"""The measured figures as data: docs/calibration has a CSV file for each section, and `sections.csv` lists the files.

A file has a row for each figure: `figure`, `measured`, `error` (the standard error of a simulated figure, else empty),
`promised` (in words) and `result`. `sections.csv` has a row for each section: `section`, `file`, `made` (commit and
command) and `how` (exactly or by simulation, of what, with which seed).
"""

import csv
import re
import subprocess
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration.figures import Figure, Section

FOLDER = Path(__file__).parents[2] / "docs" / "calibration"
INDEX = "sections.csv"


class Result(StrEnum):
    """What became of a promise."""

    HOLDS = "holds"
    WITHIN = "holds within its error"
    """A simulated figure that is outside of its promise, by at most four standard errors."""
    FAILS = "fails"
    NONE = ""
    """Nothing is promised."""


class Row(NamedTuple):
    """One figure, as the files have it."""

    figure: str
    measured: str
    error: str
    promised: str
    result: Result

    @property
    def shown(self) -> str:
        """Return the measured number, with its standard error if it has one."""
        return f"{self.measured} ± {self.error}" if self.error else self.measured


class Table(NamedTuple):
    """The figures of a section."""

    section: str
    made: str
    how: str
    rows: tuple[Row, ...]

    @property
    def file(self) -> str:
        """Return the name of the table's file.

        >>> Table("Kill rule: a share for the suite", "", "", ()).file
        'kill-rule-a-share-for-the-suite.csv'
        """
        return "-".join(re.findall(r"[a-z0-9]+", self.section.lower())) + ".csv"


COLUMNS = Row._fields
INDEX_COLUMNS = ("section", "file", "made", "how")


def row_of(figure: Figure) -> Row:
    """Return a figure as the files have it: four digits of the number, two of its error."""
    error = f"{figure.error:.2g}" if figure.error else ""
    return Row(figure.what, f"{figure.measured:.4g}", error, figure.promised, result_of(figure))


def result_of(figure: Figure) -> Result:
    """Return what became of the figure's promise."""
    if not figure.holds:
        return Result.FAILS
    if not figure.bounded:
        return Result.NONE
    return Result.HOLDS if figure.low <= figure.measured <= figure.high else Result.WITHIN


def table_of(section: Section, made: str) -> Table:
    """Return a section's table; `made` names its commit and command."""
    return Table(section.title, made, section.how, tuple(map(row_of, section.figures)))


def read(folder: Path = FOLDER) -> tuple[Table, ...]:
    """Return the tables that the folder's index lists, in its order."""
    return tuple(
        Table(each["section"], each["made"], each["how"], tuple(_rows(folder / each["file"])))
        for each in _records(folder / INDEX)
    )


def _rows(path: Path) -> Iterable[Row]:
    for each in _records(path):
        yield Row(each["figure"], each["measured"], each["error"], each["promised"], Result(each["result"]))


def _records(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(tables: Sequence[Table], folder: Path = FOLDER) -> None:
    """Write the tables and their index. A table takes the place of the stored one of its section; others stay."""
    stored = {each.section: each for each in (read(folder) if (folder / INDEX).is_file() else ())}
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        stored[table.section] = table
        _write(folder / table.file, COLUMNS, table.rows)
    index = [(each.section, each.file, each.made, each.how) for each in stored.values()]
    _write(folder / INDEX, INDEX_COLUMNS, index)


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows((head, *rows))


def commit() -> str:
    """Return the commit of this checkout, as far as git knows it."""
    git = partial(subprocess.run, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    try:
        short = git(["git", "rev-parse", "--short", "HEAD"]).stdout.strip() or "unknown"
        changed = git(["git", "status", "--porcelain", "--untracked-files=no", "--", "."]).stdout.strip()
    except OSError:
        return "unknown"
    return f"{short} with uncommitted changes" if changed else short
