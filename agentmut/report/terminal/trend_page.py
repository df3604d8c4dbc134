"""The trend over runs for a terminal."""

from collections.abc import Iterator

from agentmut.nouns import Origins
from agentmut.report.paint import Page, clean
from agentmut.report.report_wording import counted, interval, origins_line
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
    table = plain_table("run", "passed", "pass^4", "score [95 %]", "new", "foreign", "not as before")
    for row in rows[-SHOWN:]:
        rate = "" if row.pass_rate is None else f" {row.pass_rate:.2f}"
        score = interval(row.score) if row.score else row.kind
        all_four = f"{row.pass_hat['4']:.2f}" if "4" in row.pass_hat else "-"
        changed = ", ".join(row.changed) or "-"
        table.add_row(
            clean(row.run),
            f"{row.passes}/{row.trials}{rate}",
            all_four,
            score,
            str(row.runs_of_agent),
            str(row.origins.foreign or "-"),
            changed,
        )
    page.add(table)
    page.add("pass^4: the chance that all of four runs of a scenario pass, a mean over scenarios.")
    page.add(origins_line(rows_origins))
    page.add("new: runs of the agent that were not reused. Rows with a change compare with care.")


def _drift(page: Page, report: TrendReport) -> None:
    page.title("Drift of the agent as it is")
    for each in report.watches:
        page.hang(_drift_line(each), style="red" if each.alarm_at else "")
    if any(each.pass_rate is not None for each in report.watches):
        page.hang(
            f"If nothing has changed, the chance that any of these scenarios is flagged in so many trials is "
            f"{report.false_alarm:.2g}.",
            indent=0,
        )
    for line in _fall(report):
        page.hang(line, style="red")


def _drift_line(each: Watch) -> str:
    name = clean(each.scenario)
    if each.pass_rate is None:
        return f"{name}: not watched. {each.reason}"
    counts = (
        f"{each.reference_passes}/{each.reference_trials} passed at first, "
        f"{each.watched_passes}/{each.watched} since"
    )
    chart = (
        f"one false alarm in {each.in_control:.0f} trials on average, a drop by {each.drop:g} is noticed after "
        f"{each.after_drop:.0f}"
    )
    if each.alarm_at:
        return f"{name}: DRIFT, alarm at trial {each.alarm_at} of them (run {each.since}). {counts}; {chart}"
    return f"{name}: no drift. {counts}; {chart}"


def _fall(report: TrendReport) -> Iterator[str]:
    if fall := report.fall:
        yield (
            f"SCORE FELL: {interval(fall.score_after)} in run {fall.after}, {interval(fall.score_before)} in run "
            f"{fall.before}, on the same suite and mutants; by chance alone at most {fall.chance:.0%} of the time"
        )
