"""Findings on relations for a terminal; readable at 80 columns and without colour."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from agentmut.nouns import Expectation
from agentmut.report.paint import WIDTH, Page, clean, shorten
from agentmut.report.report_wording import counted, interval
from agentmut.report.terminal.verdicts_page import add_cost
from agentmut.stats import Verdict
from agentmut.store import (
    Finding,
    PooledCounts,
    RelationKill,
    RelationReport,
    RelationRow,
    SurvivorsReport,
    Violation,
    becoming,
)

if TYPE_CHECKING:
    from agentmut.relating import Wish

_ORDER = (Finding.FAIL, Finding.INCONCLUSIVE, Finding.PASS, Finding.NOT_APPLICABLE)
_STYLES = {Finding.PASS: "green", Finding.FAIL: "red", Finding.INCONCLUSIVE: "yellow"}
_CHANGED = {
    Verdict.FAIL: "worse than",
    Verdict.PASS: "not worse than",
    Verdict.INCONCLUSIVE: "perhaps worse than",
}
_WORDS = {Finding.INCONCLUSIVE: "open"}
NAME = 30
"""Characters of a scenario's name."""
SHOWN = 3
"""Checks with an example on a page that is not full."""
LEGEND = (
    "violated: of the pairs judged, with the rate and its 95 % Wilson interval. against: how often two runs of the "
    "unchanged agent violate the relation, or <= the tolerance. open: INCONCLUSIVE. A pair whose follow-up run "
    "failed, where the source run had an answer, violates an invariant. For other relations it counts neither way."
)


def render_relations(report: RelationReport, color: bool = False, *, full: bool = True) -> str:
    """Return the report of `agentmut relations` as text: the worst relation first.

    A page that is not `full` has no row of a relation that every scenario keeps, three examples, and no reason of a
    relation that does not apply. `agentmut report --full` prints the whole page of a stored report.
    """
    page = Page(color)
    page.add(f"agentmut {report.agentmut_version}  {report.kind} {report.run_id}")
    page.add(f"{_status(report)}: {report.agent.adapter} agent, config {report.agent.digest[:12]}")
    if report.problem:
        page.add(f"Problem: {clean(report.problem)}", style="red")
    page.title(f"{report.finding}: {report.reason}")
    if report.changed:
        page.add(f"{_CHANGED[report.changed]} {report.against!r}: {clean(report.changed_reason)}")
    applying = [row for row in report.rows if row.finding is not Finding.NOT_APPLICABLE]
    _table(page, report, applying, full)
    unlike = [row for row in _worst_first(applying) if row.finding is not Finding.PASS and row.pairs]
    for row in unlike if full else unlike[:SHOWN]:
        _unlike_pass(page, report, row)
    _listed(page, "Open, and without a pair", [row for row in applying if not row.pairs])
    if full:
        _not_applicable(page, report)
    _foot(page, report)
    if not full:
        _left_out(page, report, len(unlike) - SHOWN)
    return page.text()


def render_wish(wanted: "Wish", most: int) -> str:
    """Return what `agentmut relations --preview` shows."""
    page = Page(color=False)
    page.title(f"{counted(len(wanted.fitting), 'check')} would be made, each of one relation on one scenario")
    scenarios = len({fit.scenario.name for fit in wanted.fits})
    for relation, fits in groupby(wanted.fitting, key=lambda fit: fit.chosen.label):
        names = [clean(fit.scenario.name) for fit in fits]
        all_of_them = len(names) == scenarios > 1
        page.hang(f"{clean(relation)}: {f'all {scenarios} scenarios' if all_of_them else ', '.join(names)}")
    lacking = Counter((fit.chosen.label, fit.lack) for fit in wanted.fits if fit.lack)
    if lacking:
        page.title("Not applicable")
    for (relation, lack), number in lacking.items():
        page.hang(f"{clean(relation)}, {counted(number, 'scenario')}: {clean(lack)}")
    for name, said in wanted.needs_argument.items():
        page.hang(f"{clean(name)} needs an argument: {clean(said)}")
    for note in wanted.notes:
        page.add(f"Note: {clean(note)}.")
    page.add()
    page.add(f"About {most} agent runs at most, reused ones included. Nothing was run.")
    return page.text()


