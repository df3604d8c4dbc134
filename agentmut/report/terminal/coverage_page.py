"""The coverage of a suite, for a terminal."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from agentmut.insight import PAPER, Coverage, CoverageItem, Dimension, DimensionCoverage, ScenarioCoverage
from agentmut.report.paint import WIDTH, Page, clean, shorten
from agentmut.report.report_wording import counted, origins_line

SHOWN = {"few": 5, "all": 1_000_000, "none": 0}
"""Items listed of each kind, by what `--items` says."""
_COUNTED_ONLY = (Dimension.PATH, Dimension.STATE)
"""Dimensions whose items have no names that say much."""
_ROOM = 24
"""Characters of a text that are worth putting behind a name."""
ABLATION = (
    "A rule is covered by ablation where a mutant that drops or negates it was killed, or where the agent's behaviour "
    "changed without it (which chance alone says of one survivor in twenty)."
)
SILENT = (
    "The loss of a rule that is not covered was not noticed. `agentmut report` lists its mutant, `agentmut show ID` "
    "explains it."
)
UNCOMPARED = (
    "A rule that is not covered has no killed mutant. For {}, behaviour without the rule was not compared, as always "
    "with `store: {{texts: none}}`. `agentmut report` lists its mutant."
)


def render_coverage(coverage: Coverage, color: bool = False, shown: int = SHOWN["few"]) -> str:
    """Return the page of coverage: dimensions, uncovered items, coverage by scenario, left-out runs."""
    page = Page(color)
    value = "n/a" if coverage.overall is None else f"{coverage.overall:.2f}"
    page.add(Text(f"Coverage {value}", style="bold"))
    runs = counted(coverage.traces, "stored run")
    run = [row for row in coverage.scenarios if row.traces]
    page.add(f"{runs} of {counted(len(run), 'scenario')}; nothing was executed.")
    page.add(origins_line(coverage.origins))
    if never := [row.scenario for row in coverage.scenarios if not row.traces]:
        said = f"{', '.join(never)}: no stored run, so nothing is known of what it covers. `agentmut run` makes some."
        page.add(clean(said), style="yellow")
    if coverage.failed:
        which = "All of them" if coverage.failed == coverage.traces else f"{coverage.failed} of them"
        said = shorten(coverage.failure, 300)
        page.add(f"{which} ended without an answer. The first: {said}", style="red")
    _dimensions(page, coverage)
    _uncovered(page, coverage, shown)
    _scenarios(page, coverage.scenarios, shown)
    _left_out(page, coverage, shown)
    for note in coverage.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")
    _next(page, coverage)
    return page.text()


def _dimensions(page: Page, coverage: Coverage) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("")
    for name in ("covered", "of", "value"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("found by", overflow="fold")
    for row in coverage.dimensions:
        table.add_row(*_row(row))
    page.add()
    page.add(table)
    page.add()
    page.add(_mean(coverage.dimensions))


def _row(row: DimensionCoverage) -> tuple[str, ...]:
    name = row.dimension.value
    if row.value is None or row.total is None:
        return name, "-", "-", "-", clean(row.basis)
    aim = "" if row.target is None else f" (aim {row.target:g})"
    return (
        name,
        str(row.covered),
        f"{row.total:.10g}" if float(row.total).is_integer() else f"{row.total:.1f}",
        (f"{row.value:.2f}{aim}"),
        clean(row.basis),
    )


def _mean(rows: Sequence[DimensionCoverage]) -> str:
    paper = [row for row in rows if row.dimension in PAPER]
    counting = [row for row in paper if row.value is not None and row.weight]
    if not counting:
        return "No dimension counts: the agent has no dimension whose weight is above 0 (coverage.weights)."
    uneven = len({row.weight for row in counting}) > 1
    names = ", ".join(
        f"{row.dimension.value} (weight {row.weight:g})" if uneven else row.dimension.value
        for row in counting
    )
    others = [row.dimension.value for row in paper if row not in counting]
    left = f" Left out of it: {', '.join(others)}." if others else ""
    return f"Overall is the geometric mean of {names}.{left} It does not count the other rows."


def _uncovered(page: Page, coverage: Coverage, shown: int) -> None:
    if not coverage.uncovered or not shown:
        return
    page.title(f"Not covered ({len(coverage.uncovered)})")
    for dimension in Dimension:
        found = [item for item in coverage.uncovered if item.dimension is dimension]
        for item in found[:shown]:
            for line in _item_lines(item):
                page.line(line)
        if len(found) > shown:
            page.line(f"  ... and {len(found) - shown} more of {dimension.value}: `--items all` lists them")
    if any(item.dimension is Dimension.ABLATION for item in coverage.uncovered):
        page.add(f"{ABLATION} {_not_covered(coverage)}")


def _not_covered(coverage: Coverage) -> str:
    """Return what is known of rules that no ablation covers."""
    unknown = sum(rule.ablation == "uncompared" for rule in coverage.rules)
    return UNCOMPARED.format(counted(unknown, "rule")) if unknown else SILENT


def _item_lines(item: CoverageItem) -> Iterator[str]:
    """Yield the lines of an item: its whole name, and as much of its text as fits."""
    name = f"  {clean(str(item))}"
    room = WIDTH - len(name) - 2
    if not item.text or room >= _ROOM:
        yield f"{name}  {shorten(item.text, room)}".rstrip()
        return
    yield name
    yield f"      {shorten(item.text, WIDTH - 6)}"


def _next(page: Page, coverage: Coverage) -> None:
    if not coverage.uncovered:
        return
    page.add()
    if coverage.failed == coverage.traces:
        page.add("Next: make the agent answer, and measure again.")
        return
    page.add(
        "Next: `agentmut suggest` proposes assertions, and with --scenarios it searches for inputs that cover more."
    )


def _scenarios(page: Page, scenarios: Sequence[ScenarioCoverage], shown: int) -> None:
    page.title("What each scenario covers, and what it alone covers")
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("scenario", overflow="fold")
    for name in ("runs", "items", "alone"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("by name", overflow="fold")
    for row in scenarios:
        named = [item for item in row.alone if item.dimension not in _COUNTED_ONLY]
        said = ", ".join(clean(str(item)) for item in named[:shown])
        more = f" and {len(named) - shown} more" if len(named) > shown else ""
        counts = (str(row.traces), str(len(row.covered)), str(len(row.alone)))
        table.add_row(clean(row.scenario), *counts, f"{said}{more}")
    page.add(table)
    if any(item.dimension in _COUNTED_ONLY for row in scenarios for item in row.alone):
        page.add("Paths and states are counted, not listed; `--json` has them.")


def _left_out(page: Page, coverage: Coverage, shown: int) -> None:
    if not coverage.left_out:
        return
    page.title(f"Left out, not counted ({len(coverage.left_out)})")
    by_reason: dict[str, list[str]] = {}
    for each in coverage.left_out:
        by_reason.setdefault(each.why, []).append(each.what)
    for why, what in by_reason.items():
        listed = ", ".join(clean(one) for one in what[:shown])
        more = f" and {len(what) - shown} more" if 0 < shown < len(what) else ""
        page.hang(f"{clean(why)}: {listed or len(what)}{more}")
