"""What to expect of `agentmut test`, for a terminal."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentmut.project import VerdictSettings
from agentmut.report.paint import Page, clean
from agentmut.report.terminal.verdicts_page import plain_table
from agentmut.stats import Preview


class PreviewLine(NamedTuple):
    """What to expect if the true pass rates are as assumed."""

    assumed: str
    scenarios: Mapping[str, Preview]
    suite: Preview


def render_preview(lines: Sequence[PreviewLine], settings: VerdictSettings, notes: Sequence[str]) -> str:
    """The lines as text."""
    page = Page(color=False)
    page.add(f"{settings.method} test, at most {settings.trials} trials a scenario; nothing has been run")
    page.title("Chances of the suite's verdict, if every pass rate is")
    table = plain_table("", "PASS", "FAIL", "open", "trials", "cost")
    for line in lines:
        suite = line.suite
        cost = "?" if suite.cost is None else f"${suite.cost:.2f}"
        chances = (f"{chance:.3f}" for chance in (suite.passed, suite.failed, suite.inconclusive))
        table.add_row(line.assumed, *chances, f"{suite.trials:.0f}", cost)
    page.add(table)
    page.add("Scenarios are taken to fail independently of each other; trials and cost are means.")
    if any(line.suite.cost is None for line in lines):
        page.add("Cost: known once a trial with a priced model is in the store.")
    for note in notes:
        page.add(f"Note: {clean(note)}.")
    return page.text()
