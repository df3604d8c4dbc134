"""Tests, comparisons, and checks of relations or survivors in one shape, with a row for each outcome."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from agentmut.nouns import Cost, Origins, Reliability
from agentmut.report.bounded import one_line
from agentmut.report.reliability_wording import reliability_details, reliability_lines
from agentmut.report.report_wording import (
    bounds_text,
    counted,
    interval,
    judged_with,
    money,
    origins_line,
    timeouts_line,
)
from agentmut.report.terminal.relations_page import taking_runs
from agentmut.store import RelationReport, RelationRow, ScenarioVerdict, SurvivorsReport, VerdictReport

Reported = VerdictReport | RelationReport | SurvivorsReport
KILLED, SURVIVED = "killed", "survived"


class OutcomeRow(NamedTuple):
    """A scenario, or a relation on a scenario."""

    name: str
    outcome: str
    """PASS, FAIL, INCONCLUSIVE or not_applicable; of a survivor of a campaign: killed or survived."""
    cells: tuple[str, ...]
    """What stands between the name and the outcome in a table."""
    reason: str
    failure: str = ""
    """What the first failure said, or the violation that killed a survivor; empty where there is none."""

    @property
    def good(self) -> bool:
        """Return whether the row is as a user wants it."""
        return self.outcome in ("PASS", KILLED)

    @property
    def bad(self) -> bool:
        """Return whether the row asks for something to be done."""
        return self.outcome in ("FAIL", SURVIVED)


class Outcomes(NamedTuple):
    """A test, a comparison, or a check of relations or survivors."""

    kind: str
    """test, compare, relations or survivors."""
    title: str
    outcome: str
    reason: str
    status: str
    problem: str
    head: tuple[str, ...]
    """Names of the columns."""
    rows: tuple[OutcomeRow, ...]
    notes: tuple[str, ...]
    """The notes of the run, then its cost, and which run of which agent it was."""
    seconds: float
    origins: Origins
    reliability: Reliability | None = None
    """The reliability of the runs that a test or a comparison rests on."""
    reliability_notes: tuple[str, ...] = ()
    """The same in sentences."""


def outcomes_of(report: Reported) -> Outcomes:
    """Return a report in the shape of rows. Texts of users and models are as they were written."""
    if isinstance(report, VerdictReport):
        return _verdicts(report)
    if isinstance(report, SurvivorsReport):
        return _survivors(report)
    head = ("relation on scenario", "violations", "rate", "finding")
    rows = tuple(map(_relation, report.rows))
    return Outcomes(
        "relations", "Metamorphic relations", report.finding, report.reason, report.status, report.problem, head, rows,
        _notes(report), report.cost.seconds, report.cost.origins,
    )  # fmt: skip


def _verdicts(report: VerdictReport) -> Outcomes:
    compared = report.baseline is not None
    title = "Comparison with a baseline" if report.kind == "compare" else "Test of the agent"
    head = ("scenario", "passed", *(("baseline", "change") if compared else ("asked", "rate")), "verdict")
    rows = tuple(map(_scenario, report.scenarios))
    return Outcomes(
        report.kind, title, report.verdict, report.reason, report.status, report.problem, head, rows, _notes(report),
        report.cost.seconds, report.cost.origins, report.reliability, _reliability(report.reliability),
    )  # fmt: skip


def _reliability(found: Reliability | None) -> tuple[str, ...]:
    return () if found is None else (*reliability_lines(found), *reliability_details(found))


def _scenario(row: ScenarioVerdict) -> OutcomeRow:
    passed = f"{row.passes}/{row.trials}"
    if row.baseline is not None:
        cells = (passed, f"{row.baseline.passes}/{row.baseline.trials}", bounds_text(row.interval, "+.2f"))
    else:
        asked = "-" if row.threshold is None else f"{row.threshold:g}"
        cells = (passed, asked, bounds_text(row.anytime or row.interval, ".2f"))
    late = timeouts_line(row.outcomes, row.in_time)
    reason = f"{row.reason}; {late}" if late else row.reason
    return OutcomeRow(row.scenario, row.verdict, cells, reason, row.failure)


def _relation(row: RelationRow) -> OutcomeRow:
    cells = (f"{row.violations}/{row.pairs}", bounds_text(row.interval, ".2f"))
    failure = row.example.difference if row.example else ""
    return OutcomeRow(f"{row.relation} on {row.scenario}", row.finding, cells, row.reason, failure)


def _survivors(report: SurvivorsReport) -> Outcomes:
    killed = f"{len(report.killed)} of {report.survivors} killed"
    together = report.score_with_relations
    also = "" if together is None else f", and {interval(together)} with kills by relations"
    agent = f"config {report.agent[:12]}, " if report.agent else ""
    notes = (
        *taking_runs(report), *report.notes, _cost(report.cost), *judged_with(report),
        origins_line(report.cost.origins),
        f"run {report.run_id} on the survivors of run {report.campaign}, {agent}seed {report.seed}",
    )  # fmt: skip
    return Outcomes(
        "survivors", "Relations on survivors", killed, f"{report.tried} compared; the mutation score is "
        f"{interval(report.score)}{also}", report.status, report.problem,
        ("survivor", "violations", "unchanged agent", "outcome"), (*_kills(report), *_still_alive(report)), notes,
        report.cost.seconds, report.cost.origins,
    )  # fmt: skip


def _kills(report: SurvivorsReport) -> Iterator[OutcomeRow]:
    for kill in report.kills:
        original = f"{kill.original.violations}/{kill.original.pairs}"
        yield OutcomeRow(
            f"{kill.mutant} {kill.operator}: {kill.relation} on {kill.scenario}", KILLED,
            (f"{kill.violations}/{kill.pairs}", original), "the mutant violates the relation more often",
            kill.example.difference if kill.example else "",
        )  # fmt: skip


def _still_alive(report: SurvivorsReport) -> Iterator[OutcomeRow]:
    """Yield the mutants that were compared and not killed, with the number of comparisons."""
    compared = Counter(mutant for one in report.compared for mutant in one.mutants)
    for mutant, number in compared.items():
        if mutant not in report.killed:
            reason = f"{counted(number, 'comparison')}: no relation is violated more often than by the unchanged agent"
            yield OutcomeRow(mutant, SURVIVED, ("-", "-"), reason)


def _notes(report: VerdictReport | RelationReport) -> tuple[str, ...]:
    agent = report.agent
    return (
        *report.notes,
        _cost(report.cost),
        *judged_with(report),
        origins_line(report.cost.origins),
        f"run {report.run_id}, agent {agent.name or agent.adapter}, config {agent.digest[:12]}, seed {report.seed}",
    )


def _cost(cost: Cost) -> str:
    return f"{counted(cost.trials, 'run')} of the agent, {money(cost)}, {cost.seconds:.0f} s; {cost.reused} reused"


def bounded_outcomes(found: Outcomes) -> Outcomes:
    """Return the outcomes with each text on one line, cleaned and cut."""
    rows = tuple(
        OutcomeRow(one_line(row.name), row.outcome, row.cells, one_line(row.reason, 400), one_line(row.failure, 1_000))
        for row in found.rows
    )  # fmt: skip
    return found._replace(
        rows=rows,
        reason=one_line(found.reason, 1_000),
        problem=one_line(found.problem, 1_000),
        status=one_line(found.status),
        notes=tuple(one_line(note, 1_000) for note in found.notes),
        reliability_notes=tuple(one_line(note, 1_000) for note in found.reliability_notes),
    )
