"""Verdicts for a terminal; readable at 80 columns and without colour."""

import time
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from agentmut.nouns import Cost
from agentmut.report.behaviour_wording import behaviour_lines
from agentmut.report.paint import Page, clean, shorten
from agentmut.report.reliability_wording import reliability_details, reliability_lines
from agentmut.report.report_wording import (
    bounds_text,
    counted,
    judged_with,
    money,
    origins_line,
    percent,
    timeouts_line,
)
from agentmut.report.terminal.contract_lines import contract_lines, judge_lines
from agentmut.stats import Verdict
from agentmut.store import (
    BaselineUpdate,
    RelationReport,
    ScenarioVerdict,
    SurvivorsReport,
    VerdictReport,
    becoming,
)

_STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INCONCLUSIVE: "yellow"}


def render_verdicts(report: VerdictReport, color: bool = False) -> str:
    """Return the report of `agentmut test` and `agentmut baseline compare` as text."""
    page = Page(color)
    page.add(f"agentmut {report.agentmut_version}  {report.kind} {report.run_id}")
    page.add(f"{_status(report)}: {report.agent.adapter} agent, config {report.agent.digest[:12]}")
    if report.problem:
        page.add(f"Problem: {clean(report.problem)}", style="red")
    used = report.baseline
    if used is not None:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(used.saved))
        page.add(f"against baseline {used.name!r} of {when} UTC (run {used.run_id})")
    page.title(f"{report.verdict}: {clean(report.reason)}")
    _rows(page, report)
    for row in report.scenarios:
        if row.verdict is not Verdict.PASS:
            _unlike_pass(page, row, report)
    _checked(page, report)
    if report.reliability is not None:
        page.title("Reliability")
        for line in (*reliability_lines(report.reliability), *reliability_details(report.reliability)):
            page.add(line)
    if report.behaviour is not None:
        page.title(f"Behaviour, against baseline {report.behaviour.baseline!r}")
        for line in behaviour_lines(report.behaviour):
            page.hang(line)
    _foot(page, report)
    return page.text()


