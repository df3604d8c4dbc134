"""Scores of groups of mutants, with intervals that allow for the kill rule's own errors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut.campaign.decision.arm import Arm
from agentmut.nouns import Mutant, Score, Status
from agentmut.stats import (
    NO_SUITE,
    Decision,
    Grade,
    Judged,
    KillTest,
    SuiteTest,
    grades,
    mutation_score,
    paper_score,
)

LEVEL = 0.95
DECISIONS = {
    Status.KILLED: Decision.KILLED,
    Status.SURVIVED: Decision.SURVIVED,
    Status.UNDECIDED: Decision.UNDECIDED,
}
"""What the score's bounds know of a status."""


class Standing(NamedTuple):
    """What the trials of one mutant prove."""

    p_value: float | None = None
    """Of a kill; None for what was not killed."""
    grade: Grade | None = None
    ruled_out: float | None = None
    """The drop that every scenario of a survivor has ruled out."""


def standings(mutants: Iterable[tuple[Mutant, Status, Arm | None]]) -> Mapping[str, Standing]:
    """Return what the trials of each mutant prove, by id. The grades are those among all of these mutants."""
    known = {m.id: (status, arm) for m, status, arm in mutants if status in DECISIONS and arm and arm.lanes}
    p_values = {name: judged(status, arm).p_value for name, (status, arm) in known.items()}
    killed = [status is Status.KILLED for status, _ in known.values()]
    graded = dict(zip(known, grades(list(p_values.values()), killed), strict=True))
    return {
        name: Standing(p_values[name] if graded[name] else None, graded[name], _ruled_out(status, arm))
        for name, (status, arm) in known.items()
    }


def judged(status: Status, arm: Arm | None) -> Judged:
    """Return the evidence on a mutant: every table that could have killed it, and where one did."""
    lanes = arm.lanes if arm else ()
    tests = tuple(
        KillTest(lane.scenario, lane.table, lane.trials if lane.decision is Decision.KILLED else 0)
        for lane in lanes
    )
    suite = arm.suite if arm else None
    return Judged(
        DECISIONS[status],
        tests,
        SuiteTest(suite.level, suite.log_evidence, suite.killed) if suite else NO_SUITE,
    )


def score(
    mutants: Sequence[tuple[Status, Arm | None]], graded: Iterable[Grade | None] = (), *, paper: bool = False
) -> Score:
    """The score of some mutants: killed / (killed + survived + no_coverage), null where that is 0/0.

    Undecided mutants widen the bounds; with `paper` they are in the denominator as well (Eq. 22: killed over all
    that are not equivalent). Equivalent, not applied, ignored and broken ones are only counted. `graded` holds the
    grades of the kills among them.
    """
    counts = Counter(status for status, _ in mutants)
    evidence = [judged(status, arm) for status, arm in mutants if status in DECISIONS]
    return scored(counts, evidence, graded, paper=paper)


def scored(
    counts: Counter[Status],
    evidence: Sequence[Judged],
    graded: Iterable[Grade | None] = (),
    *,
    paper: bool = False,
) -> Score:
    """The score of so many mutants, those with a decision in `evidence`."""
    found = mutation_score(evidence, no_coverage=counts[Status.NO_COVERAGE], gamma=1 - LEVEL)
    decided = counts[Status.KILLED] + counts[Status.SURVIVED] + counts[Status.NO_COVERAGE]
    ratio = paper_score(decided + (counts[Status.UNDECIDED] if paper else 0), 0, counts[Status.KILLED])
    return Score(
        value=round(counts[Status.KILLED] / ratio.n, 6) if ratio else None,
        low=round(found.interval.low, 6) if found else None,
        high=round(found.interval.high, 6) if found else None,
        level=LEVEL,
        false_kills=found.false_kills if found else None,
        missed=found.missed if found else None,
        **{status.value: counts[status] for status in Status},
        **{grade.value: number for grade, number in Counter(filter(None, graded)).items()},
    )


def share_not_killed(killed: Score) -> Score:
    """Return 1 - score, with the ends of the interval exchanged."""

    def rest(share: float | None) -> float | None:
        return None if share is None else round(1 - share, 6)

    update = {"value": rest(killed.value), "low": rest(killed.high), "high": rest(killed.low)}
    return killed.model_copy(update=update)


def _ruled_out(status: Status, arm: Arm) -> float | None:
    cleared = [lane.table.design.delta for lane in arm.lanes if lane.decision is Decision.SURVIVED]
    return max(cleared) if status is Status.SURVIVED and len(cleared) == len(arm.lanes) else None
