"""Every outcome of two samples at once: which of them a test rejects, and how likely that is.

An outcome is (k1, k2): successes in n1 and in n2 trials. Arrays are indexed [k1, k2]. All figures are sums over
the two binomials, not simulations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.binomial import binomials
from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.tests.proportions import LARGEST_BOSCHLOO, TwoSampleTest, check_test
from agentmut.stats.tests.significance import Alternative, check_alternative

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TIE = 1e-7
"""Chances closer than this share are equal: the difference is rounding."""
GRID = 513
"""Common rates at which a supremum is searched, equidistant in the arcsine of their root."""
LARGEST = LARGEST_BOSCHLOO
"""Most trials of one sample: the arrays grow with the square."""


class Supremum(NamedTuple):
    """The largest type I error over all common rates, and a rate where it is reached."""

    value: float
    rate: float


def rejected(
    test: TwoSampleTest, n1: int, n2: int, alpha: float, alternative: Alternative = Alternative.LESS
) -> Flags:
    """Return the outcomes with p <= alpha, as flags of shape (n1 + 1, n2 + 1).

    They are those of `fisher_test`, `boschloo_test` and `z_test`, without a call for each: Fisher's p-values are
    hypergeometric tails; Boschloo's test rejects up to the largest Fisher p at which the supremum of the type
    I error is at most alpha (two-sided: alpha/2 on either side).

    Raises `ValueError` for n1 or n2 outside [1, 500], alpha outside (0, 1) or an unknown test or alternative.
    """
    n1, n2 = check_count("n1", n1, 1, LARGEST), check_count("n2", n2, 1, LARGEST)
    alpha, side = check_rate("alpha", alpha), check_alternative(alternative)
    if check_test(test) != TwoSampleTest.BOSCHLOO:
        p_values = (fisher_p_values if test == TwoSampleTest.FISHER else z_p_values)(n1, n2, side)
        return np.asarray(p_values <= alpha * (1 + TIE))
    if side is Alternative.TWO_SIDED:
        halves = (rejected(test, n1, n2, alpha / 2, s) for s in (Alternative.LESS, Alternative.GREATER))
        return np.logical_or(*halves)
    return _boschloo_rejects(n1, n2, alpha, side)


def chance(flags: Flags, p1: float, p2: float) -> float:
    """Return the chance of the flagged outcomes if the samples pass at `p1` and `p2`.

    Raises `ValueError` for a rate outside [0, 1].
    """
    rates = check_rate("p1", p1, closed=True), check_rate("p2", p2, closed=True)
    first, second = (binomials(size - 1, np.array([p])) for size, p in zip(flags.shape, rates, strict=True))
    return float(_summed(flags, first, second)[0])


def supremum(flags: Flags) -> Supremum:
    """Return the largest chance of the flagged outcomes over all common rates; to about six digits.

    Searched on a grid of 513 rates, then on a finer one around the best.
    """
    n1, n2 = (size - 1 for size in flags.shape)
    low, high = 0.0, 1.0
    for _ in range(2):
        steps = np.linspace(low, high, GRID)
        chances = _summed(flags, *_grid(n1, n2, steps))
        at = int(chances.argmax())
        low, high = steps[max(at - 1, 0)], steps[min(at + 1, GRID - 1)]
    return Supremum(float(chances[at]), float(np.sin(np.pi / 2 * steps[at]) ** 2))


def fisher_p_values(n1: int, n2: int, alternative: Alternative) -> Floats:
    """Fisher's p-value of every outcome."""
    from scipy.stats import hypergeom

    k1, k2 = np.ogrid[: n1 + 1, : n2 + 1]
    side = check_alternative(alternative)
    if side is Alternative.LESS:
        return np.asarray(hypergeom.cdf(k1, n1 + n2, n1, k1 + k2))
    if side is Alternative.GREATER:
        return np.asarray(hypergeom.sf(k1 - 1, n1 + n2, n1, k1 + k2))
    chances = np.asarray(hypergeom.pmf(k1, n1 + n2, n1, k1 + k2))
    p_values = np.empty((n1 + 1, n2 + 1))
    for total in range(n1 + n2 + 1):
        first = np.arange(max(0, total - n2), min(n1, total) + 1)
        p_values[first, total - first] = at_most_as_likely(chances[first, total - first])
    return p_values


def at_most_as_likely(chances: Floats) -> Floats:
    """For every outcome of a distribution the sum of the chances that are no larger than its own."""
    ordered = np.sort(chances)
    ranks = np.searchsorted(ordered, chances * (1 + TIE), side="right")
    return np.asarray(np.cumsum(ordered)[ranks - 1])


def z_p_values(n1: int, n2: int, alternative: Alternative) -> Floats:
    """Return the p-value of every outcome by the Z test with pooled variance."""
    from scipy.special import ndtr

    k1, k2 = np.ogrid[: n1 + 1, : n2 + 1]
    total = k1 + k2
    mixed = (total > 0) & (total < n1 + n2)
    pooled = np.where(mixed, total / (n1 + n2), 0.5)
    z = (k1 / n1 - k2 / n2) / np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    tail = {
        Alternative.LESS: ndtr(z),
        Alternative.GREATER: ndtr(-z),
        Alternative.TWO_SIDED: 2 * ndtr(-np.abs(z)),
    }[alternative]
    return np.where(mixed, tail, 1.0)


def _boschloo_rejects(n1: int, n2: int, alpha: float, side: Alternative) -> Flags:
    """Bisects the ordered Fisher p-values for the last one at which the supremum is at most alpha."""
    p_values, binomials = fisher_p_values(n1, n2, side), _grid(n1, n2, np.linspace(0, 1, GRID))
    limits = np.unique(p_values) * (1 + TIE)

    def holds(i: int) -> bool:
        return bool(_summed(p_values <= limits[i], *binomials).max() <= alpha)

    # Fisher's own region holds; the last limit takes in every outcome
    low, high = int(np.searchsorted(limits, alpha)) - 1, len(limits) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    while low >= 0 and supremum(p_values <= limits[low]).value > alpha:
        low -= 1  # the maximum was between two points of the grid
    return np.asarray(p_values <= limits[low]) if low >= 0 else np.zeros_like(p_values, dtype=np.bool_)


def _grid(n1: int, n2: int, steps: Floats) -> tuple[Floats, Floats]:
    rates = np.sin(np.pi / 2 * steps) ** 2
    return binomials(n1, rates), binomials(n2, rates)


def _summed(flags: Flags, first: Floats, second: Floats) -> Floats:
    return np.asarray(((first @ flags.astype(np.float64)) * second).sum(axis=1))
