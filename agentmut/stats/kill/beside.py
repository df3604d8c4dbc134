"""The evidence of a kill against trials of the original that run at the same time as the mutant's.

The decision table compares a mutant with a baseline that was run before. If the service has become worse since, the
table kills mutants without effect: at a drift of 3 points .28 of them over ten scenarios at pass rate .98. So a kill
waits for trials of the original on the same scenario, made now, and for further trials of the mutant.

The evidence is a Bayes factor. Both hypotheses let the failure rate of the original have shifted by s since the
baseline: phi is drawn from the Jeffreys posterior of the baseline, s from `SHIFTS`. If nothing else changed, the mutant
fails at phi + s; otherwise at phi + s + (1 - phi - s) u, with u uniform over `LOSSES`. On average over both priors the
factor reaches b with a chance of at most 1/b while nothing else changed, whenever the trials stop (Ville's inequality).

Most drifts befall all scenarios. So the mutant's trials on its other scenarios, with those of the original beside them,
say how far the service has shifted: `OF_ELSEWHERE` of the prior of s is its posterior given these. The rest stays as it
was, for a drift of one scenario alone, and for a mutant that is worse everywhere and looks like a drift.
What it does at fixed rates and shifts is measured: see the section "in real life: drift" of the calibration.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.allocation import LOSSES

if TYPE_CHECKING:
    from agentmut.stats.kill.sequences import Array

SMALL = 0.03
"""Standard deviation of an everyday shift of the service's failure rate."""
LARGE = 0.1
"""Chance of a large shift, uniform from 0.05 to 0.95: an outage, another model. The smaller it is, the fewer trials of
the original confirm a plain kill, and the more unchanged mutants a drift kills."""
OF_ELSEWHERE = 0.8
"""Weight of what the mutant's other scenarios say of the shift. With 0, large drifts kill more unchanged mutants, and
a drop of 0.2 takes more trials to confirm (`benchmarks.calibration --full --only "40 points" drift` has the first)."""
STEPS = (-1.5, -0.7, 0.0, 0.7, 1.5, 2.3)
"""Everyday shifts, in standard deviations; weighted by the normal density."""
LARGE_SHIFTS = tuple(0.05 + 0.1 * i for i in range(10))
QUANTILES = 24
"""Points of the baseline's posterior."""
EDGE = 5e-4
"""Rates are taken to be no closer to 0 and 1."""
OF_THE_LEVEL = 0.5
"""A kill at level a is confirmed by a factor of 0.5 / a: chosen by simulation, among factors that keep the power."""


class KillCounts(NamedTuple):
    """Trials on one scenario: the original's baseline, the mutant's, and the original's beside them."""

    f0: int
    n0: int
    failures: int
    trials: int
    original_failures: int = 0
    original_trials: int = 0


def log_beside(found: KillCounts, elsewhere: Sequence[KillCounts] = ()) -> float:
    """Return the logarithm of the Bayes factor for "the mutant is worse than the original is now"; any real number.

    `elsewhere` are the counts on the mutant's other scenarios. Raises `ValueError` for a count of failures outside
    [0, trials], or an empty baseline.
    """
    for counts in (found, *elsewhere):
        _check(counts)
    return _log_factor(found, tuple(elsewhere))


def _check(counts: KillCounts) -> None:
    for failures, trials, least in (
        (counts[0], counts[1], 1),
        (counts[2], counts[3], 0),
        (counts[4], counts[5], 0),
    ):
        check_count("failures", failures, 0, check_count("trials", trials, least))


def log_confirming(level: float) -> float:
    """Return the logarithm of the factor that confirms a kill made at `level`.

    >>> round(math.exp(log_confirming(0.05 / 12)))
    120
    """
    return math.log(OF_THE_LEVEL / check_rate("level", level))


@lru_cache(maxsize=4096)
def _log_factor(found: KillCounts, elsewhere: tuple[KillCounts, ...]) -> float:
    import numpy as np

    weights = _log_weights(elsewhere)
    same, worse = (np.logaddexp.reduce(weights + each) for each in (_log_same(found), _log_worse(found)))
    return float(worse - same)


@lru_cache(maxsize=4096)
def _log_weights(elsewhere: tuple[KillCounts, ...]) -> "Array":
    """Return the log weight of each shift, given the mutant's other scenarios."""
    import numpy as np

    prior = np.array(_shifts()[1])
    seen = [_log_same(counts) for counts in elsewhere if counts.trials + counts.original_trials]
    if not seen:
        return np.asarray(np.log(prior))
    told = np.sum(seen, axis=0)
    posterior = prior * np.exp(told - told.max())
    return np.asarray(np.log((1 - OF_ELSEWHERE) * prior + OF_ELSEWHERE * posterior / posterior.sum()))


@lru_cache(maxsize=16_384)
def _log_same(counts: KillCounts) -> "Array":
    """Return the log chance of all trials by shift, if the mutant is like the original."""
    grid = _grid(counts.f0, counts.n0)
    failures, trials = counts.failures + counts.original_failures, counts.trials + counts.original_trials
    return _log_mean(failures * grid.rate + (trials - failures) * grid.passing)


def _log_worse(counts: KillCounts) -> "Array":
    """Return the log chance of all trials by shift, if the mutant is worse."""
    _, _, f, n, g, c = counts
    grid = _grid(counts.f0, counts.n0)
    original = (g * grid.rate + (c - g) * grid.passing)[..., None]
    return _log_mean(original + f * grid.worse + (n - f) * grid.rest)


def _log_mean(logs: "Array") -> "Array":
    """Return the log of the mean of exp(logs) over all axes but the second, which has the shifts."""
    import numpy as np

    over = (0, *range(2, logs.ndim))
    return np.asarray(np.logaddexp.reduce(logs, axis=over) - math.log(logs.size / logs.shape[1]))


@lru_cache(maxsize=1)
def _shifts() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the shifts and their weights beforehand."""
    everyday = [math.exp(-0.5 * step**2) for step in STEPS]
    weights = [(1 - LARGE) * weight / sum(everyday) for weight in everyday]
    large = [LARGE / len(LARGE_SHIFTS)] * len(LARGE_SHIFTS)
    return (*(SMALL * step for step in STEPS), *LARGE_SHIFTS), (*weights, *large)


class _Grid(NamedTuple):
    """Logarithms of the chances of failing and of passing: points of the baseline's posterior by shifts."""

    rate: "Array"
    passing: "Array"
    worse: "Array"
    """The chances of a worse mutant, one layer for each loss."""
    rest: "Array"


@lru_cache(maxsize=256)
def _grid(f0: int, n0: int) -> _Grid:
    import numpy as np
    from scipy.stats import beta

    phi = beta.ppf((np.arange(QUANTILES) + 0.5) / QUANTILES, f0 + 0.5, n0 - f0 + 0.5)
    rate = np.clip(phi[:, None] + np.array(_shifts()[0]), EDGE, 1 - EDGE)
    worse = np.clip(rate[..., None] + (1 - rate[..., None]) * np.array(LOSSES), EDGE, 1 - EDGE)
    return _Grid(np.log(rate), np.log1p(-rate), np.log(worse), np.log1p(-worse))
