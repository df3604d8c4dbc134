"""Scores of groups of mutants, with intervals that allow for the error rates of the kill rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agentmut.campaign.decision.arm import Arm
from agentmut.nouns import Mutant, Score, Status
from agentmut.stats import (
    NO_SUITE,
    Decision,
    Grade,
    Interval,
    JudgedMutant,
    KillTable,
    KillTest,
    KillTests,
    SuiteTest,
    grades,
    mutation_score,
    paper_score,
    replayed,
    sampled_score,
)

LEVEL = 0.95
DECISIONS = {
    Status.KILLED: Decision.KILLED,
    Status.SURVIVED: Decision.SURVIVED,
    Status.UNDECIDED: Decision.UNDECIDED,
    Status.UNTESTABLE: Decision.UNDECIDED,
}
"""What the score's bounds know of a status."""
ANSWERABLE = frozenset(DECISIONS) - {Status.UNTESTABLE}
UNANSWERED = 0.05
"""Share of the mutants that may be without an answer at the drop that a score speaks of."""


class Standing(NamedTuple):
    """What the trials of one mutant prove."""

    p_value: float | None = None
    """The p-value of a kill; None for what was not killed."""
    grade: Grade | None = None
    ruled_out: float | None = None
    """The drop that every scenario of a survivor has ruled out."""


def standings(mutants: Iterable[tuple[Mutant, Status, Arm | None]]) -> Mapping[str, Standing]:
    """Return what the trials of each mutant prove, by id. Grades are computed among all these mutants."""
    known = {m.id: (status, arm) for m, status, arm in mutants if status in DECISIONS and arm and arm.lanes}
    p_values = {name: judged(status, arm).p_value for name, (status, arm) in known.items()}
    killed = [status is Status.KILLED for status, _ in known.values()]
    graded = dict(zip(known, grades(list(p_values.values()), killed), strict=True))
    return {
        name: Standing(
            p_values[name] if graded[name] else None,
            graded[name],
            arm.ruled_out if status is Status.SURVIVED else None,
        )
        for name, (status, arm) in known.items()
    }


def judged(status: Status, arm: Arm | None, resolution: float | None = None) -> JudgedMutant:
    """Return the evidence on a mutant: every table that could have killed it, and the tables that did.

    With a resolution, a survivor is one that has ruled out a drop of it; another is undecided.
    """
    decision = _decision(status, arm, resolution)
    if arm is None:
        return JudgedMutant(decision, ())
    suite, spent = arm.suite, sum(lane.weight for lane in arm.tested)
    return JudgedMutant(
        decision,
        _kill_tests(arm),
        SuiteTest(suite.level, suite.log_evidence, suite.killed) if suite else NO_SUITE,
        later=max(0.0, round(1 - spent, 9)),
    )


def _decision(status: Status, arm: Arm | None, resolution: float | None) -> Decision:
    decision = DECISIONS[status]
    if decision is not Decision.SURVIVED or arm is None or not resolution:
        return decision
    is_finer = (arm.ruled_out or 1.0) <= resolution * (1 + 1e-9)
    return decision if is_finer else Decision.UNDECIDED


def _kill_tests(arm: Arm) -> KillTests:
    """Return every table that could have killed the mutant, computed once for all groups that it is scored in."""
    state = (len(arm.tested), arm.died_in, arm.evidence)
    if arm.proof is None or arm.proof[0] != state:
        arm.proof = state, KillTests(_each_test(arm))
    return arm.proof[1]


def _each_test(arm: Arm) -> Iterator[KillTest]:
    """Yield every table that could have killed the mutant; later rounds' tables see the killing trials too."""
    for number, (tables, weight) in enumerate(arm.tested):
        for name, table in tables.items():
            yield KillTest(name, table, _killed_at(arm, number, name, table), weight)


def _killed_at(arm: Arm, number: int, scenario: str, table: KillTable) -> int:
    """Return after how many trials a round's table kills; 0 if it does not kill, or the mutant lives."""
    lane = arm.lane_on(scenario) if 0 <= arm.died_in <= number else None
    if lane is None:
        return 0
    if number == arm.died_in:
        return lane.trials if lane.decision is Decision.KILLED else 0
    replay = replayed(table, lane.outcomes)
    return replay.n if replay.decision is Decision.KILLED else 0


def resolution_of(mutants: Iterable[tuple[Status, Arm | None]], drops: Sequence[float]) -> float | None:
    """Return the drop that a score is about: the finest drop for which nearly all mutants have an answer.

    `drops` are those of the rounds that were begun, coarsest first. Where no drop is answered for 95 % of the mutants
    the coarsest is returned; None without rounds. An untestable mutant has no answer at any drop, so it is not asked.
    """
    answerable = [(status, arm) for status, arm in mutants if status in ANSWERABLE and arm]
    for drop in reversed(drops):
        open_ = sum(_decision(status, arm, drop) is Decision.UNDECIDED for status, arm in answerable)
        if open_ <= UNANSWERED * len(answerable):
            return drop
    return drops[0] if drops else None