def render_survivors(report: SurvivorsReport, color: bool = False) -> str:
    """Return what `agentmut relations --survivors` found, as text."""
    page = Page(color)
    page.add(f"agentmut {report.agentmut_version}  {report.kind} {report.run_id}")
    page.add(f"{_status(report)}: survivors of run {report.campaign}")
    if report.problem:
        page.add(f"Problem: {clean(report.problem)}", style="red")
    killed = len(report.killed)
    page.title(
        f"Relations kill {killed} of {counted(report.survivors, 'survivor')} ({report.tried} compared)"
    )
    for mutant, kills in groupby(report.kills, key=lambda kill: (kill.mutant, kill.operator)):
        page.add(Text("  " + "  ".join(mutant), style="bold"))
        for line in kill_lines(kills):
            page.add(line)
    page.title(f"Mutation score             {interval(report.score)}")
    if report.score_with_relations is not None:
        page.add(f"With kills by relations    {interval(report.score_with_relations)}")
    for line in taking_runs(report):
        page.add(line)
    for note in report.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")
    add_cost(page, report)
    page.add("`agentmut show ID` explains a mutant.")
    return page.text()


def kill_lines(kills: Iterable[RelationKill]) -> Iterator[str]:
    """Yield the findings of relations on one mutant, with an example for the last."""
    kill = None
    for kill in kills:
        yield (
            f"    {clean(kill.relation)} @ {clean(kill.scenario)}: violated in {kill.violations} of {kill.pairs}; "
            f"unchanged agent {kill.original.violations}/{kill.original.pairs}"
        )
    if kill is not None and kill.example is not None:
        yield f"    {shorten(kill.example.difference, 150)}"


def taking_runs(report: SurvivorsReport) -> Iterator[str]:
    """Yield the relations that stored runs cannot judge, and the number of runs that would judge them."""
    for one in report.not_stored:
        where = (
            clean(one.scenarios[0]) if len(one.scenarios) == 1 else counted(len(one.scenarios), "scenario")
        )
        mutants = f" and {one.mutant_pairs} of mutants" if one.mutant_pairs else ""
        yield (
            f"{clean(one.relation)}, {where}: the store lacks the follow-up runs of {counted(one.pairs, 'pair')} of "
            f"the unchanged agent{mutants}"
        )
    if report.not_stored:
        yield f"`agentmut relations --survivors` would judge these: about {report.runs_needed} runs at most."


def _status(report: RelationReport | SurvivorsReport) -> str:
    if report.status == "finished":
        return "finished"
    stopped = "stopped by its budget" if report.status == "budget" else report.status
    return f"{stopped} (to go on, give the command again: {becoming(report.forgotten)})"


def _worst_first(rows: Iterable[RelationRow]) -> list[RelationRow]:
    """Return rows by relation, the relation with the worst finding first."""
    rows = list(rows)
    worst: dict[str, tuple[int, float]] = {}
    for row in rows:
        worst[row.relation] = min(worst.get(row.relation, (9, 0.0)), _badness(row))
    return sorted(rows, key=lambda row: (worst[row.relation], row.relation, _badness(row)))


def _badness(row: RelationRow) -> tuple[int, float]:
    return _ORDER.index(row.finding), -(row.violations / row.pairs if row.pairs else 0.0)


def _table(page: Page, report: RelationReport, rows: list[RelationRow], full: bool) -> None:
    if not rows:
        return
    kept = [] if full else _kept_everywhere(rows)
    rows = [row for row in rows if row.relation not in kept]
    together = {one.relation: one.pooled for one in report.relations}
    name = min(NAME, max((len(clean(row.scenario)) for row in rows), default=0))
    if rows:
        page.add(_line("", "violated", "rate", "against", Text("finding"), name))
    for relation, group in groupby(_worst_first(rows), key=lambda row: row.relation):
        page.add(Text(shorten(relation, WIDTH), style="bold"))
        for row in group:
            finding = Text(_WORDS.get(row.finding, row.finding), style=_STYLES.get(row.finding, ""))
            page.add(_line(row.scenario, *_cells(row), finding, name))
        if one := together.get(relation):
            page.add(_together(one, name))
    if kept:
        page.hang(f"PASS on every scenario: {', '.join(map(clean, kept))}")
    if not rows:
        return
    page.add()
    page.add(LEGEND)
    for line in _compared(rows) if full else ():
        page.hang(line, indent=0)


def _kept_everywhere(rows: list[RelationRow]) -> list[str]:
    """Return the relations with no other finding than PASS."""
    found: dict[str, set[Finding]] = {}
    for row in rows:
        found.setdefault(row.relation, set()).add(row.finding)
    return [relation for relation, findings in found.items() if findings == {Finding.PASS}]


def _left_out(page: Page, report: RelationReport, examples: int) -> None:
    """Say what only the full page has, and how to print it."""
    unfit = sum(row.finding is Finding.NOT_APPLICABLE for row in report.rows)
    more = [
        *([f"{counted(examples, 'more example')}"] if examples > 0 else []),
        *([f"why {counted(unfit, 'check')} did not apply"] if unfit else []),
    ]
    page.add()
    page.add(f"`agentmut report --full` shows every row{''.join(f', {one}' for one in more)}.")


