"""Surviving mutants under relations: does a mutant violate one more often than the unchanged agent?

A mutant's stored runs are those up to the point where the suite had decided. The kill rule may be looked at after any
number of runs, so its level holds for them as well: an unchanged mutant is killed by relations with a chance of at
most alpha, over all relations and scenarios that are compared on it.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agentmut.campaign import DECISIONS, Launch, Session, Tables, TrialResult, scored
from agentmut.nouns import Execution, Intent, Mutant, MutantRow, OperatorClass, Result, Score, Status
from agentmut.relating.follow_ups import Agent, FollowUps, TrialRef
from agentmut.relating.lane import Lane, Subject
from agentmut.relating.material import others
from agentmut.relating.preparation import comparison, level_of, relating
from agentmut.relating.repeats import from_sources
from agentmut.relating.state import Relating, RelationsPlan, SourceTrials
from agentmut.relating.summary import judgement_of, violation
from agentmut.stats import Grade, JudgedMutant, KillDesign, KillTable, KillTest, SuiteTest, Verdict, level_for
from agentmut.store import Counts, RelationKill
from agentmut.trial import Detector

Runs = Mapping[tuple[str, str], Sequence[tuple[int, Execution]]]
"""By mutant and scenario: repeats and what the mutant did."""


class Survivor(NamedTuple):
    """A mutant that the suite did not notice, with the scenarios that tried it."""

    row: MutantRow
    mutant: Mutant
    scenarios: tuple[str, ...]


class Measure(NamedTuple):
    """A relation on a scenario, with the unchanged agent's violations."""

    lane: Lane
    counts: Counts


def survivors_of(result: Result, mutants: Iterable[Mutant], scenarios: Iterable[str]) -> tuple[Survivor, ...]:
    """Return the first-order survivors that should be noticed, with the scenarios that tried them."""
    known, among = {mutant.id: mutant for mutant in mutants}, set(scenarios)
    return tuple(
        Survivor(row, known[row.id], tuple(e.scenario for e in row.evidence if e.scenario in among))
        for row in result.mutants
        if row.status is Status.SURVIVED and row.intent is Intent.DEGRADE and row.id in known
    )


def measures_of(lanes: Iterable[Lane]) -> tuple[Measure, ...]:
    """Return the baseline for the mutants: every pair of the unchanged agent, without early decisions."""
    return tuple(
        Measure(lane, Counts(violations=lane.violations, pairs=len(lane.held))) for lane in lanes if lane.held
    )


def mutant_sources(
    session: Session,
    plan: RelationsPlan,
    survivors: Sequence[Survivor],
    measures: Sequence[Measure],
    pairs: int,
) -> SourceTrials:
    """Return the survivors' runs that pairs start from; the store has those of the campaign."""
    where = {measure.lane.subject.scenario.name for measure in measures}
    wanted = (
        Launch(one.mutant.id, scenario, repeat, repeat)
        for one in survivors
        for scenario in one.scenarios
        if scenario in where
        for repeat in range(pairs)
    )
    return SourceTrials(
        plan=plan,
        suite=session.suite,
        scenarios=session.tests.scenarios,
        contenders=tuple(one.mutant for one in survivors),
        detectors=detectors_of(session, survivors, measures),
        wanted=deque(wanted),
    )


def detectors_of(
    session: Session, survivors: Iterable[Survivor], measures: Iterable[Measure]
) -> dict[str, Detector]:
    """Return what tells whether a survivor's change arrived, knowing what the unchanged agent sends."""
    sent = tuple(
        dict.fromkeys(seen for measure in measures for seen in measure.lane.subject.material.footprints)
    )
    full = session.suite.full
    return {one.mutant.id: Detector(one.mutant, full).informed(sent) for one in survivors}


def runs_of(found: Mapping[TrialRef, TrialResult]) -> Runs:
    """Return the runs in which the mutation arrived."""
    runs: dict[tuple[str, str], list[tuple[int, Execution]]] = {}
    for ref, result in found.items():
        if result.witness is not None:
            ran = Execution(
                ending=result.ending, reason=result.reason, trace=result.trace, footprint=result.footprint
            )
            runs.setdefault((ref.mutant, ref.scenario), []).append((ref.repeat, ran))
    return runs


