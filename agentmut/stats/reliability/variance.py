"""What a variance estimated from a few runs is worth, and the budget of Eq. 39 that rests on one."""

import math
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_level, check_rate
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.tests.power import normal_quantiles, whole


class AdaptiveBudget(NamedTuple):
    """Eq. 39, for reference.

    >>> print(adaptive_budget(0.05, 0.5, 5))
    n = 5 (4.71 before rounding; Eq. 39, for reference: no power is guaranteed)
    """

    n: int
    value: float
    """Before rounding up."""

    def __str__(self) -> str:
        return (
            f"n = {self.n} ({self.value:.3g} before rounding; Eq. 39, for reference: no power is guaranteed)"
        )


def variance_interval(variance: float, k: int, level: float = 0.95) -> Interval:
    """The interval for the variance behind `variance`, estimated from `k` normal values with divisor k - 1.

    [(k-1) variance / q(1/2 + level/2), (k-1) variance / q(1/2 - level/2)], q the quantiles of chi-square with k - 1
    degrees of freedom. With variance = 1 the bounds are factors of the estimate; for k = 10 they are
    [0.473, 3.333], not [0.51, 2.30] as in Eq. 41. It holds for normal data only: heavy tails make it too
    narrow, whatever k.

    Raises `ValueError` for a variance that is not positive and finite (equal values say nothing of the spread),
    k < 2 or a level outside (0, 1).
    """
    from scipy.stats import chi2

    variance, k = check_rate("variance", variance, 0, math.inf), check_count("k", k, 2)
    level = check_level(level)
    low, high = ((k - 1) * variance / float(chi2.ppf((1 + sign * level) / 2, k - 1)) for sign in (1, -1))
    return Interval(variance, low, high, level, k, "chi-square")


def chance_within(share: float, k: int) -> float:
    """The chance that a variance estimated from `k` normal values is off by at most `share` of the true one.

    P(abs(X/(k-1) - 1) <= share), X chi-square with k - 1 degrees of freedom.

    Raises `ValueError` for share outside (0, 1) or k < 2.

    >>> round(chance_within(0.3, 10), 2)
    0.48
    """
    from scipy.stats import chi2

    share, freedom = check_rate("share", share), check_count("k", k, 2) - 1
    return float(chi2.cdf((1 + share) * freedom, freedom) - chi2.cdf((1 - share) * freedom, freedom))


def runs_for_variance(share: float = 0.3, level: float = 0.95) -> int:
    """The least k for which `chance_within` of `share` is at least `level`.

    About 1 + 2 (z/share)^2 with z the (1+level)/2 normal quantile.

    Raises `ValueError` for share outside (0, 1) or level outside (0, 1).

    >>> runs_for_variance(0.3)
    86
    """
    share, level = check_rate("share", share), check_level(level)
    low, high = 1, 2
    while chance_within(share, high) < level:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if chance_within(share, middle) < level else (low, middle)
    return high


def adaptive_budget(
    variance: float, distance: float, dimension: float, *, alpha: float = 0.05, beta: float = 0.10
) -> AdaptiveBudget:
    """The trials that Eq. 39 names; given for reference, not to plan by.

    (z(1-alpha) + z(1-beta))^2 variance / distance^2 + (dimension + 1) / 2, rounded up. `distance` is the Mahalanobis
    distance to be found, `dimension` the effective dimension. A Mahalanobis distance is already measured
    in units of the spread, yet the variance enters again; and an error of the variance, which is large for few
    runs (`variance_interval`), becomes an error of n of the same size. The result may exceed the budget of a
    fixed sample: 175 at variance 5, distance 0.5, dimension 5. Plan with a table of exact power instead.

    Raises `ValueError` for a variance, distance or dimension that is not positive and finite, alpha or beta
    outside (0, 1), or alpha + beta >= 1. Source: AgentAssay, Eqs. 39 and 40.
    """
    variance = check_rate("variance", variance, 0, math.inf)
    distance = check_rate("distance", distance, 0, math.inf)
    dimension = check_rate("dimension", dimension, 0, math.inf)
    found = normal_quantiles(alpha, beta, sides=1) ** 2 * variance / distance**2 + (dimension + 1) / 2
    return AdaptiveBudget(whole(found), found)
