"""Measure every section and print it as Markdown; exit with code 1 if a figure is not as promised.

With `--write`, a full pass also writes the sections to docs/calibration, and then docs/error-rates.md and its plots.
"""

import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

from benchmarks.calibration import in_words, tables
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.tables import Result, Row, commit, row_of

SECTIONS = (
    "kill",
    "suprema",
    "bound",
    "suite_share",
    "reached",
    "drift",
    "drift_named",
    "rounds",
    "campaign",
    "fork",
    "score",
    "score_rounds",
    "precision",
    "proxied",
    "ci",
    "ci_engine",
    "sprt",
    "warm_start",
    "watch",
    "nearest",
    "verdicts",
    "judged",
    "further",
    "regression",
    "kept_baselines",
    "intervals",
    "resampling",
    "tests",
    "traces",
    "behaviour",
    "losses",
    "pooled",
    "reliability",
    "pasted",
    "pass_rates",
    "outages",
)
"""Modules of this package with a function `section(*, thorough: bool) -> Section`."""
SIZED = ("drift", "drift_named", "rounds", "pasted")
"""Sections whose full pass takes a quarter of an hour, and that `--size` makes smaller."""
USAGE = f"""usage: python -m benchmarks.calibration [--full [--size N] [--only TEXT] [--write]] [SECTION ...]
--write: write the sections to docs/calibration, then docs/error-rates.md and its plots
sections: {", ".join(SECTIONS)}
N: campaigns or projects of a cell, at least 2; for {", ".join(SIZED)} alone
TEXT: the courses of the service to measure, those whose name has the text; for drift alone, and not with --write"""


def measured(name: str, *, thorough: bool, size: int | None = None, only: str = "") -> Section:
    """Return one section, computed now. Seconds for a quick pass, minutes for a thorough one."""
    module = importlib.import_module(f"benchmarks.calibration.{name}")
    asked = ({"size": size} if name in SIZED else {}) | ({"only": only} if only else {})
    found: Section = module.section(thorough=thorough, **asked)
    return found


def lines(section: Section) -> list[str]:
    """Return a section as Markdown."""
    head = ["| figure | measured | promised | |", "| --- | --- | --- | --- |"]
    return [
        f"## {section.title}",
        "",
        section.how,
        "",
        *head,
        *(_row(row_of(figure)) for figure in section.figures),
        "",
    ]


def _row(row: Row) -> str:
    mark = "**FAILS**" if row.result is Result.FAILS else row.result
    return f"| {row.figure} | {row.shown} | {row.promised} | {mark} |"


def report(section: Section, command: str, *, write: bool) -> None:
    """Print a section; with `write`, store its table and make the page and the plots anew."""
    print("\n".join(lines(section)), flush=True)
    if write:
        tables.write([tables.table_of(section, f"Commit {tables.commit()}, by `{command}`")])
        in_words.write()


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code: 0, 1 for a broken promise, 2 for a wrong command line."""
    try:
        asked = _asked(arguments)
    except ValueError:
        print(USAGE, file=sys.stderr)
        return 2
    print(_title(asked), end="\n\n")
    figures = failures = 0
    for section in _sections(asked):
        figures += len(section.figures)
        failures += len(section.failures)
        report(section, asked.command, write=asked.write)
    print(
        f"{failures} of {figures} figures are not as promised."
        if failures
        else f"All {figures} figures hold."
    )
    return 1 if failures else 0


class _Asked(NamedTuple):
    names: list[str]
    full: bool
    size: int | None
    only: str
    """A part of the names of the courses to measure; empty for all."""
    write: bool

    @property
    def command(self) -> str:
        """Return the command without its sections, as the tables name it."""
        size, only = (
            (f" --size {self.size}" if self.size else ""),
            f" --only '{self.only}'" if self.only else "",
        )
        return f"python -m benchmarks.calibration{' --full' if self.full else ''}{size}{only}"


def _asked(arguments: Sequence[str]) -> _Asked:
    """Read the command line; `ValueError` where it is wrong."""
    left = [argument for argument in arguments if argument not in ("--full", "--write")]
    full, written = "--full" in arguments, "--write" in arguments
    size, only = _taken(left, "--size"), _taken(left, "--only")
    names = left or list(SECTIONS)
    asked = _Asked(names, full, None if size is None else int(size), only or "", written)
    if not set(names) <= set(SECTIONS) or (written and not full) or only == "" or _unfit(asked):
        raise ValueError
    return asked


def _taken(left: list[str], option: str) -> str | None:
    """Take an option with its value out of the arguments; None if it is not there."""
    if option not in left:
        return None
    at = left.index(option)
    value = "".join(left[at + 1 : at + 2])
    del left[at : at + 2]
    return value


def _unfit(asked: _Asked) -> bool:
    """Return whether an option does not go with the sections, or with the rest of the command."""
    names = set(asked.names)
    unsized = asked.size is not None and (asked.size < 2 or not asked.full or not names <= set(SIZED))
    return unsized or bool(asked.only and (not asked.full or asked.write or names != {"drift"}))


def _title(asked: _Asked) -> str:
    return (
        "# Calibration\n\nEvery promised rate next to the measured one. A simulated figure has its standard error and "
        f"holds if it is within four of them.\nOutput of `{asked.command}`, commit {commit()}."
    )


def _sections(asked: _Asked) -> Iterator[Section]:
    """Yield the sections in order; a full pass uses every core."""
    if not asked.full:
        yield from (measured(name, thorough=False) for name in asked.names)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(partial(_whatever_happens, asked), asked.names)


def _whatever_happens(asked: _Asked, name: str) -> Section:
    """Return a section, at length; one that cannot be computed is a broken promise, and costs the others nothing."""
    try:
        return measured(name, thorough=True, size=asked.size, only=asked.only)
    except (ArithmeticError, ValueError, MemoryError) as error:
        return Section(name, f"Not computed: {error}", (Figure("computed", math.nan, "yes"),))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