def _compared(rows: Iterable[RelationRow]) -> Iterator[str]:
    """Yield the kinds of facts that agreement rests on, which are those of the scenario."""
    kinds = {row.scenario: row.compared for row in rows if row.expectation is Expectation.INVARIANT}
    for these in dict.fromkeys(kinds.values()):
        names = [clean(name) for name, own in kinds.items() if own == these]
        where = ", ".join(names) if len(names) <= 3 else counted(len(names), "scenario")
        yield f"compared on {where}: {', '.join(these) or 'no kind of fact is expected of each run'}"


def _together(pooled: PooledCounts, name: int) -> Text:
    """Return the line of a relation over all its scenarios."""
    against = f"{pooled.identity.violations}/{pooled.identity.pairs}" if pooled.identity else "limit"
    finding = Text("FAIL", style="red") if pooled.failed else Text("no more")
    rate = f"{pooled.violations / pooled.pairs:.2f}  p {pooled.p_adjusted:.2g}"
    return _line(
        f"all {pooled.scenarios} together",
        f"{pooled.violations}/{pooled.pairs}",
        rate,
        against,
        finding,
        name,
    )


def _line(scenario: str, violated: str, rate: str, against: str, finding: Text, name: int) -> Text:
    shown = shorten(scenario, name)
    return Text(f"  {shown:<{name}}  {violated:>8}  {rate:>17}  {against:>7}  ").append_text(finding)


def _cells(row: RelationRow) -> tuple[str, str, str]:
    against = f"<= {row.tolerance:g}" if row.tolerance is not None else "-"
    if row.identity is not None:
        against = f"{row.identity.violations}/{row.identity.pairs}"
    found = row.interval
    if found is None or found.estimate is None:
        return "-", "-", against
    return (
        f"{row.violations}/{row.pairs}",
        f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]",
        against,
    )


def _unlike_pass(page: Page, report: RelationReport, row: RelationRow) -> None:
    page.title(f"{clean(row.relation)}, {clean(row.scenario)}: {row.finding}")
    why = next((one.why for one in report.relations if one.relation == row.relation), "")
    if row.finding is Finding.FAIL and why:
        page.add(f"  {clean(why)}")
    page.add(f"  {clean(row.reason)}")
    if row.change is not None:
        page.add(f"  {clean(row.change.reason)}")
    if row.needed is not None:
        page.add(
            f"  about {counted(row.needed, 'more pair')} would probably decide, if these rates are the true ones"
        )
    for reason, pairs in row.silent.items():
        page.hang(
            f"{counted(pairs, 'pair')} {'was' if pairs == 1 else 'were'} not judged: {shorten(reason, 200)}"
        )
    if row.example is not None:
        for line in _example(row.example, row.expectation):
            page.add(line)


def _example(example: Violation, expectation: Expectation) -> Iterator[str]:
    yield f"  a violation (run {example.repeat}): {shorten(example.change, 150)}"
    yield f"    input:     {shorten(example.source_input, 300)}"
    yield f"    answer:    {shorten(example.source_output, 300)}"
    if example.follow_up_input:
        if example.follow_up_input != example.source_input:
            yield f"    then:      {shorten(example.follow_up_input, 300)}"
        yield f"    answer:    {shorten(example.follow_up_output, 300)}"
    word = "difference" if expectation is Expectation.INVARIANT else "violation"
    yield f"    {word}: {shorten(example.difference, 300)}"


def _not_applicable(page: Page, report: RelationReport) -> None:
    rows = [row for row in report.rows if row.finding is Finding.NOT_APPLICABLE]
    _listed(page, "Not applicable, and in no count", rows)


def _listed(page: Page, title: str, rows: list[RelationRow]) -> None:
    """Add relations with the reason, once where several scenarios share it."""
    if rows:
        page.title(f"{title}: {len(rows)}")
    alike: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        alike.setdefault((row.relation, row.reason), []).append(row.scenario)
    for (relation, reason), names in alike.items():
        where = clean(names[0]) if len(names) == 1 else counted(len(names), "scenario")
        page.hang(f"{clean(relation)}, {where}: {shorten(reason, 200)}")


def _foot(page: Page, report: RelationReport) -> None:
    page.title("Can this be trusted?")
    shown = report.settings
    page.add(
        f"An agent that keeps all relations is called FAIL with a chance of at most {report.alpha:g}, over all "
        f"relations and scenarios together. PASS of an invariant rules out a rate of violations "
        f"{shown['delta']:g} above the agent's rate against itself. PASS of another relation rules out a rate of "
        f"{shown['tolerance']:g} plus `test.margin`. Each PASS is wrong with a chance of about {shown['beta']:g}."
    )
    for note in report.notes:
        page.add(f"Note: {clean(note)}.", style="yellow")
    add_cost(page, report)
