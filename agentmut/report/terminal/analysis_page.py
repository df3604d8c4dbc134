"""The analysis of imported runs, for a terminal."""

from collections.abc import Iterator
from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from agentmut.insight import PAPER
from agentmut.report.paint import Page, clean, shorten
from agentmut.report.reliability_wording import reliability_details, reliability_lines
from agentmut.report.report_wording import bounds_text, counted, origins_line
from agentmut.usecases import Analysis

SHOWN = 5
"""Rows of a table that a page shows without `full`: the scenarios with the lowest pass rates."""


def render_analysis(found: Analysis, color: bool = False, *, full: bool = False) -> str:
    """Return the page: origin and reliability of the runs, coverage, and violated rules."""
    page = Page(color)
    for line in _evidence(found):
        page.add(line)
    page.title("Reliability")
    if found.reliability is None:
        page.add("Nothing judges these runs: import them with an outcome, or give evaluators or a contract.")
    else:
        for line in (*reliability_lines(found.reliability), *reliability_details(found.reliability)):
            page.add(line)
    _scenarios(page, found, full)
    _groups(page, found)
    _coverage(page, found)
    _judges(page, found)
    page.title("Cost")
    for line in _spent(found):
        page.add(line)
    if found.scenarios_written:
        page.add(f"{counted(found.scenarios_written, 'scenario')} written. Read them before you trust them.")
    for note in found.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")
    return page.text()


def _evidence(found: Analysis) -> Iterator[Text | str]:
    given = found.evidence
    outcomes = ", ".join(f"{count} {name}" for name, count in found.outcomes.items())
    yield Text(f"{counted(given.imported, 'imported run')}: {outcomes}", style="bold")
    when = f" They started from {_day(given.first)} to {_day(given.last)}." if given.first is not None else ""
    versions = shorten(", ".join(given.versions), 60)
    own = given.origins.runs - given.origins.foreign
    head = "All of this evidence was imported" if own else "All of this evidence is foreign: it was imported"
    yield f"{head} ({', '.join(given.formats)}), and agentmut ran nothing.{when}"
    yield origins_line(given.origins)
    if own:
        yield f"agentmut itself ran {own} of these runs before, and exported them."
    size = f"{given.stored_bytes / 2**20:.1f} MiB"
    yield f"Versions of the agent: {versions}. The store holds {given.stored} runs, {size}."


def _day(moment: float | None) -> str:
    return "?" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def _scenarios(page: Page, found: Analysis, full: bool) -> None:
    judged = [row for row in found.scenarios if row.runs]
    if not judged:
        return
    page.title("Scenarios, the lowest pass rates first")
    table = _table("scenario", "passed", "runs", "jointly 95 %", "tokens")
    rows = sorted(judged, key=lambda row: (row.passes / row.runs, row.scenario))
    for row in rows if full else rows[:SHOWN]:
        joint = f"[{row.interval.low:.2f}, {row.interval.high:.2f}]" if row.interval else ""
        # records without tokens do not say that none were used
        tokens = f"{row.tokens:,}" if row.tokens else "-"
        table.add_row(shorten(row.scenario, 36), str(row.passes), str(row.runs), joint, tokens)
    page.add(table)
    if not full and len(rows) > SHOWN:
        page.add(f"... and {len(rows) - SHOWN} more: --full")


def _groups(page: Page, found: Analysis) -> None:
    if not found.groups:
        return
    page.title(f"By {clean(found.by)}")
    table = _table("value", "passed", "runs", "scenarios", "pass rate, jointly 95 %")
    for row in found.groups:
        counts = str(row.passes), str(row.runs), str(row.scenarios)
        table.add_row(shorten(row.value, 28), *counts, bounds_text(row.pass_rate))
    page.add(table)


def _coverage(page: Page, found: Analysis) -> None:
    coverage = found.coverage
    value = "n/a" if coverage.overall is None else f"{coverage.overall:.2f}"
    page.title(f"Coverage {value}")
    table = _table("dimension", "covered", "of", "value")
    for row in coverage.dimensions:
        if row.value is not None and row.total is not None:
            mark = "" if row.dimension in PAPER else " (in no mean)"
            table.add_row(
                f"{row.dimension.value}{mark}", str(row.covered), f"{row.total:.4g}", f"{row.value:.2f}"
            )
    page.add(table)
    lacking = [str(item) for item in coverage.uncovered]
    if lacking:
        page.add(f"Not covered: {shorten(', '.join(lacking), 300)}")


def _judges(page: Page, found: Analysis) -> None:
    if found.evaluators:
        page.title("Evaluators")
    for row in found.evaluators:
        first = f"; first: {shorten(row.first, 200)}" if row.first else ""
        page.add(f"{clean(row.evaluator)}: {row.passes} of {row.runs} runs pass{first}")
    for contract in found.contracts:
        for clause in contract.clauses:
            which = f"{clean(contract.contract)}, {clause.kind} {clean(clause.clause)} ({clause.severity})"
            page.add(f"  {which}: violated in {clause.trials} runs; {shorten(clause.said, 160)}")
    if found.relations:
        page.title("Relations that judge a run alone")
    for relation in found.relations:
        said = f"{relation.violations} of {relation.runs} runs violate it"
        page.add(f"{clean(relation.relation)}: {'it takes further runs' if relation.takes_runs else said}")
        for said in relation.first:
            page.add(f"  {shorten(said, 200)}")


def _spent(found: Analysis) -> Iterator[str]:
    spent = found.spent
    if spent.counted:
        yield f"{spent.input_tokens:,} tokens in and {spent.output_tokens:,} out, over {counted(spent.counted, 'run')}."
    if spent.priced:
        mean = spent.usd / spent.priced
        yield f"${spent.usd:.2f} by the records of {counted(spent.priced, 'run')}, ${mean:.4f} each."
    if not spent.counted and not spent.priced:
        yield "The records have neither tokens nor prices."
    yield "This analysis cost $0."


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left", no_wrap=number > 0)
    return table
