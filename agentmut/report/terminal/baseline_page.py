"""A saved baseline for a terminal, and what a comparison with it will notice."""

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from agentmut.nouns import Cost
from agentmut.report.paint import Page, clean
from agentmut.report.terminal.verdicts_page import plain_table, spent
from agentmut.stats import wilson
from agentmut.store import PowerCell, SavedBaseline, SavedScenario

KINDS = 3
"""Tables of power that are printed at most: scenarios with equal chances share one, and --json has all."""


def render_baseline(saved: SavedBaseline, cost: Cost, where: str = "") -> str:
    """Return what `agentmut baseline save` kept, as text; `where` is the option that names the project,
    if it has to.
    """
    page = Page(color=False)
    page.add(f"Baseline {saved.name!r}: {saved.agent.adapter} agent, config {saved.agent.digest[:12]}")
    table = plain_table("scenario", "passed", "rate [95 % wilson]")
    for name, kept in saved.scenarios.items():
        interval = wilson(kept.passes, kept.trials)
        rate = "-" if interval.estimate is None else f"{interval.estimate:.2f}"
        table.add_row(
            clean(name), f"{kept.passes}/{kept.trials}", f"{rate} [{interval.low:.2f}, {interval.high:.2f}]"
        )
    page.add(table)
    _add_power(page, saved.scenarios)
    for remark in saved.remarks:
        page.add(f"Note: {clean(remark)}.", style="yellow")
    page.add(spent(cost))
    named = "" if saved.name == "default" else f" {saved.name}"
    page.add(f"Change the agent, then: `agentmut baseline compare{named}{where}`")
    return page.text()


def render_comparison_preview(saved: SavedBaseline, method: str) -> str:
    """Return what `agentmut baseline compare --preview` says, as text."""
    page = Page(color=False)
    page.add(f"{method} comparison with baseline {saved.name!r}; nothing has been run")
    _add_power(page, saved.scenarios)
    page.add(
        "These chances are exact for today's settings, if the baseline's observed rate is the true rate. For a larger "
        "baseline they include the price of checking it at smaller sizes first."
    )
    return page.text()


def _add_power(page: Page, scenarios: Mapping[str, SavedScenario]) -> None:
    """Add one table for the scenarios of each kind: the chance of FAIL by drop and size of the baseline."""
    kinds: dict[tuple[PowerCell, ...], list[str]] = {}
    for name, saved in scenarios.items():
        if saved.power:
            kinds.setdefault(saved.power, []).append(name)
    for cells, names in list(kinds.items())[:KINDS]:
        kept = scenarios[names[0]]
        page.title(f"Chance of FAIL, {clean(', '.join(names))} ({kept.passes}/{kept.trials} passed)")
        page.add(_power_table(cells))
    if len(kinds) > KINDS:
        page.add(f"{len(kinds) - KINDS} more such tables are in --json.")


def _power_table(cells: Sequence[PowerCell]) -> Table:
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
