"""The evidence of a kill against trials of the original that run at the same time as the mutant's.

The decision table compares a mutant with a baseline that was run before. If the service has become worse since, the
table kills mutants without effect: at a drift of 3 points .28 of them over ten scenarios at pass rate .98. So a kill
waits for trials of the original on the same scenario, made now, and for further trials of the mutant.

The evidence is a Bayes factor. Both hypotheses let the failure rate of the original have shifted by s since the
baseline: phi is drawn from the Jeffreys posterior of the baseline, s from `SHIFTS`. If nothing else changed, the mutant
fails at phi + s; otherwise at phi + s + (1 - phi - s) u, with u uniform over `LOSSES`. On average over both priors the
factor reaches b with a chance of at most 1/b while nothing else changed, whenever the trials stop (Ville's inequality).
What it does at fixed rates and shifts is measured: see the section "in real life: drift" of the calibration.
"""

import math
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
the original confirm a plain kill, and the more unchanged mutants a drift of 5 points kills: .048 ± .010 of them at 0.1,
.058 ± .011 at 0.05 (`benchmarks.calibration --full --size 8 --only "5 points at the end" drift`)."""
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


def log_beside(found: KillCounts) -> float:
    """Return the logarithm of the Bayes factor for "the mutant is worse than the original is now"; any real number.

    Raises `ValueError` for a count of failures outside [0, trials], or an empty baseline.
    """
    for failures, trials, least in (
        (found[0], found[1], 1),
        (found[2], found[3], 0),
        (found[4], found[5], 0),
    ):
        check_count("failures", failures, 0, check_count("trials", trials, least))
    return _log_factor(*found)


def log_confirming(level: float) -> float:
    """Return the logarithm of the factor that confirms a kill made at `level`.

    >>> round(math.exp(log_confirming(0.05 / 12)))
    120
    """
    return math.log(OF_THE_LEVEL / check_rate("level", level))


@lru_cache(maxsize=4096)
def _log_factor(f0: int, n0: int, f: int, n: int, g: int, c: int) -> float:
    import numpy as np

    grid = _grid(f0, n0)
    shared = grid.weight + g * grid.rate + (c - g) * grid.passing
    same = np.logaddexp.reduce(shared + f * grid.rate + (n - f) * grid.passing)
    lost = np.logaddexp.reduce((shared[:, None] + f * grid.worse + (n - f) * grid.rest).ravel())
    return float(lost - math.log(len(LOSSES)) - same)


class _Grid(NamedTuple):
    """Points of both priors: log weights, and logarithms of the chances of failing and of passing."""

    weight: "Array"
    rate: "Array"
    passing: "Array"
    worse: "Array"
    """The chances of a worse mutant, one column for each loss."""
    rest: "Array"


@lru_cache(maxsize=256)
def _grid(f0: int, n0: int) -> _Grid:
    import numpy as np
    from scipy.stats import beta

    phi = beta.ppf((np.arange(QUANTILES) + 0.5) / QUANTILES, f0 + 0.5, n0 - f0 + 0.5)
    everyday = np.exp(-0.5 * np.array(STEPS) ** 2)
    shifts = np.concatenate([SMALL * np.array(STEPS), LARGE_SHIFTS])
    large = np.full(len(LARGE_SHIFTS), LARGE / len(LARGE_SHIFTS))
    weights = np.concatenate([(1 - LARGE) * everyday / everyday.sum(), large])
    rate = np.clip(phi[:, None] + shifts, EDGE, 1 - EDGE).ravel()
    worse = np.clip(rate[:, None] + (1 - rate[:, None]) * np.array(LOSSES), EDGE, 1 - EDGE)
    weight = np.tile(np.log(weights / QUANTILES), QUANTILES)
    return _Grid(weight, np.log(rate), np.log1p(-rate), np.log(worse), np.log1p(-worse))