def mutant_work(
    session: Session,
    plan: RelationsPlan,
    survivors: Sequence[Survivor],
    measures: Sequence[Measure],
    runs: Runs,
    tables: Tables,
    repeats_of: Collection[tuple[str, str]] = (),
) -> tuple[Session, Relating]:
    """Return the lanes of all survivors, each mutant's at its own share of alpha.

    Of the mutants on scenarios in `repeats_of`, which cannot be run again, source runs are the follow-ups that change
    nothing too.
    """
    follow_ups = FollowUps(session)
    follow_ups.detectors |= detectors_of(session, survivors, measures)
    follow_ups.mutants |= {one.mutant.id: one.mutant for one in survivors}
    lanes = [
        lane
        for one in survivors
        for lane in _lanes(follow_ups, one, measures, runs, plan, session, tables, repeats_of)
    ]
    opened = follow_ups.opened()
    return opened, relating(opened, plan, follow_ups, lanes)


def _lanes(
    follow_ups: FollowUps,
    survivor: Survivor,
    measures: Sequence[Measure],
    runs: Runs,
    plan: RelationsPlan,
    session: Session,
    tables: Tables,
    repeats_of: Collection[tuple[str, str]],
) -> list[Lane]:
    agent = Agent(survivor.mutant.apply(session.suite.full), survivor.mutant)
    found = []
    for measure in measures:
        chosen, scenario, _, material = measure.lane.subject
        if scenario.name not in survivor.scenarios:
            continue
        own = others(material, runs.get((survivor.mutant.id, scenario.name), ()))
        lane = _lane(follow_ups, Subject(chosen, scenario, agent, own), plan)
        if (survivor.mutant.id, scenario.name) in repeats_of:
            lane = from_sources(lane)
        if lane.planned:
            found.append((lane, measure.counts))
    level = level_of(session.project, len(found))
    for lane, counts in found:
        lane.rule = comparison(counts, level, tables)
    return [lane for lane, _ in found]


def _lane(follow_ups: FollowUps, subject: Subject, plan: RelationsPlan) -> Lane:
    planned, silent = follow_ups.plan(*subject, plan.seed)
    return Lane(subject, planned, Counter(silent), window=plan.window)


def kills_of(
    lanes: Iterable[Lane], survivors: Iterable[Survivor], measures: Iterable[Measure]
) -> Iterator[RelationKill]:
    """Yield the lanes whose violations have risen."""
    rows = {one.mutant.id: one.row for one in survivors}
    counts = {_place(measure.lane): measure.counts for measure in measures}
    for lane in lanes:
        judged = judgement_of(lane)
        if judged is None or judged.verdict is not Verdict.FAIL:
            continue
        row = rows[lane.subject.agent.id]
        yield RelationKill(
            mutant=row.id,
            operator=row.operator,
            relation=lane.subject.chosen.label,
            scenario=lane.subject.scenario.name,
            violations=lane.violations,
            pairs=len(lane.held),
            original=counts[_place(lane)],
            example=violation(lane.subject.scenario.turns, lane.example) if lane.example else None,
        )


def _place(lane: Lane) -> tuple[str, str]:
    return lane.subject.chosen.label, lane.subject.scenario.name


def with_kills(
    result: Result, kills: Sequence[RelationKill], lanes: Sequence[Lane], tables: Tables, scoring: str
) -> Result:
    """Return the result with the kills by relations beside it; status and score stay unchanged."""
    by: dict[str, list[str]] = {}
    for kill in kills:
        by.setdefault(kill.mutant, []).append(f"{kill.relation} @ {kill.scenario}")
    judged = {(lane.subject.agent.id, " @ ".join(_place(lane))) for lane in lanes if lane.held}
    rows = tuple(_with_kills(row, by.get(row.id, ()), judged) for row in result.mutants)
    families: dict[str, dict[str, KillTable]] = {}
    for lane in lanes:
        table = getattr(lane.rule, "table", None)
        if table is not None:
            families.setdefault(lane.subject.agent.id, {})[" @ ".join(_place(lane))] = table
    changed = result.model_copy(update={"mutants": rows})
    score = _score(changed, families, tables, scoring)
    return changed.model_copy(update={"score_with_relations": score})


