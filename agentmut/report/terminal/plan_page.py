"""Render the expected cost of a campaign for a terminal."""

from agentmut.report.paint import Page, clean
from agentmut.report.terminal.verdicts_page import plain_table
from agentmut.usecases import Amount, Foreseen


def render_plan(plan: Foreseen, color: bool = False) -> str:
    """Mutants, what is expected at three drops, the worst case, and what all that rests on."""
    page = Page(color)
    classes = ", ".join(f"{count} {name}" for name, count in plan.mutants.items())
    page.add(f"agentmut {plan.agentmut_version}  plan of {clean(plan.project)}; no mutant has been run")
    page.hang(f"{sum(plan.mutants.values())} mutants ({classes}), {plan.scenarios} scenarios", indent=0)
    if plan.unreached:
        page.add(f"{plan.unreached} of them nothing reaches: they cost nothing, and count as not noticed")
    page.title("What to expect, if each degrading mutant lowers one pass rate by")
    table = plain_table("", "killed", "survived", "open", "trials", "cost", "time")
    for line in plan.lines:
        shares = (_share(value) for value in (line.killed, line.survived, line.undecided))
        table.add_row(f"{line.drop:g}", *shares, *_cells(line.total))
    table.add_row("at worst", "", "", "", *_cells(plan.worst))
    table.add_row("baseline alone", "", "", "", *_cells(plan.baseline))
    page.add(table)
    if plan.history:
        page.hang(
            f"As earlier runs went: {plan.history.killed:.0%} killed, {plan.history.trials:.0f} trials of mutants.",
            indent=0,
        )
    if plan.stops:
        page.hang(f"The run would probably be stopped by {plan.stops}.", indent=0, style="yellow")
    if plan.asks:
        page.hang(f"`agentmut run` will ask first: {plan.asks} `--yes` answers.", indent=0)
    page.title("What this rests on")
    for said in plan.assumptions:
        page.hang(f"- {clean(said)}")
    for note in plan.notes:
        page.hang(f"Note: {clean(note)}.", indent=0)
    return page.text()


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _cells(found: Amount) -> tuple[str, str, str]:
    usd = "?" if found.usd is None else f"${found.usd:.2f}"
    return f"{found.trials:.0f}", usd, _time(found.minutes)


def _time(minutes: float | None) -> str:
    """Minutes in the unit that fits.

    >>> _time(0.5), _time(90), _time(None)
    ('30 s', '1.5 h', '?')
    """
    if minutes is None:
        return "?"
    if minutes < 1:
        return f"{60 * minutes:.0f} s"
    return f"{minutes:.0f} min" if minutes < 60 else f"{minutes / 60:.1f} h"
