"""Intervals for a proportion. Each carries its estimate, level, size and method: none is printed bare."""

import math
from statistics import NormalDist
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_rate


class Interval(NamedTuple):
    """An interval for a proportion.

    `estimate` is None when there is nothing to estimate from (n = 0).

    >>> print(wilson(45, 50))
    0.900 [0.786, 0.957] (95% wilson, n=50)
    """

    estimate: float | None
    low: float
    high: float
    level: float
    n: int
    method: str

    def __str__(self) -> str:
        shown = "n/a" if self.estimate is None else f"{self.estimate:.3f}"
        return f"{shown} [{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g}% {self.method}, n={self.n})"


def wilson(k: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for `k` successes in `n` trials.

    Bounds: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) with p = k/n and z the
    (1+level)/2 normal quantile. Inside [0, 1]; low is exactly 0 for k = 0 and high exactly 1 for k = n.
    No trials: [0, 1] and no estimate. Coverage is close to `level` on average, not guaranteed at every
    rate. Source: E. B. Wilson, JASA 22 (1927) 209-212.

    Raises `ValueError` for a negative or fractional count, k > n, or a level outside (0, 1).
    """
    n = check_count("n", n)
    k = check_count("k", k, 0, n)
    level = check_rate("level", level)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, 0, "wilson")
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    p = k / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if k == 0 else centre - half
    return Interval(p, low, 1.0 if k == n else centre + half, level, n, "wilson")
