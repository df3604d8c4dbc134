"""Evidence of the whole suite: a small drop everywhere shows in all scenarios together before it does in any.

A part of alpha may be spent on it. For a relative loss u shared by all scenarios, the product over scenarios of
m1(u)/m0 is a martingale while nothing has changed, whatever scenario each trial went to and whenever that
was decided, because each factor has expectation 1 under its own scenario's predictive m0. So is the mean over
several u. By Ville's inequality the mean ever reaches 1/a with chance at most a. The scenarios share the rest of
alpha, so that the sum of all levels stays alpha.

m0 is predictive, averaged over what the baseline leaves uncertain. At a fixed true rate the chance can be larger,
the more so the more scenarios there are and the smaller their baselines; `log_threshold` keeps a distance for
that, as `safety_factor` does for one scenario.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.allocation import Standing

SHARED_LOSSES = (0.1, 0.25)
"""Relative losses of all pass rates that the pooled evidence averages over, with equal weights."""
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
    """The table of a baseline with `f0` failures in `n0` trials. A few milliseconds: keep it.

    m0 and the failure rates phi + (1 - phi) u of m1 are those of `allocation.evidence`, each u by itself.

    Raises `ValueError` for n0 < 1, f0 outside [0, n0] or n_max < 1.
    """
    from agentmut.stats.kill.sequences import log_ratios, row

    n0, n_max = check_count("n0", n0, 1), check_count("n_max", n_max, 1)
    f0 = check_count("f0", f0, 0, n0)
    flat = [log_ratios(f0, n0, n_max, (loss,)).tolist() for loss in SHARED_LOSSES]
    return PooledEvidence(f0, n0, tuple(tuple(tuple(x[row(n)]) for n in range(n_max + 1)) for x in flat))


def log_pooled(standings: Iterable[PooledStanding]) -> float:
    """Logarithm of the mean over u of the product over scenarios of m1(u)/m0; 0 before the first trial."""
    totals = [0.0] * len(SHARED_LOSSES)
    for scenario in standings:
        for i, ratios in enumerate(scenario.evidence.log_ratio):
            totals[i] += ratios[scenario.n][scenario.f]
    top = max(totals)
    return top + math.log(sum(math.exp(t - top) for t in totals) / len(totals))


def log_threshold(level: float, sizes: Sequence[int]) -> float:
    """The logarithm that the pooled evidence must reach to kill at `level`; `sizes` are the baselines' n0.

    log(1/level) + log(1 + s) max(1, log(1/level)/log(100)) with s the sum of 1/n0. Simulated with up to 30
    scenarios, baselines of 10 to 200 and true pass rates from .3 to .99, log(1/level) alone was crossed up to
    1 + s times as often as it should be at level .01, and the excess grew towards smaller levels.

    Raises `ValueError` for a level outside (0, 0.5), fewer than two scenarios, or a size below 1.
    """
    level = check_rate("level", level, 0.0, 0.5)
    if len(sizes) < 2:
        raise ValueError(f"sizes must have an entry for each of two scenarios or more, got {list(sizes)!r}")
    excess = math.log1p(sum(1 / check_count("n0", n0, 1) for n0 in sizes))
    wanted = -math.log(level)
    return wanted + excess * max(1.0, wanted / math.log(100))


def spread(states: Sequence[Standing | None], pooled: float) -> list[Standing | None]:
    """The states that `choose` should look at where the suite has a share; retired scenarios are None.

    While the pooled evidence (a logarithm) is not far behind the best live scenario's, those with the fewest
    trials: each scenario's own baseline uncertainty then weighs least. Otherwise all of them.
    """
    live = [state for state in states if state is not None]
    best = max((s.evidence.log_ratio[s.n][s.f] for s in live), default=0.0)
    if pooled <= best - BEHIND:
        return list(states)
    fewest = min((s.n for s in live), default=0)
    return [s if s is not None and s.n == fewest else None for s in states]