def score(
    mutants: Sequence[tuple[Status, Arm | None]],
    graded: Iterable[Grade | None] = (),
    resolution: float | None = None,
    *,
    paper: bool = False,
    share: float = 1.0,
) -> Score:
    """Return the score of some mutants: killed / (killed + survived + no coverage), null where that is 0/0.

    Undecided mutants widen the bounds; with `paper` they are in the denominator as well (Eq. 22: killed over all
    that are not equivalent). Equivalent, not applied, ignored and broken ones are only counted. `graded` holds the
    grades of the kills among them. The upper end speaks of drops of at least `resolution`, or of the finest. Where
    some are not drawn, the others are a random sample, and the score speaks of all; `share` is the part of the error
    that this look at the sample has.
    """
    counts = Counter(status for status, _ in mutants)
    evidence = [judged(status, arm, resolution) for status, arm in mutants if status in DECISIONS]
    return scored(counts, evidence, graded, resolution, paper=paper, share=share)


def scored(
    counts: Counter[Status],
    evidence: Sequence[JudgedMutant],
    graded: Iterable[Grade | None] = (),
    resolution: float | None = None,
    *,
    paper: bool = False,
    share: float = 1.0,
) -> Score:
    """Return the score of these counts; `evidence` holds the mutants with a decision. See `score`."""
    not_drawn, without = counts[Status.NOT_DRAWN], counts[Status.NO_COVERAGE]
    ends = _ends(evidence, counts, (1 - LEVEL) * share, resolution)
    decided = counts[Status.KILLED] + counts[Status.SURVIVED] + (counts[Status.UNDECIDED] if paper else 0)
    ratio = paper_score(decided if not_drawn else decided + without, 0, counts[Status.KILLED])
    sampled = len(evidence) + not_drawn
    of_tried = sampled / (sampled + without) if not_drawn else 1.0
    return Score(
        value=round(of_tried * counts[Status.KILLED] / ratio.n, 6) if ratio else None,
        low=round(ends.interval.low, 6) if ends.interval else None,
        high=round(ends.interval.high, 6) if ends.interval else None,
        level=LEVEL,
        false_kills=ends.false_kills,
        missed=ends.missed,
        resolution=resolution,
        **{status.value: counts[status] for status in Status},
        **{grade.value: number for grade, number in Counter(filter(None, graded)).items()},
    )


class _Ends(NamedTuple):
    """The bounds of a score and the errors that they allow for; a look at a sample has no such counts."""

    interval: Interval | None
    false_kills: int | None = None
    missed: int | None = None


def _ends(
    evidence: Sequence[JudgedMutant], counts: Counter[Status], gamma: float, resolution: float | None
) -> _Ends:
    without = counts[Status.NO_COVERAGE]
    if counts[Status.NOT_DRAWN] or gamma < 1 - LEVEL - 1e-9:
        return _Ends(sampled_score(evidence, counts[Status.NOT_DRAWN], without, gamma, resolution))
    bounds = mutation_score(evidence, without, gamma, resolution)
    return _Ends(*bounds) if bounds else _Ends(None)


class SeenLook(NamedTuple):
    """One look at a growing sample."""

    drawn: frozenset[str]
    """Ids of the mutants that it had."""
    share: float
    """Its part of the score's error."""


def score_of_sample(
    mutants: Sequence[tuple[Status, Arm | None]],
    drops: Sequence[float],
    looks: Sequence[SeenLook] = (),
    graded: Iterable[Grade | None] = (),
    *,
    paper: bool = False,
) -> Score:
    """Return the score of a sample at the finest of `drops` for which nearly all of its mutants have an answer.

    With several looks at a sample each has its interval, from the mutants that it had by what is known of them now. All
    of these hold together, so the score lies in their intersection; the value is that of the last look.
    """
    resolution, graded = resolution_of(mutants, drops), tuple(graded)
    if not looks:
        return score(mutants, graded, resolution, paper=paper)
    estimates = [
        score(_as_drawn(mutants, look), graded, resolution, paper=paper, share=look.share) for look in looks
    ]
    low = max((estimate.low for estimate in estimates if estimate.low is not None), default=None)
    high = min((estimate.high for estimate in estimates if estimate.high is not None), default=None)
    value = estimates[-1].value
    if low is None or high is None or not low <= (low if value is None else value) <= high:
        return estimates[-1]
    return estimates[-1].model_copy(update={"low": low, "high": high})


def _as_drawn(
    mutants: Iterable[tuple[Status, Arm | None]], look: SeenLook
) -> list[tuple[Status, Arm | None]]:
    return [
        (Status.NOT_DRAWN, None) if arm and arm.mutant.id not in look.drawn else (status, arm)
        for status, arm in mutants
    ]


def is_within(score: Score, precision: float) -> bool:
    """Return whether a score's interval is no wider than `precision` on each side, a share from 0 to 1."""
    if score.low is None or score.high is None:
        return False
    return score.high - score.low <= 2 * precision + 1e-9


def share_not_killed(killed: Score) -> Score:
    """Return 1 - score, with the ends of the interval exchanged."""

    def rest(share: float | None) -> float | None:
        return None if share is None else round(1 - share, 6)

    update = {"value": rest(killed.value), "low": rest(killed.high), "high": rest(killed.low)}
    return killed.model_copy(update=update)
