"""Scores of groups of mutants, with intervals that allow for the kill rule's own errors."""

from collections import Counter
from collections.abc import Sequence

from agentmut.campaign.decision.arm import Arm
from agentmut.nouns import Score, Status
from agentmut.stats import Decision, Judged, KillTable, mutation_score, paper_score

LEVEL = 0.95
DECISIONS = {
    Status.KILLED: Decision.KILLED,
    Status.SURVIVED: Decision.SURVIVED,
    Status.UNDECIDED: Decision.UNDECIDED,
}
"""What the score's bounds know of a status."""


def score(mutants: Sequence[tuple[Status, Arm | None]], *, paper: bool = False) -> Score:
    """The score of some mutants: killed / (killed + survived + no_coverage), null where that is 0/0.

    Undecided mutants widen the bounds; with `paper` they are in the denominator as well (Eq. 22: killed over all
    that are not equivalent). Equivalent, not applied, ignored and broken ones are only counted.
    """
    counts = Counter(status for status, _ in mutants)
    judged = [
        Judged(DECISIONS[status], _family(arm), arm.suite.level if arm and arm.suite else 0.0)
        for status, arm in mutants
        if status in DECISIONS
    ]
    return scored(counts, judged, paper=paper)


def scored(counts: Counter[Status], judged: Sequence[Judged], *, paper: bool = False) -> Score:
    """The score of so many mutants, those with a decision in `judged`."""
    found = mutation_score(judged, no_coverage=counts[Status.NO_COVERAGE], gamma=1 - LEVEL)
    decided = counts[Status.KILLED] + counts[Status.SURVIVED] + counts[Status.NO_COVERAGE]
    ratio = paper_score(decided + (counts[Status.UNDECIDED] if paper else 0), 0, counts[Status.KILLED])
    return Score(
        value=round(counts[Status.KILLED] / ratio.n, 6) if ratio else None,
        low=round(found.interval.low, 6) if found else None,
        high=round(found.interval.high, 6) if found else None,
        level=LEVEL,
        **{status.value: counts[status] for status in Status},
    )


def share_not_killed(killed: Score) -> Score:
    """Return 1 - score, with the ends of the interval exchanged."""

    def rest(share: float | None) -> float | None:
        return None if share is None else round(1 - share, 6)

    update = {"value": rest(killed.value), "low": rest(killed.high), "high": rest(killed.low)}
    return killed.model_copy(update=update)


def _family(arm: Arm | None) -> dict[str, KillTable]:
    return {lane.scenario: lane.table for lane in arm.lanes} if arm else {}
