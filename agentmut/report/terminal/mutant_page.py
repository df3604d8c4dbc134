"""One mutant, explained."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from agentmut.insight import SideBySide, dominators
from agentmut.nouns import SUITE, AssertionSuggestion, CiJob, Effect, Intent, MutantRow, Result, Status
from agentmut.report.paint import Page, clean, diff_lines, shorten
from agentmut.report.proof_wording import proof
from agentmut.report.report_wording import (
    MEANING,
    ROUNDED_UP,
    confirming_line,
    counted,
    interval,
    without_marker,
)
from agentmut.report.terminal.assertion_lines import SEEN_TO_DIFFER, add_assertion, add_difference
from agentmut.report.terminal.partial_delivery import delivery_note
from agentmut.report.terminal.side_by_side_page import add_side_by_side
from agentmut.report.terminal.survivor_gap import gap_in_words, may_be_chance
from agentmut.seams import effect_of


class Proposals(NamedTuple):
    """What was found in the trials stored for a survivor."""

    assertions: tuple[AssertionSuggestion, ...] = ()
    where: Mapping[str, str] = MappingProxyType({})
    """Scenario -> the file and line where it is written."""
    notes: tuple[str, ...] = ()
    """What has to be known of them, or why there are none."""
    suite: str = ""
    """The tool whose tests the scenarios are, such as pytest; empty for scenario files."""


_SEEN_IN = {"sent": "sent to the model", "read": "read from the config", "live": "done during the run"}


def render_mutant(
    result: Result,
    row: MutantRow,
    color: bool = False,
    proposals: Proposals | None = None,
    runs: Sequence[SideBySide] = (),
) -> str:
    """Return the change, the status in words, the evidence of each scenario, runs to read, and what to do next."""
    page = Page(color)
    _change(page, result, row)
    page.add(MEANING[row.status])
    if proved := proof(row, result.rule):
        page.add(proved)
    if row.reason:
        page.add(clean(row.reason))
    for said in _company(result, row):
        page.add(said)
    _evidence(page, result, row)
    add_side_by_side(page, runs, row.id)
    _relations(page, row)
    _delivery(page, row)
    _ci(page, result, row)
    # an assertion that tells mutant and original apart in runs held out is more than the trace test says
    doubt = "" if proposals and proposals.assertions else may_be_chance(row, result.mutants)
    for said in (*gap_in_words(row, doubt), *advice(row, unsure=bool(doubt))):
        page.add(said)
    if proposals:
        _proposals(page, proposals)
    return page.text()


def _change(page: Page, result: Result, row: MutantRow) -> None:
    page.add(Text(f"{row.id}  {row.operator}  {row.status}", style="bold"))
    place = ":".join(str(part) for part in (row.target.path, row.target.line, row.target.column) if part)
    page.add(clean(place if row.parts else f"{place}  {row.description}"))
    for said in _of_parts(row):
        page.hang(clean(said))
    page.add()
    for line in _changed(row):
        page.add(line)
    for part in result.mutants:
        if part.id in row.parts:
            page.add(clean(f"part {part.id}  {part.operator}  {part.status} on its own"))
    page.add()


def _relations(page: Page, row: MutantRow) -> None:
    if row.killed_by_relations:
        page.add(
            "`agentmut relations --survivors` found relations that notice this change (the status does not count them):"
        )
    for found in row.killed_by_relations:
        page.hang(f"violated more often than by the unchanged agent: {clean(found)}")


def _delivery(page: Page, row: MutantRow) -> None:
    if row.witness and row.witness.route == "effect":
        page.add("The agent's process died, and no request shows the change any more: the end is the effect.")
    elif row.witness:
        route = _SEEN_IN[row.witness.route]
        page.add(f"The change was seen in what was {route} in {row.witness.trials} of {row.witness.of} runs.")
    if note := delivery_note(row):
        page.add(
            f"Partly delivered: it {note}." if note.startswith("reached") else f"Partly delivered: {note}."
        )
    if row.gate_red is not None:
        below = "A" if row.gate_red else "No"
        page.add(f"{below} pass rate of the mutant's own runs is below the scenario's threshold.")


def _proposals(page: Page, proposals: Proposals) -> None:
    firm = [one for one in proposals.assertions if one.firm]
    if firm:
        page.title("Assertions that would have killed it, by the trials stored")
    for assertion in firm:
        add_assertion(page, assertion, proposals.where, proposals.suite)
    if len(firm) < len(proposals.assertions):
        page.title(SEEN_TO_DIFFER)
    for assertion in proposals.assertions:
        if not assertion.firm:
            add_difference(page, assertion, proposals.suite)
    for note in proposals.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")


def _of_parts(row: MutantRow) -> list[str]:
    """Return what each part of a pair changes."""
    if not row.parts:
        return []
    ends = [row.description.find(f"[{part}]") for part in row.parts]
    first, second = sorted(ends)
    return [row.description[first:second].removesuffix(" and "), row.description[second:]]


def _company(result: Result, row: MutantRow) -> Iterator[str]:
    """Yield sentences on related mutants: the same group, the subsuming mutant, and the subsumed mutants."""
    alike = [
        other.id for other in result.mutants if row.group and other.group == row.group and other is not row
    ]
    if alike:
        yield f"The same scenarios kill {_few(alike)} in the same way."
    if row.subsumed_by:
        other = row.subsumed_by
        yield f"{other} stands for this mutant: every scenario that killed {other} also killed this one."
    behind = dominators(result.mutants).get(row.id, ())
    if behind:
        yield f"This mutant stands for {_few(behind)}: every scenario that killed this one also killed those."


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids[:6]) + (f" and {len(ids) - 6} more" if len(ids) > 6 else "")


def _changed(row: MutantRow) -> Iterator[Text]:
    before, after = without_marker(row.before), without_marker(row.after)
    if effect_of(row) is Effect.REWIRES:
        before, after = _edges(before), _edges(after)
    yield from diff_lines(before, after, indent="")


def _edges(text: str) -> str:
    """Return the edges between the nodes of each list, one line a list."""
    return "\n".join(
        f"edge {' + '.join(nodes[:-1])} -> {nodes[-1]}" if len(nodes) > 1 else line
        for line in text.splitlines()
        for nodes in [line.split(", ")]
    )


def _evidence(page: Page, result: Result, row: MutantRow) -> None:
    if not row.evidence:
        return
    baseline = {b.scenario: b for b in result.baseline}
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("scenario", overflow="fold")
    for name in ("original", "mutant", "decision"):
        table.add_column(name, justify="right", no_wrap=True)
    for item in row.evidence:
        original = baseline[item.scenario]
        table.add_row(
            clean(item.scenario),
            f"{original.passes}/{original.trials}",
            f"{item.trials - item.failures}/{item.trials}",
            "open" if item.decision == "continue" else item.decision,
        )
    page.title("Runs that passed")
    page.add(table)
    for item in row.evidence:
        if item.failure:
            page.add(f"A failed run of {clean(item.scenario)}: {shorten(item.failure, 300)}")
    tried = [baseline[item.scenario] for item in row.evidence]
    if line := confirming_line(tried):
        page.add(line)
    if SUITE in row.killed_by:
        page.add("Killed by the runs of all these scenarios together.")
    if len(row.evidence) < len(result.baseline):
        page.add("The other scenarios do not reach the change, or were not needed for the decision.")
    page.add()


def _ci(page: Page, result: Result, row: MutantRow) -> None:
    if not row.ci_red:
        return
    original = {run.runs: run.false_alarm for run in result.ci}
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("runs a scenario", "mutant", "unchanged agent"):
        table.add_column(name, justify="right", no_wrap=True)
    for red in row.ci_red:
        alarm = original.get(red.runs)
        table.add_row(str(red.runs), interval(red), interval(alarm) if alarm else "-")
    page.title("Chance that a CI run is red, by the trials stored")
    page.add(table)
    if any(red.runs > 1 for red in row.ci_red):
        page.add(ROUNDED_UP)
    if row.ci_as_original:
        page.add(
            f"It was not tried on {counted(row.ci_as_original, 'scenario')} that the change reaches. There it counts "
            "as passing like the original, and for the upper bound as failing."
        )
    for job in row.ci_jobs:
        page.add(_job(job))
    if row.trials:
        page.add(
            "Where no drop was found, the original's runs count with the mutant's. Its trials stop as soon as it is "
            "decided: the bounds describe, they promise nothing."
        )
    page.add()


def _job(job: CiJob) -> str:
    made = f"After the kill it passed {job.passes} of {counted(job.trials, 'run')} on {clean(job.scenario)}"
    if job.complete:
        return f"{made}: the chance of red rests on them, since no kill has chosen them."
    return f"{made}: too few for the chance of red, as the run ended first."


def advice(row: MutantRow, *, unsure: bool) -> list[str]:
    """Return what to do; `unsure`: its change may be chance, and no assertion was found that sees it."""
    if row.intent is Intent.PRESERVE:
        return ["This change should not matter: a kill would show a brittle agent, not a good suite."]
    if row.status is Status.NO_COVERAGE:
        return ["Write a scenario that makes the agent use it."]
    if row.status is Status.SURVIVED and row.gap == "assertion" and unsure:
        return [
            "Run again with another --seed before you add an assertion for it. If behaviour has not changed then, add "
            "a scenario in which the loss shows."
        ]
    if row.status is Status.SURVIVED and row.gap == "assertion":
        return [
            "Add an assertion that looks at what changed, or ignore it with a reason in `mutation.ignore`."
        ]
    if row.status is Status.SURVIVED:
        return ["Write a scenario in which the loss shows, or ignore it with a reason in `mutation.ignore`."]
    return []
