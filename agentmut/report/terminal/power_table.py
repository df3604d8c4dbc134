"""Tables of what a comparison with a baseline will notice."""

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from agentmut.report.paint import Page, clean
from agentmut.store import PowerCell, SavedScenario

KINDS = 3
"""Tables that are printed at most: scenarios with equal chances share one, and --json has all."""


def add_power(page: Page, scenarios: Mapping[str, SavedScenario]) -> None:
    """Add one table for the scenarios of each kind: the chance of FAIL by drop and size of the baseline."""
    kinds: dict[tuple[PowerCell, ...], list[str]] = {}
    for name, saved in scenarios.items():
        if saved.power:
            kinds.setdefault(saved.power, []).append(name)
    for cells, names in list(kinds.items())[:KINDS]:
        kept = scenarios[names[0]]
        page.title(f"Chance of FAIL, {clean(', '.join(names))} ({kept.passes}/{kept.trials} passed)")
        page.add(_table(cells))
    if len(kinds) > KINDS:
        page.add(f"{len(kinds) - KINDS} more such tables are in --json.")


def _table(cells: Sequence[PowerCell]) -> Table:
    sizes = sorted({cell.trials for cell in cells})
    first, *others = (str(size) for size in sizes)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("drop by")
    for name in (f"{first} trials", *others):
        table.add_column(name, justify="right", no_wrap=True)
    for row in _rows(cells, sizes):
        table.add_row(*row)
    return table


def _rows(cells: Sequence[PowerCell], sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    found = {(cell.drop, cell.trials): cell.fail for cell in cells}
    for drop in sorted({cell.drop for cell in cells}):
        yield f"{drop:g}", *(f"{found[drop, size]:.2f}" for size in sizes)
