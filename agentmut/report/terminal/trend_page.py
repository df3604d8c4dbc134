"""The trend over runs for a terminal."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from agentmut.nouns import Origins
from agentmut.report.bounded import names
from agentmut.report.paint import Page, clean
from agentmut.report.report_wording import counted, interval, origins_line, percent
from agentmut.report.terminal.verdicts_page import plain_table
from agentmut.usecases import TrendReport, TrendRow, Watch, sparkline

SHOWN = 30


def render_trend(report: TrendReport, color: bool = False) -> str:
    """Return two lines of blocks, a table of the latest runs, and what has drifted."""
    page = Page(color)
    runs = counted(len(report.rows), "run")
    page.add(f"agentmut {report.agentmut_version}  trend of {clean(report.project)}, {runs}")
    page.title("Over all runs, from 0 to 1")
    shown = report.rows[-60:]
    page.add(f"pass rate  {sparkline([row.pass_rate for row in shown])}")
    scores = [row.score.value for row in shown if row.score]
    if scores:
        page.add(f"score      {sparkline(scores)}")
    _table(page, report.rows, report.origins)
    _drift(page, report)
    for note in report.notes:
        page.hang(f"Note: {clean(note)}.", indent=0)
    return page.text()


def _table(page: Page, rows: tuple[TrendRow, ...], rows_origins: Origins) -> None:
    page.title("Runs" if len(rows) <= SHOWN else f"The latest {SHOWN} runs")
    page.add(_runs(rows[-SHOWN:], with_foreign=bool(rows_origins.foreign)))
    page.add("pass^4: the chance that all of four runs of a scenario pass, a mean over scenarios.")
    page.add(origins_line(rows_origins))
    page.add("new: runs of the agent that were not reused. Where a row names a change, compare it with care.")


def _runs(rows: tuple[TrendRow, ...], *, with_foreign: bool) -> Table:
    """Return a line for each run in 80 columns: its id can be copied, and what changed is folded if need be."""
    table = Table(box=None, padding=(0, 1 if with_foreign else 2, 0, 0), show_edge=False)
    table.add_column("run", no_wrap=True)
    for name in ("passed", "pass^4", "score [95 %]", "new", *(["foreign"] if with_foreign else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("changed", justify="right", overflow="fold")
    for row in rows:
        rate = "" if row.pass_rate is None else f" {row.pass_rate:.2f}"
        table.add_row(
            clean(row.run),
            f"{row.passes}/{row.trials}{rate}",
            f"{row.pass_hat['4']:.2f}" if "4" in row.pass_hat else "-",
            interval(row.score) if row.score else row.kind,
            str(row.runs_of_agent),
            *([str(row.origins.foreign or "-")] if with_foreign else []),
            ", ".join(row.changed) or "-",
        )
    return table


def _drift(page: Page, report: TrendReport) -> None:
    page.title("Drift of the agent as it is")
    watched = [each for each in report.watches if each.pass_rate is not None]
    for each in watched:
        if each.alarm_at:
            page.hang(_alarm(each), style="red")
    if watched:
        page.add(_charts(watched))
        page.add(
            f"at first, since: runs that passed. false alarm: one in so many trials, on average. noticed: trials from "
            f"a drop by {watched[0].drop:g} to the alarm, on average."
        )
    for line in _not_watched(report.watches):
        page.hang(line)
    if watched:
        page.hang(
            f"If nothing has changed, the chance that any of these scenarios is flagged in so many trials is "
            f"{report.false_alarm:.2g}.",
            indent=0,
        )
    for line in _fall(report):
        page.hang(line, style="red")


def _not_watched(watches: Sequence[Watch]) -> Iterator[str]:
    """Yield a line for each reason not to watch scenarios, with their number and first names."""
    by_reason: dict[str, list[str]] = {}
    for each in watches:
        if each.pass_rate is None:
            by_reason.setdefault(each.reason, []).append(each.scenario)
    for reason, scenarios in by_reason.items():
        which = (
            clean(scenarios[0])
            if len(scenarios) == 1
            else f"{len(scenarios)} scenarios ({names(scenarios, 3)})"
        )
        yield f"not watched: {which}. {clean(reason)}"


def _alarm(each: Watch) -> str:
    return (
        f"DRIFT: {clean(each.scenario)} passed {each.reference_passes}/{each.reference_trials} at first and "
        f"{each.watched_passes}/{each.watched} since; alarm at trial {each.alarm_at} of the later ones (run "
        f"{each.since})."
    )


def _charts(watched: Sequence[Watch]) -> Table:
    """Return a line for each watched scenario: what passed, and how sure its chart is."""
    table = plain_table("scenario", "at first", "since", "drift", "false alarm", "noticed")
    for each in watched:
        table.add_row(
            clean(each.scenario),
            f"{each.reference_passes}/{each.reference_trials}",
            f"{each.watched_passes}/{each.watched}",
            "DRIFT" if each.alarm_at else "no drift",
            f"{each.in_control:,.0f}",
            f"{each.after_drop:.0f}",
        )
    return table


def _fall(report: TrendReport) -> Iterator[str]:
    if fall := report.fall:
        yield (
            f"SCORE FELL: {interval(fall.score_after)} in run {fall.after}, {interval(fall.score_before)} in run "
            f"{fall.before}, on the same suite and mutants; by chance alone at most {percent(fall.chance)} of the time"
        )