def _with_kills(row: MutantRow, found: Sequence[str], judged: Collection[tuple[str, str]]) -> MutantRow:
    """Return the row with these kills, and the kills of earlier checks that were not repeated."""
    kept = [place for place in row.killed_by_relations if (row.id, place) not in judged]
    return row.model_copy(update={"killed_by_relations": tuple(dict.fromkeys((*kept, *found)))})


def _score(
    result: Result, families: Mapping[str, Mapping[str, KillTable]], tables: Tables, scoring: str
) -> Score:
    """Return the mutation score with the kills by relations.

    More could kill a mutant, so more kills may be false.
    """
    rows = [
        row
        for row in result.mutants
        if row.operator_class is not OperatorClass.HIGHER_ORDER
        and (scoring == "paper" or row.intent is Intent.DEGRADE)
    ]
    statuses = [Status.KILLED if row.killed_by_relations else row.status for row in rows]
    if not families and statuses == [row.status for row in rows]:
        return result.score
    suite = _suite_tables(result, tables)
    alpha = result.rule["alpha"]
    share = result.rule.get("suite_share", 0.0) if len(suite) > 1 else 0.0
    judged = [
        JudgedMutant(
            DECISIONS[status],
            tuple(KillTest(*item) for item in {**suite, **families.get(row.id, {})}.items()),
            SuiteTest(alpha * (share + _earlier(row, families))),
            row.p_value,  # relations look at survivors only, so the suite's own kills come before theirs
        )
        for row, status in zip(rows, statuses, strict=True)
        if status in DECISIONS
    ]
    graded = [Grade(row.grade) for row in rows if row.grade]
    resolution = result.score.resolution
    look = result.sample.shares[-1] if result.sample else 1.0
    found = scored(Counter(statuses), judged, graded, resolution, paper=scoring == "paper", share=look)
    return _no_narrower(found, result.score)


def _earlier(row: MutantRow, families: Mapping[str, Mapping[str, KillTable]]) -> int:
    """Return 1 if an earlier check of other relations killed the mutant, at its own alpha; else 0."""
    return int(any(place not in families.get(row.id, {}) for place in row.killed_by_relations))


def _no_narrower(score: Score, own: Score) -> Score:
    """Return bounds that are at least as far from the value as the bounds of the suite's own score.

    `result.json` has the scenarios that a mutant was tried on, not all that reach it, so the errors of the suite are
    known less well here than in the campaign.
    """
    ends = score.value, score.low, score.high, own.value, own.low, own.high
    if None in ends:
        return score
    value, low, high, own_value, own_low, own_high = (end or 0.0 for end in ends)
    update = {
        "low": max(0.0, min(low, round(value - (own_value - own_low), 6))),
        "high": min(1.0, max(high, round(value + (own_high - own_value), 6))),
        "false_kills": max(score.false_kills or 0, own.false_kills or 0),
        "missed": max(score.missed or 0, own.missed or 0),
    }
    return score.model_copy(update=update)


def _suite_tables(result: Result, tables: Tables) -> dict[str, KillTable]:
    """Return the table of each testable scenario, at its share of alpha if all of them reach a mutant.

    A budget may have ended the run in a round in which no scenario was testable for its finest drop: then all count.
    """
    rule, testable = result.rule, [row for row in result.baseline if row.testable] or list(result.baseline)
    together = rule.get("suite_share", 0.0) if len(testable) > 1 else 0.0
    level = level_for(max(1, len(result.baseline)), rule["alpha"] * (1 - together))
    design = KillDesign(level, rule["beta"], rule["delta"], int(rule["n_max"]))
    return {row.scenario: tables.get(row.trials - row.passes, row.trials, design) for row in testable}