def plain_table(first: str, *others: str) -> Table:
    """Return a table without lines: one wide column on the left, the others to the right."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def spent(cost: Cost) -> str:
    """Return the trials, the money and the time of a run in one line."""
    if cost.foreign and cost.foreign == cost.trials + cost.reused:
        return f"{counted(cost.foreign, 'recorded run')} of another tool, {cost.seconds:.0f} s; the agent was not run"
    paid = money(cost) if cost.tokens or cost.usd is None else "no model call seen"
    reused = f"{counted(cost.reused, 'run')} reused from earlier"
    return f"{counted(cost.trials, 'run')} of the agent, {paid}, {cost.seconds:.0f} s; {reused}"


def _status(report: VerdictReport) -> str:
    if report.status == "finished":
        return "finished"
    again = " without --fresh" if report.settings.get("fresh") else ""
    stopped = "stopped by its budget" if report.status == "budget" else report.status
    return f"{stopped} (to go on, give the command again{again}: {becoming(report.forgotten)})"


def _sequential(report: VerdictReport) -> bool:
    return report.settings.get("method") == "sequential"


def _rows(page: Page, report: VerdictReport) -> None:
    compared = report.baseline is not None
    names = ("passed", "baseline", "change", "p") if compared else ("passed", "asked", "rate", "p")
    table = plain_table("scenario", *names, "verdict")
    for row in report.scenarios:
        verdict = Text(row.verdict, style=_STYLES[row.verdict])
        table.add_row(clean(row.scenario), *_cells(row), _p(report, row), verdict)
    for name in report.baseline.not_compared if report.baseline else ():
        table.add_row(clean(name), "-", "-", "-", "-", "not compared")
    page.add(table)
    for line in _legend(report):
        page.add(line)


def _cells(row: ScenarioVerdict) -> tuple[str, ...]:
    passed, shown = f"{row.passes}/{row.trials}", row.anytime or row.interval
    if row.baseline is not None:
        return passed, f"{row.baseline.passes}/{row.baseline.trials}", bounds_text(row.interval, "+.2f")
    return passed, f"{row.threshold:g}", bounds_text(shown, ".2f")


def _p(report: VerdictReport, row: ScenarioVerdict) -> str:
    """Return the p-value as text; for the kill rule, which has none, its level."""
    if report.kind == "compare" and _sequential(report):
        return f"<={report.alpha:g}" if row.verdict is Verdict.FAIL else "-"
    return f"{row.p_adjusted:.2g}"


def _legend(report: VerdictReport) -> Iterator[str]:
    shown = next((row.interval for row in report.scenarios if row.interval), None)
    if shown is not None:
        watched = report.kind == "test" and _sequential(report)
        anytime = next((row.anytime for row in report.scenarios if row.anytime), None)
        bounds = anytime if watched and anytime else shown
        what = "change of the pass rate" if report.kind == "compare" else "pass rate"
        yield f"Intervals: {what}, {100 * bounds.level:.4g} % {bounds.method}."
    yield f"p: the p-value of a FAIL, corrected for the number of scenarios. {clean(report.family)}."


def _unlike_pass(page: Page, row: ScenarioVerdict, report: VerdictReport) -> None:
    """Add the evidence behind each verdict other than PASS."""
    page.title(f"{clean(row.scenario)}: {row.verdict}")
    page.add(f"  {clean(row.reason)} ({row.method})")
    if row.effect is not None:
        effect, ratio = row.effect, row.effect.odds_ratio_interval
        page.add(
            f"  Cohen's h {effect.cohens_h:+.2f} ({effect.size}); odds ratio {effect.odds_ratio:.2f} "
            f"[{ratio.low:.2f}, {ratio.high:.2f}] ({100 * ratio.level:g} % {ratio.method})"
        )
    if row.needed is not None:
        page.add(f"  {_needed(row, report)}")
    if row.failure:
        page.add(f"  first failure: {shorten(row.failure, 200)}")
    if late := timeouts_line(row.outcomes, row.in_time):
        page.add(f"  {late}")
    no_evidence = sum(row.outcomes.values()) - row.trials
    if no_evidence and row.per_protocol and row.intention_to_treat:
        page.add(
            f"  {no_evidence} trials were no evidence; per protocol {bounds_text(row.per_protocol, '.2f')}, "
            f"intention to treat {bounds_text(row.intention_to_treat, '.2f')} (95 % wilson)"
        )


def _checked(page: Page, report: VerdictReport) -> None:
    """Add contracts and calibrated judges, whatever the verdict."""
    for row in report.scenarios:
        if lines := [*contract_lines(row), *judge_lines(row)]:
            page.title(f"{clean(row.scenario)}: what was checked")
            for line in lines:
                page.add(f"  {line}")


def _needed(row: ScenarioVerdict, report: VerdictReport) -> str:
    assert row.needed is not None
    if report.cost.foreign:
        return f"about {row.trials + row.needed} recorded runs would probably decide, if these rates are the true ones"
    if _sequential(report):
        return f"about {row.needed} further trials would probably decide, if these rates are the true ones"
    return (
        f"a new sample of {row.trials + row.needed} trials would probably decide, if these rates are the true ones "
        f"(`--fresh --trials {row.trials + row.needed}`; going on with this one would be a second look)"
    )


def _foot(page: Page, report: VerdictReport) -> None:
    if report.update is not None:
        _updated(page, report.update)
    page.title("Can this be trusted?")
    page.add(_promise(report))
    for note in report.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")
    if report.needed and _sequential(report):
        page.add(f"About {report.needed} further trials in all would probably decide the suite.")
    add_cost(page, report)


def add_cost(page: Page, report: VerdictReport | RelationReport | SurvivorsReport) -> None:
    """Add what the agent's runs cost, where they come from, and what judges took."""
    page.add(spent(report.cost))
    page.add(origins_line(report.cost.origins))
    for line in judged_with(report):
        page.add(line)


def _updated(page: Page, update: BaselineUpdate) -> None:
    page.title("New trials in the baseline")
    page.add(f"{clean(update.said)}.")
    for row in update.scenarios:
        kind = (
            "in place of the earlier trials" if row.replaces else f"{row.total_passes}/{row.total_trials} now"
        )
        page.add(f"  {clean(row.scenario)}: {row.passes}/{row.trials} passed in the new series, {kind}")
    if update.cost is not None:
        page.add(spent(update.cost))


def _promise_of_baseline(report: VerdictReport) -> str:
    """Return the baselines for which the promise of a comparison holds, and its level for this baseline."""
    used = report.baseline
    if used is None or used.false_fail is None or used.confidence is None:
        return " on average over baselines"  # a report of an earlier version
    return (
        f" given this baseline, and {100 * used.false_fail:.2g} % by an exact count, with {percent(used.confidence)} "
        "confidence in the baseline"
    )


def _promise(report: VerdictReport) -> str:
    """Return the error rates, in words."""
    shown, rate = report.settings, f"{report.alpha:g}"
    false = f"Over all scenarios, the chance of a wrong FAIL is at most {rate}"
    if report.correction.startswith("benjamini"):
        false = f"Of the scenarios that FAIL, on average at most a share of {rate} does so wrongly"
    if report.kind == "compare":
        return (
            f"{false}{_promise_of_baseline(report)}. PASS rules out a drop by {shown['delta']:g}: an agent with such a "
            f"drop passes with a chance of about {shown['beta']:g}."
        )
    if shown["method"] == "sequential":
        return (
            f"{false}. PASS says that no pass rate is {shown['margin']:g} or more below its threshold: an agent with "
            f"such a rate passes with a chance of at most {shown['beta']:g}."
        )
    return (
        f"{false}. PASS says that every pass rate reaches its threshold, and is wrong with a chance of at most "
        f"{report.alpha / 2:g}. Both hold for one look at a number of trials that was fixed in advance."
    )
