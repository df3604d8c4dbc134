"""McNemar's test: two versions on the same cases, judged by the pairs in which they differ."""

import math

from agentmut.stats.checks import check_count
from agentmut.stats.tests.proportions import binomial_test, normal_p
from agentmut.stats.tests.significance import Alternative, Significance, check_alternative

LEAST_FOR_NORMAL = 25
"""Discordant pairs from which the normal approximation replaces the exact binomial."""


def mcnemar_test(b: int, c: int, alternative: Alternative) -> Significance:
    """Test `b` pairs in which only the first passed against `c` in which only the second did, by McNemar.

    Below 25 discordant pairs exact: b ~ Binomial(b + c, 1/2); one-sided p is its tail, two-sided p twice the
    smaller tail, at most 1; `statistic` is b. From 25 on with continuity correction: two-sided
    max(0, |b - c| - 1)^2 / (b + c) against chi-square with one degree of freedom, which is `statistic`;
    one-sided (b - c + 1) / sqrt(b + c) (LESS) or (b - c - 1) / sqrt(b + c) (GREATER) against the
    standard normal, which is `statistic`. GREATER: the first passes more often, b > c.

    `n` counts the discordant pairs, as no others enter. Degenerate: b + c = 0 gives p = 1, b = c a
    two-sided p of 1.

    Raises `ValueError` for a negative or fractional count or an unknown alternative.
    Source: Q. McNemar, Psychometrika 12 (1947) 153-157; A. L. Edwards, Psychometrika 13 (1948) 185-187.

    >>> print(mcnemar_test(10, 2, Alternative.TWO_SIDED))
    p = 0.0386 (two-sided, exact McNemar, n=12)
    >>> print(mcnemar_test(30, 14, Alternative.GREATER))
    p = 0.0119 (one-sided: greater, McNemar with continuity correction, n=44)
    """
    b, c, side = check_count("b", b), check_count("c", c), check_alternative(alternative)
    return _exact(b, c, side) if b + c < LEAST_FOR_NORMAL else _corrected(b, c, side)


def _exact(b: int, c: int, side: Alternative) -> Significance:
    p_value = binomial_test(b, b + c, 0.5, side).p_value if b + c else 1.0
    return Significance(p_value, side, "exact McNemar", b + c, float(b))


def _corrected(b: int, c: int, side: Alternative) -> Significance:
    difference, scale, method = b - c, math.sqrt(b + c), "McNemar with continuity correction"
    if side is Alternative.TWO_SIDED:
        z = max(0, abs(difference) - 1) / scale
        return Significance(normal_p(z, side), side, method, b + c, z * z)
    z = (difference + (1 if side is Alternative.LESS else -1)) / scale
    return Significance(normal_p(z, side), side, method, b + c, z)
