"""Print every section as Markdown; exit code 1 if a figure is not as promised."""

import importlib
import sys
from collections.abc import Sequence

from agentmut.stats.calibration.figures import Figure, Section

SECTIONS = (
    "intervals",
    "tests",
    "sprt",
    "verdicts",
    "regression",
    "traces",
    "reliability",
    "kill",
    "bound",
    "replay",
    "score",
    "ci",
    "resampling",
    "suite_share",
    "suprema",
)
"""Modules of this package with a function `section(*, thorough: bool) -> Section`."""
USAGE = f"usage: python -m agentmut.stats.calibration [--full] [SECTION ...]\nsections: {', '.join(SECTIONS)}"


def measured(name: str, *, thorough: bool) -> Section:
    """One section, computed now. Seconds for a quick pass, minutes for a thorough one."""
    module = importlib.import_module(f"agentmut.stats.calibration.{name}")
    found: Section = module.section(thorough=thorough)
    return found


def lines(section: Section) -> list[str]:
    """A section as Markdown."""
    head = [
        f"## {section.title}",
        "",
        section.how,
        "",
        "| figure | measured | promised | |",
        "| --- | --- | --- | --- |",
    ]
    return [*head, *map(_row, section.figures), ""]


def _row(figure: Figure) -> str:
    error = f" ± {figure.error:.2g}" if figure.error else ""
    mark = "holds" if figure.holds else "**FAILS**"
    return f"| {figure.what} | {figure.measured:.4g}{error} | {figure.promised} | {mark} |"


def main(arguments: Sequence[str]) -> int:
    """The command; returns its exit code: 0, 1 for a broken promise, 2 for a wrong command line."""
    wanted = [a for a in arguments if a != "--full"]
    if any(name not in SECTIONS for name in wanted):
        print(USAGE, file=sys.stderr)
        return 2
    failures = 0
    for name in wanted or SECTIONS:
        section = measured(name, thorough="--full" in arguments)
        failures += len(section.failures)
        print("\n".join(lines(section)), flush=True)
    print(f"{failures} figures are not as promised." if failures else "Every figure is as promised.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
