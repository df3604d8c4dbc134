"""Rounds of a campaign: coarse drops first, with small baselines; finer drops while there is money.

In round r a mutant is judged for a drop of `delta_r` against a baseline of `n0_r` trials, at the level `alpha * w_r`.
The trials that earlier rounds have stored are replayed through the round's own table from the first trial on. So the
round's decision is that of one kill rule on one sequence, whatever decided when to stop, to grow the baseline or to go
on. A union bound over the rounds keeps the false-kill rate of all rounds together at alpha. A survival is stated for
its round: "no drop of `delta_r` or more", wrong with chance beta.
"""

from collections.abc import Iterable
from typing import NamedTuple

from agentmut.stats.checks import check_rate
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable


class Round(NamedTuple):
    """One round of a campaign."""

    delta: float
    """The drop of a pass rate that the round rules out; in (0, 0.95)."""
    baseline: int
    """Trials of the original on each scenario, those of earlier rounds included."""
    weight: float
    """The round's share of alpha; the weights of all rounds sum to 1."""


ROUNDS = (Round(0.75, 20, 0.4), Round(0.5, 30, 0.2), Round(0.3, 50, 0.2), Round(0.2, 100, 0.2))
"""The standard rounds. A flawless original clears a scenario in 2, 4, 7 and 11 trials of the mutant."""
FINEST_BASELINE = 200
"""Baseline trials for drops finer than those of the standard rounds."""


def rounds_to(delta: float, baseline: int | None = None) -> tuple[Round, ...]:
    """Return the rounds that end with a drop of `delta`: the standard ones that are coarser, then its own.

    `baseline` is the largest baseline; no round has more. Without it the last round has that of the standard round
    that is nearest below, and 200 trials where delta is finer than 0.2. The weights are those of the standard rounds
    in their order, scaled to sum to 1: a single round has all of alpha, so it is the plain kill rule.

    Raises `ValueError` for delta outside (0, 0.95) or a baseline below 1.

    >>> [(r.delta, r.baseline, round(r.weight, 3)) for r in rounds_to(0.5)]
    [(0.75, 20, 0.667), (0.5, 30, 0.333)]
    """
    delta = check_rate("delta", delta, 0.0, 0.95)
    if baseline is not None and baseline < 1:
        raise ValueError(f"baseline must be at least 1, got {baseline!r}")
    coarser = [stage for stage in ROUNDS if stage.delta > delta]
    last = baseline or _usual_baseline(delta)
    sizes = [*(min(stage.baseline, last) for stage in coarser), last]
    weights = [stage.weight for stage in ROUNDS[: len(coarser)]]
    weights.append(ROUNDS[-1].weight if coarser else 1.0)
    total = sum(weights)
    deltas = [*(stage.delta for stage in coarser), delta]
    return tuple(Round(d, n, w / total) for d, n, w in zip(deltas, sizes, weights, strict=True))


def design_in(round_: Round, design: KillDesign) -> KillDesign:
    """Return the design of a scenario in a round: the round's drop, at the round's share of the scenario's level."""
    return design._replace(alpha=round(design.alpha * round_.weight, 12), delta=round_.delta)


class ReplayedDecision(NamedTuple):
    """The decision of a table on stored outcomes: its first decision, and the number of trials up to it."""

    decision: Decision
    n: int
    f: int


def replayed(table: KillTable, outcomes: str) -> ReplayedDecision:
    """Return the first decision of a table on stored outcomes, `1` for each failure, in launch order.

    CONTINUE where the outcomes end before a decision. Outcomes after the decision are not read.
    """
    n = f = 0
    decision = table.decide(0, 0)
    while decision is Decision.CONTINUE and n < len(outcomes):
        f += outcomes[n] == "1"
        n += 1
        decision = table.decide(n, f)
    return ReplayedDecision(decision, n, f)


def ruled_out(cleared: Iterable[float | None]) -> float | None:
    """Return the least drop that all reached scenarios have ruled out; None if some scenario has ruled out none.

    `cleared` holds the least drop that each scenario has cleared. No scenarios at all rule nothing out.
    """
    drops = list(cleared)
    known = [drop for drop in drops if drop is not None]
    return max(known) if known and len(known) == len(drops) else None


def _usual_baseline(delta: float) -> int:
    return next((stage.baseline for stage in ROUNDS if stage.delta <= delta), FINEST_BASELINE)
