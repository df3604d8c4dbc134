"""The difference of two proportions."""

import math

from agentmut.stats.checks import check_count
from agentmut.stats.intervals.proportion import Interval, wilson

METHOD = "newcombe"


def newcombe(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Interval:
    """Return Newcombe's hybrid score interval for p1 - p2, two independent samples (his method 10).

    With d = k1/n1 - k2/n2 and the Wilson bounds (l, u) of each rate at the same level:
    low = d - sqrt((p1 - l1)^2 + (u2 - p2)^2), high = d + sqrt((u1 - p1)^2 + (p2 - l2)^2). Inside [-1, 1].
    A sample without trials: [-1, 1] and no estimate. Coverage is close to `level` on average, not guaranteed.
    Exchanging the samples negates the interval. `n` of the result is n1 + n2.
    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890.

    Raises `ValueError` for a negative or fractional count, k > n, or a level outside (0, 1).

    >>> print(newcombe(56, 70, 48, 80))
    0.200 [0.052, 0.334] (95% newcombe, n=150)
    """
    first, second = _rate("1", k1, n1, level), _rate("2", k2, n2, level)
    n = first.n + second.n
    if first.estimate is None or second.estimate is None:
        return Interval(None, -1.0, 1.0, level, n, METHOD)
    below = math.hypot(first.estimate - first.low, second.high - second.estimate)
    above = math.hypot(first.high - first.estimate, second.estimate - second.low)
    d = first.estimate - second.estimate
    return Interval(d, max(-1.0, d - below), min(1.0, d + above), level, n, METHOD)


def _rate(which: str, k: int, n: int, level: float) -> Interval:
    """Return Wilson's interval, with errors that name this module's arguments."""
    n = check_count(f"n{which}", n)
    return wilson(check_count(f"k{which}", k, 0, n), n, level)
