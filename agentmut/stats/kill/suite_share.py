"""Evidence of the whole suite: a small drop everywhere shows in all scenarios together before it shows in one.

A part of alpha may be spent on it. For a relative loss u shared by all scenarios, the evidence is the product over
scenarios of m1(u)/m0: the chance of that scenario's trials if its pass rate fell from q to (1 - u) q, over their
chance if it did not, both averaged over q ~ Beta(n0 - f0, f0 + 1). That prior, dq/q, gives all scales of q the
same weight; with it the ratio's expectation over baseline and trials is at most 1 at every true q (with Jeffreys'
prior it reaches 1.2 after three trials, and 1.2^10 with ten scenarios). So it is for the product, for scenarios are
independent, and for the mean over several u; such a quantity exceeds 1/a with chance at most a.

Averaged over q the evidence is a martingale, whatever scenario each trial goes to and however that is decided. At a
fixed q that is not so to the letter: simulated, with adaptive trials, the chance of ever reaching 1/a stays below a.
The scenarios share the rest of alpha, so that the sum of all levels stays alpha.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.allocation import LiveScenario

if TYPE_CHECKING:
    from agentmut.stats.kill.sequences import Array

LEFT_OUT = 0.25
"""What an untestable scenario takes off the logarithm. Leaving out the scenarios with the worst baselines selects
lucky ones; simulated with 30 scenarios at pass rates of .2 to .4 the evidence would be e^0.25 too large for each."""
SHARED_LOSSES = (0.1, 0.25)
"""Relative losses of all pass rates that the pooled evidence averages over, with equal weights."""
LEAST_BASELINE = 20
"""A scenario with fewer baseline trials gives no evidence: more is selected there than `LEFT_OUT` pays for. With 50
scenarios at a pass rate of .28 and 10 baseline trials each, kills at level .025 came to .038."""
BEHIND = 1.0
"""Trials are spread as long as the pooled evidence is no more than this (in nats) behind the best scenario's."""


class PooledEvidence(NamedTuple):
    """log m1(u)/m0 for every state of one scenario: `log_ratio[i][n][f]` for the i-th of `SHARED_LOSSES`."""

    f0: int
    n0: int
    log_ratio: tuple[tuple[tuple[float, ...], ...], ...]


class PooledStanding(NamedTuple):
    """One scenario of a mutant, live or retired: `f` failures in `n` trials of the mutant."""

    evidence: PooledEvidence
    n: int
    f: int


def pooled_evidence(f0: int, n0: int, n_max: int = 100) -> PooledEvidence:
    """Return the table of a baseline with `f0` failures in `n0` trials. It takes a few milliseconds: keep it.

    A baseline without a pass, or of fewer than `LEAST_BASELINE` trials, gives no evidence: all logarithms are 0.

    Raises `ValueError` for n0 < 1, f0 outside [0, n0] or n_max < 1.
    """
    from agentmut.stats.kill.sequences import row

    n0, n_max = check_count("n0", n0, 1), check_count("n_max", n_max, 1)
    f0 = check_count("f0", f0, 0, n0)
    flat = [pooled_ratios(f0, n0, n_max, loss).tolist() for loss in SHARED_LOSSES]
    return PooledEvidence(f0, n0, tuple(tuple(tuple(x[row(n)]) for n in range(n_max + 1)) for x in flat))


def pooled_ratios(f0: int, n0: int, n_max: int, loss: float) -> "Array":
    """Return log m1(u)/m0 for one relative loss, flat over the states as in `sequences`."""
    import numpy as np

    from agentmut.stats.kill.sequences import log_ratios

    if f0 == n0 or n0 < LEAST_BASELINE:
        return np.zeros((n_max + 1) * (n_max + 2) // 2)
    return log_ratios(f0 + 0.5, n0, n_max, (loss,))  # half a failure turns Jeffreys' prior into dq/q


def log_pooled(standings: Iterable[PooledStanding], left_out: int = 0) -> float:
    """Return the logarithm of the mean over u of the product over scenarios of m1(u)/m0; 0 before the first trial.

    `left_out` counts the scenarios that could have been tried had their baselines not been untestable: each
    costs `LEFT_OUT`.

    Raises `ValueError` for a negative `left_out`.
    """
    totals = [-LEFT_OUT * check_count("left_out", left_out)] * len(SHARED_LOSSES)
    for scenario in standings:
        for i, ratios in enumerate(scenario.evidence.log_ratio):
            totals[i] += ratios[scenario.n][scenario.f]
    top = max(totals)
    return top + math.log(sum(math.exp(t - top) for t in totals) / len(totals))


def log_threshold(level: float) -> float:
    """Return the logarithm that the pooled evidence must reach to kill at `level` in (0, 0.5): log(1/level)."""
    return -math.log(check_rate("level", level, 0.0, 0.5))


def spread(states: Sequence[LiveScenario | None], pooled: float) -> list[LiveScenario | None]:
    """Return the states for `choose` if the suite has a share; retired scenarios are None.

    While the pooled evidence (a logarithm) is not far behind the best live scenario's, those with the fewest
    trials: each scenario's own baseline uncertainty then weighs least. Otherwise all of them.
    """
    live = [state for state in states if state is not None]
    best = max((s.evidence.log_ratio[s.n][s.f] for s in live), default=0.0)
    if pooled <= best - BEHIND:
        return list(states)
    fewest = min((s.n for s in live), default=0)
    return [s if s is not None and s.n == fewest else None for s in states]
