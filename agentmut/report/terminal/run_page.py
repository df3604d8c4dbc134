"""The report of a run for a terminal; readable at 80 columns and without colour."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from agentmut.insight import dominators
from agentmut.nouns import CiNoticed, Effect, Intent, MutantRow, Result, Status
from agentmut.report.bounded import bounded, names, one_line
from agentmut.report.paint import WIDTH, Page, clean, diff_lines, shorten
from agentmut.report.proof_wording import (
    FEW_MEANS,
    GRADES_MEAN,
    claimed_drop,
    for_drops,
    is_few,
    is_graded,
    kill_grade,
    proven,
    ruled_out,
    visible_line,
)
from agentmut.report.ranking import LONGEST_READ, LONGEST_REASON, by_reason, losses, rank
from agentmut.report.reliability_wording import campaign_reliability
from agentmut.report.report_wording import (
    ROUNDED_UP,
    ci_left_out,
    confirming_line,
    counted,
    interval,
    judged_again,
    judged_with,
    money,
    origins_line,
    part_of_suite,
    percent,
    status_counts,
    without_marker,
)
from agentmut.report.terminal.larger_budget import resume_with_more
from agentmut.report.terminal.partial_delivery import partly_delivered
from agentmut.report.terminal.score_table import score_table

if TYPE_CHECKING:
    from agentmut.store import Rescored

SHOWN_SURVIVORS = 15
PARTIAL = "Unfinished: the score below is partial."
UNFINISHED = "The run ended early. The results below hold for the drops that they name."
SHOWN_PARTLY = 8
SHOWN_STANDING = 8
LINES = 6
"""Lines that a change takes in a list of changes."""
LONGEST_CHANGE = 600
_GAPS = {
    "assertion": "behaviour changed, and no evaluator looks at that",
    "scenario": "behaviour is as before on these scenarios, so that a new one has to show the change",
}


def render(
    result: Result,
    color: bool = False,
    listed: frozenset[str] | None = None,
    where: str = "",
    width: int = WIDTH,
    rescored: "Rescored | None" = None,
) -> str:
    """Return the report as text. `listed` narrows the mutants that are listed, not the scores; `where` is the option
    that leads `agentmut show` to the project; `rescored` is what other evaluators have made of its trials since.
    """
    page = Page(color, width)
    rows = [row for row in result.mutants if listed is None or row.id in listed]
    _head(page, result)
    _scores(page, result)
    if rescored is not None:
        page.add()
        page.add(judged_again(rescored), style="yellow")
    _baseline(page, result)
    _survivors(page, rows, where)
    _unnoticed(page, rows)
    _standing(page, rows, where)
    _brittle(page, rows)
    _partly(page, rows)
    _unusual(page, rows)
    _ci(page, result)
    _foot(page, result)
    return page.text()


def _head(page: Page, result: Result) -> None:
    page.add(Text(f"agentmut {result.agentmut_version}  run {result.run_id}", style="bold"))
    ended = {"finished": "finished", "budget": "stopped by its budget", "interrupted": "interrupted"}
    page.add(
        f"{ended.get(result.status, result.status)}: {result.agent.adapter} agent, config {result.agent.digest[:12]}"
    )
    if result.shard:
        page.add(
            f"Shard {result.shard}: the scores count its mutants only. `agentmut merge` puts the shards together."
        )
    if result.suite_part:
        page.add(part_of_suite(result.suite_part))
    if result.merged:
        page.add(f"Merged from the runs {', '.join(result.merged)}")
    if result.problem:
        page.add()
        page.add(Text(bounded(result.problem), style="red"))
    if goes_on := _goes_on(result):
        page.add(f"{UNFINISHED if result.score.resolution else PARTIAL} {goes_on}")


def _goes_on(result: Result) -> str:
    if result.status == "budget":
        return f"{resume_with_more(result.ended_by)} goes on."
    return "`agentmut resume` goes on." if result.status == "interrupted" else ""


def _scores(page: Page, result: Result) -> None:
    kind = "Mutation" if result.selective is None else "Selective"
    speaks = f"{interval(result.score)}{for_drops(result.score)}"
    page.title(f"{kind} score   {speaks}  (harmful changes that the suite noticed)")
    page.add(status_counts(result.score))
    if line := visible_line(result):
        page.add(line)
    for line in proven(result.score, result.rule):
        page.add(line)
    if result.score_with_relations is not None:
        also = counted(sum(bool(row.killed_by_relations) for row in result.mutants), "survivor")
        page.add(
            f"With relations   {interval(result.score_with_relations)}  ({also} killed by `agentmut relations`)"
        )
    page.add(f"Robustness       {interval(result.robustness)}  (harmless changes that lower no pass rate)")
    if not result.operators:
        return
    table = score_table(result, page.width)
    page.add()
    page.add(table)
    if any(map(is_few, (*result.classes.values(), *result.operators.values()))):
        page.add(FEW_MEANS)
    if any(row.parts for row in result.mutants):
        page.add(
            "higher_order: two changes at once. No score above counts them, since the scores count their parts."
        )


def _baseline(page: Page, result: Result) -> None:
    page.title("Baseline (the agent as it is)")
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("scenario", overflow="fold")
    for name in ("passed", "rate [95 %]"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in result.baseline:
        rate = "-"
        if row.rate is not None and row.interval is not None:
            rate = f"{row.rate:.2f} [{row.interval.low:.2f}, {row.interval.high:.2f}]"
        mark = "" if row.testable or not row.trials or result.status == "interrupted" else "  not testable"
        table.add_row(one_line(row.scenario) + mark, f"{row.passes}/{row.trials}", rate)
    page.add(table)
    for row in result.baseline:
        if row.reason:
            page.add(f"  {one_line(row.scenario)}: {bounded(row.reason)}", style="yellow")
    if line := confirming_line(result.baseline):
        page.add(line)
    for line in campaign_reliability(result, one_line):
        page.add(line)


def _survivors(page: Page, rows: Sequence[MutantRow], where: str) -> None:
    ranked = rank(rows)
    if not ranked:
        return
    page.title("Unnoticed changes (lost prohibitions first, then duties, then the rest)")
    alike = ruled_out(ranked)
    for number, row in enumerate(ranked[:SHOWN_SURVIVORS], 1):
        reached = row.status is not Status.NO_COVERAGE
        state = counted(row.trials, "run") if reached else "no coverage"
        if row.ruled_out is not None and row.ruled_out != alike:
            state += f", no drop of {row.ruled_out:g}"
        page.add(Text(f"{number:>2}. {row.id}  {row.operator}  {_where(row)}  ({state})"))
        for line in _change(row, page.width):
            page.add(line)
        if row.behaviour and row.gap and row.gap != "unknown":
            page.add(f"    gap: {clean(row.gap)}")
    if len(ranked) > SHOWN_SURVIVORS:
        page.add(f"    ... and {len(ranked) - SHOWN_SURVIVORS} more in result.json")
    for gap, meaning in _GAPS.items():
        if any(row.gap == gap and row.behaviour for row in ranked[:SHOWN_SURVIVORS]):
            page.add(f"gap: {gap}: {meaning}.")
    if alike is not None:
        page.add(f"Survivors: no scenario that they were tried on dropped by {alike:g} or more.")
    page.add(f"`agentmut show ID{where}` explains one, `agentmut suggest{where}` proposes what to add.")


def _change(row: MutantRow, width: int) -> Iterable[Text]:
    """Return the change in a few lines: texts as a diff, everything else in words."""
    if row.operator_class not in ("prompt", "context") or len(row.before) + len(row.after) >= LONGEST_CHANGE:
        return [Text(f"    {shorten(row.description[:LONGEST_REASON], width - 4)}")]
    lines = list(diff_lines(without_marker(row.before), without_marker(row.after), width=width))
    more = [Text(f"    ... and {counted(len(lines) - LINES, 'more line')}")] if len(lines) > LINES else []
    return lines[:LINES] + more


def _where(row: MutantRow) -> str:
    line = f":{row.target.line}" if row.target.line else ""
    return one_line(f"{row.target.path or ''}{line}")


def _unnoticed(page: Page, rows: Sequence[MutantRow]) -> None:
    """Add the rules and tools whose loss no scenario notices, which users ask for most."""
    for noun, effect in (("instructions", Effect.DROPS_RULE), ("tools", Effect.DROPS_TOOL)):
        decided, lost = losses(rows, effect)
        if decided:
            page.title(f"{noun.capitalize()} whose loss no scenario notices: {len(lost)} of {len(decided)}")
        for row in lost:
            what = row.subject if noun == "tools" else without_marker(row.before[:LONGEST_READ])
            page.add(Text(f"  {_where(row) + '  ' if row.target.line else ''}{shorten(what, 56)}"))


def _standing(page: Page, rows: Sequence[MutantRow], where: str) -> None:
    """List the killed mutants that subsume others: a suite that kills these kills the others too."""
    found = dominators(rows)
    known = {row.id: row for row in rows}
    if not found:
        return
    killed = sum(row.status is Status.KILLED and row.intent is Intent.DEGRADE for row in rows)
    others = sum(map(len, found.values()))
    page.title(f"Killed mutants that stand for others: {len(found)}, for {others} of {killed} killed")
    for id, behind in list(found.items())[:SHOWN_STANDING]:
        row = known.get(id)  # a filter may have left it out
        what = f"{row.operator}  {_where(row)}" if row else f"`agentmut show {id}{where}`"
        page.add(Text(f"  {id}  {what}  (stands for {len(behind)})"))
    if len(found) > SHOWN_STANDING:
        page.add(f"  ... and {len(found) - SHOWN_STANDING} more in result.json")
    page.add("Every scenario that killed one of these mutants also killed the mutants that it stands for.")


def _brittle(page: Page, rows: Sequence[MutantRow]) -> None:
    killed = [row for row in rows if row.intent is Intent.PRESERVE and row.status is Status.KILLED]
    if killed:
        page.title("Brittle: harmless changes that lower a pass rate")
    for row in killed:
        page.add(
            Text(f"  {row.id}  {row.operator}  {_where(row)}  (by {names(row.killed_by)}{_graded(row)})")
        )
        for line in _change(row, page.width):
            page.add(line)


def _graded(row: MutantRow) -> str:
    grade = kill_grade(row)
    return f"; {grade}" if grade else ""


def _partly(page: Page, rows: Sequence[MutantRow]) -> None:
    """List partly delivered mutants: they count, but their status is about a part of the change."""
    found = partly_delivered(rows)
    if not found:
        return
    page.title(f"Partly delivered: these changes reached the agent, but not everywhere ({len(found)})")
    groups: dict[str, list[MutantRow]] = {}
    for row, note in found:
        groups.setdefault(note, []).append(row)
    for note, group in list(groups.items())[:SHOWN_PARTLY]:
        page.add(_ids(group))
        page.add(f"    {note}")
    if len(groups) > SHOWN_PARTLY:
        page.add(f"  ... and {sum(map(len, list(groups.values())[SHOWN_PARTLY:]))} more in result.json")


def _unusual(page: Page, mutants: Sequence[MutantRow]) -> None:
    """List undecided mutants and mutants outside every score."""
    for status, title in (
        (Status.NOT_APPLIED, "Not applied: these changes never reached the agent and are not in the score"),
        (Status.ERROR, "Could not be run, and not in the score"),
        (Status.UNDECIDED, "Undecided"),
        (
            Status.UNTESTABLE,
            "Untestable: the agent fails too often, as it is, on the scenarios that reach these",
        ),
        (Status.IGNORED, "Ignored"),
    ):
        rows = [row for row in mutants if row.status is status]
        if not rows:
            continue
        page.title(f"{title} ({len(rows)})")
        for reason, group in by_reason(rows):
            page.add(_ids(group))
            if reason:
                page.add(f"    {shorten(reason, LONGEST_REASON)}")


def _ids(rows: Sequence[MutantRow]) -> str:
    return f"  {', '.join(f'{row.id} {row.operator}' for row in rows[:6])}{' ...' * (len(rows) > 6)}"


def _ci(page: Page, result: Result) -> None:
    if not result.ci:
        return
    page.title("What a CI run would have seen (red: a scenario under its threshold)")
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    level = percent(result.ci[0].false_alarm.level)
    for name in ("runs", f"false alarm [{level}]", "killed: red", "missed", "survived: red", "missed"):
        table.add_column(name, justify="right", no_wrap=True)
    for run in result.ci:
        noticed = (*_noticed(run.killed), *_noticed(run.survived))
        table.add_row(str(run.runs), interval(run.false_alarm), *noticed)
    page.add(table)
    page.add(
        "runs: of each scenario. False alarm: the chance of red on the unchanged agent. Red: the mean chance of "
        "red on the mutants killed, or survived; missed: how many of them are more likely green than red. Where a "
        "scenario found no drop, the original's runs count with the mutant's. A scenario that killed a mutant counts "
        "by the runs after the kill."
    )
    for sentence in ci_left_out(result.ci):
        page.add(sentence)
    if any(run.runs > 1 for run in result.ci):
        page.add(ROUNDED_UP)


def _noticed(noticed: CiNoticed) -> tuple[str, str]:
    if noticed.mean_red is None:
        return "-", "-"
    return f"{noticed.mean_red:.2f}", f"{noticed.let_through} of {noticed.mutants}"


def _foot(page: Page, result: Result) -> None:
    cost, controls = result.cost, result.controls
    page.title("Can this be trusted?")
    killed = "killed" if controls.identity.killed else "not killed"
    kinds = f", {controls.identity.mutants} kinds" if controls.identity.mutants > 1 else ""
    page.add(
        f"Unchanged agent run as a mutant: {killed} ({controls.identity.trials} runs{kinds}; must not be killed)."
    )
    destroyed = controls.destroyed.status or "not run"
    page.add(f"Destroyed agent: {destroyed} ({controls.destroyed.trials} runs; must be killed).")
    rule = result.rule
    if rule:
        drop = claimed_drop(result.score, rule)
        page.add(
            f"A mutant no worse than the original is killed with a chance of at most {rule['alpha']:g}, over all "
            "scenarios that reach it (each has its share of this chance, by Bonferroni). A mutant that fails "
            f"{drop:g} more often survives with a chance of about {rule['beta']:g}. The lower end of the score counts "
            f"mutants with any real drop, the upper end mutants with a drop of at least {drop:g}, at 95 % confidence."
        )
    if is_graded(result.score):
        page.add(GRADES_MEAN)
    for note in result.notes:
        page.add(f"Note: {bounded(note)}.", style="yellow")
    page.title("Cost")
    page.add(
        f"{cost.trials} runs of the agent ({cost.baseline_trials} baseline), {cost.tokens:,} tokens, {money(cost)}, "
        f"{cost.seconds:.0f} s; {counted(cost.reused, 'run')} reused from earlier"
    )
    page.add(origins_line(cost.origins))
    for line in judged_with(result):
        page.add(line)
