"""A saved baseline for a terminal, and what a comparison with it will notice."""

from agentmut.nouns import Cost
from agentmut.report.paint import Page, clean
from agentmut.report.terminal.power_table import add_power
from agentmut.report.terminal.verdicts_page import plain_table, spent
from agentmut.stats import wilson
from agentmut.store import SavedBaseline


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
    add_power(page, saved.scenarios)
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
    add_power(page, saved.scenarios)
    page.add(
        "These chances are exact for today's settings, if the baseline's observed rate is the true rate. For a larger "
        "baseline they include the price of checking it at smaller sizes first."
    )
    return page.text()
