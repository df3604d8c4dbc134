"""Verdicts for a terminal; readable at 80 columns and without colour."""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from agentmut.project_schema import VerdictSettings
from agentmut.report.paint import Page, clean, shorten
from agentmut.saved_baseline import SavedBaseline
from agentmut.stats.intervals import wilson
from agentmut.stats.preview import Preview
from agentmut.stats.verdicts import Verdict
from agentmut.verdict_report import ScenarioVerdict, VerdictReport

_STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INCONCLUSIVE: "yellow"}


def render_verdicts(report: VerdictReport, color: bool = False) -> str:
    """The report of `agentmut test` and `agentmut baseline compare` as text."""
    page = Page(color)
    page.add(f"agentmut {report.agentmut_version}  {report.kind} {report.run_id}")
    page.add(f"{report.status}: {report.agent.adapter} agent, config {report.agent.digest[:12]}")
    if report.problem:
        page.add(f"Problem: {clean(report.problem)}", style="red")
    _against(page, report)
    page.title(f"{report.verdict}: {clean(report.reason)}")
    _table(page, report)
    for row in report.scenarios:
        _scenario(page, row)
    _foot(page, report)
    return page.text()


def render_baseline(saved: SavedBaseline) -> str:
    """What `agentmut baseline save` kept, as text."""
    page = Page(color=False)
    page.add(f"Baseline {saved.name!r}: {saved.agent.adapter} agent, config {saved.agent.digest[:12]}")
    table = _plain_table("scenario", "passed", "rate [95 %]")
    for name, kept in saved.scenarios.items():
        table.add_row(clean(name), f"{kept.passes}/{kept.trials}", _rate(kept.passes, kept.trials))
    page.add(table)
    page.add("Change the agent, then: `agentmut baseline compare" + _named(saved.name) + "`")
    return page.text()


class PreviewLine(NamedTuple):
    """What to expect if the true pass rates are as assumed."""

    assumed: str
    scenarios: Mapping[str, Preview]
    suite: Preview


def render_preview(lines: Sequence[PreviewLine], settings: VerdictSettings, notes: Sequence[str] = ()) -> str:
    """What to expect of `agentmut test`, as text."""
    page = Page(color=False)
    page.add(f"{settings.method} test, at most {settings.trials} trials a scenario; nothing has been run")
    page.title("Chances of the suite's verdict, if every pass rate is")
    table = _plain_table("", "PASS", "FAIL", "open", "trials", "cost")
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
        page.add(f"Note: {clean(note)}.", style="yellow")
    return page.text()


def _named(name: str) -> str:
    return "" if name == "default" else f" {name}"


def _against(page: Page, report: VerdictReport) -> None:
    used = report.baseline
    if used is not None:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(used.saved))
        page.add(f"against baseline {used.name!r} of {when} UTC (run {used.run_id})")


def _table(page: Page, report: VerdictReport) -> None:
    compared = report.baseline is not None
    names = ("passed", "baseline", "p") if compared else ("passed", "asked", "rate [95 %]", "p")
    table = _plain_table("scenario", *names, "verdict")
    for row in report.scenarios:
        verdict = Text(row.verdict, style=_STYLES[row.verdict])
        table.add_row(clean(row.scenario), *_cells(row), f"{row.p_adjusted:.2g}", verdict)
    page.add(table)
    page.add(f"p: of a FAIL, adjusted ({clean(report.family)}); FAIL at {report.alpha:g} or less.")


def _cells(row: ScenarioVerdict) -> tuple[str, ...]:
    passed = f"{row.passes}/{row.trials}"
    if row.baseline is not None:
        return passed, f"{row.baseline.passes}/{row.baseline.trials}"
    return passed, f"{row.threshold:g}", _rate(row.passes, row.trials)


def _rate(passes: int, trials: int) -> str:
    if not trials:
        return "-"
    interval = wilson(passes, trials)
    return f"{passes / trials:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _plain_table(first: str, *others: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _scenario(page: Page, row: ScenarioVerdict) -> None:
    """What a verdict other than PASS rests on."""
    if row.verdict is Verdict.PASS:
        return
    page.title(f"{clean(row.scenario)}: {row.verdict}")
    page.add(f"  {clean(row.reason)} ({row.method})")
    if row.effect is not None:
        page.add(f"  {_effect(row)}")
    if row.needed is not None:
        page.add(
            f"  about {row.needed} further trials would probably decide, if these rates are the true ones"
        )
    if row.failure:
        page.add(f"  first failure: {shorten(row.failure, 200)}")
    no_evidence = sum(row.outcomes.values()) - row.trials
    if no_evidence:
        page.add(
            f"  {no_evidence} trials were no evidence: {row.per_protocol or 0:.2f} passed of those that were, "
            f"{row.intention_to_treat or 0:.2f} of all"
        )


def _effect(row: ScenarioVerdict) -> str:
    effect, found = row.effect, row.interval
    assert effect is not None
    ends = f" [{found.low:+.2f}, {found.high:+.2f}]" if found else ""
    return f"difference {effect.difference:+.2f}{ends}, Cohen's h {effect.cohens_h:+.2f} ({effect.size})"


def _foot(page: Page, report: VerdictReport) -> None:
    page.title("Can this be trusted?")
    page.add(_promise(report))
    for note in report.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")
    cost = report.cost
    money = "cost unknown" if cost.usd is None else f"${cost.usd:.4f}"
    page.add(
        f"{cost.trials} runs of the agent, {money}, {cost.seconds:.0f} s; {cost.reused} runs reused from earlier"
    )


def _promise(report: VerdictReport) -> str:
    """The error rates, in words."""
    shown, rate = report.settings, f"{report.alpha:g}"
    false = f"Over all scenarios, the chance of a wrong FAIL is at most {rate}"
    if report.correction.startswith("benjamini"):
        false = f"Of the scenarios that FAIL, on average at most a share of {rate} does so wrongly"
    if report.kind == "compare":
        return (
            f"{false}; PASS rules a drop by {shown['delta']:g} out: an agent that has dropped by so much passes with "
            f"chance about {shown['beta']:g}."
        )
    if shown["method"] == "sequential":
        return (
            f"{false}. PASS says that no pass rate is {shown['margin']:g} below what is asked, or worse: an agent of "
            f"which that is not true passes with chance at most {shown['beta']:g}. Rates of trials that stopped "
            "early are descriptive."
        )
    return (
        f"{false}. PASS says that every pass rate is at least what is asked; it is wrong with chance at most "
        f"{report.alpha / 2:g}."
    )
