"""Print every section as Markdown; exit code 1 if a figure is not as promised.

`docs/calibration.md` is the output of `python -m benchmarks.calibration --full`.
"""

import importlib
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration.figures import Figure, Section

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
    "precision",
    "proxied",
    "ci",
    "sprt",
    "warm_start",
    "watch",
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
SIZED = ("drift", "rounds", "pasted")
"""Sections whose full pass takes a quarter of an hour, and that `--size` makes smaller."""
USAGE = f"""usage: python -m benchmarks.calibration [--full [--size N]] [SECTION ...]
sections: {", ".join(SECTIONS)}
N: campaigns or projects of a cell, at least 2; for {", ".join(SIZED)} alone"""


def measured(name: str, *, thorough: bool, size: int | None = None) -> Section:
    """Return one section, computed now. Seconds for a quick pass, minutes for a thorough one."""
    module = importlib.import_module(f"benchmarks.calibration.{name}")
    sized = {"size": size} if name in SIZED else {}
    found: Section = module.section(thorough=thorough, **sized)
    return found


def lines(section: Section) -> list[str]:
    """Return a section as Markdown."""
    head = ["| figure | measured | promised | |", "| --- | --- | --- | --- |"]
    return [f"## {section.title}", "", section.how, "", *head, *map(_row, section.figures), ""]


def _row(figure: Figure) -> str:
    error = f" ± {figure.error:.2g}" if figure.error else ""
    return f"| {figure.what} | {figure.measured:.4g}{error} | {figure.promised} | {_mark(figure)} |"


def _mark(figure: Figure) -> str:
    if not figure.holds:
        return "**FAILS**"
    if not figure.bounded:
        return ""
    return "holds" if figure.low <= figure.measured <= figure.high else "holds within its error"


def main(arguments: Sequence[str]) -> int:
    """Return the command; returns its exit code: 0, 1 for a broken promise, 2 for a wrong command line."""
    try:
        asked = _asked(arguments)
    except ValueError:
        print(USAGE, file=sys.stderr)
        return 2
    names, full, size = asked
    print(_title(full, size), end="\n\n")
    figures = failures = 0
    for section in _sections(names, full, size):
        figures += len(section.figures)
        failures += len(section.failures)
        print("\n".join(lines(section)), flush=True)
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


def _asked(arguments: Sequence[str]) -> _Asked:
    """Read the command line; `ValueError` where it is wrong."""
    left = [argument for argument in arguments if argument != "--full"]
    full, size = len(left) < len(arguments), None
    if "--size" in left:
        at = left.index("--size")
        size = int("".join(left[at + 1 : at + 2]))
        del left[at : at + 2]
    names = left or list(SECTIONS)
    unsized = size is not None and (size < 2 or not full or not set(names) <= set(SIZED))
    if unsized or not set(names) <= set(SECTIONS):
        raise ValueError
    return _Asked(names, full, size)


def _title(full: bool, size: int | None = None) -> str:
    command = (
        f"python -m benchmarks.calibration{' --full' if full else ''}{f' --size {size}' if size else ''}"
    )
    return (
        "# Calibration\n\nEvery promised rate next to the measured one. A simulated figure has its standard error and "
        f"holds if it is within four of them.\nOutput of `{command}`, commit {_commit()}."
    )


def _commit() -> str:
    """Return the commit of this checkout, as far as git knows it."""
    git = partial(subprocess.run, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    try:
        commit = git(["git", "rev-parse", "--short", "HEAD"]).stdout.strip() or "unknown"
        changed = git(["git", "status", "--porcelain", "--untracked-files=no", "--", "."]).stdout.strip()
    except OSError:
        return "unknown"
    return f"{commit} with uncommitted changes" if changed else commit


def _sections(names: Sequence[str], full: bool, size: int | None) -> Iterator[Section]:
    """Yield the sections in order; a full pass uses every core."""
    if not full:
        yield from (measured(name, thorough=False) for name in names)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(partial(_whatever_happens, size), names)


def _whatever_happens(size: int | None, name: str) -> Section:
    """Return a section, at length; one that cannot be computed is a broken promise, and costs the others nothing."""
    try:
        return measured(name, thorough=True, size=size)
    except (ArithmeticError, ValueError, MemoryError) as error:
        return Section(name, f"Not computed: {error}", (Figure("computed", math.nan, "yes"),))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
