"""How far two pass rates are apart: the difference, Cohen's h and the odds ratio. These are sizes, not tests.

The first rate is the candidate's and the second the baseline's, so that a gain is positive.
"""

import math
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple

from agentmut.stats.checks import check_count, check_level, check_rate
from agentmut.stats.intervals.differences import newcombe
from agentmut.stats.intervals.proportion import Interval


class EffectSize(StrEnum):
    """Cohen's words for |h|: small from 0.2, medium from 0.5, large from 0.8.

    Below 0.2 he gave none; "negligible" is customary. The AgentAssay paper, which cites him, gives each range the
    next larger word (small below 0.2, large from 0.5). Cohen's are used here, so that a word means what it means
    elsewhere and no difference is called larger than its source would.
    """

    NEGLIGIBLE = "negligible"
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class CohensH(NamedTuple):
    """The distance of two rates on the arcsine scale, where differences are about equally easy to detect.

    >>> print(cohens_h(0.9, 0.8))
    h = 0.284 (small)
    """

    value: float
    size: EffectSize

    def __str__(self) -> str:
        return f"h = {self.value:.3f} ({self.size})"


class Effects(NamedTuple):
    """Three measures of one comparison.

    >>> print(effects(45, 50, 40, 50))
    difference 0.100 [-0.043, 0.242] (95% newcombe, n=100)
    h = 0.284 (small)
    odds ratio 2.25 [0.71, 7.14] (95% woolf, n=100)
    """

    difference: Interval
    h: CohensH | None
    """None where a sample is empty."""
    odds_ratio: Interval

    def __str__(self) -> str:
        h = "h = n/a" if self.h is None else str(self.h)
        return f"difference {self.difference}\n{h}\nodds ratio {self.odds_ratio}"


def effects(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Effects:
    """Return difference (Newcombe), Cohen's h and odds ratio (Woolf) of k1/n1 and k2/n2. Errors as for
    `newcombe`.
    """
    difference = newcombe(k1, n1, k2, n2, level)
    h = None if difference.estimate is None else cohens_h(k1 / n1, k2 / n2)
    return Effects(difference, h, odds_ratio(k1, n1, k2, n2, level))


def cohens_h(p1: float, p2: float) -> CohensH:
    """Return h = 2 arcsin sqrt(p1) - 2 arcsin sqrt(p2), from -pi to pi; positive if the first rate is the higher one.

    Takes rates, true or observed. Source: J. Cohen, Statistical Power Analysis for the Behavioral Sciences,
    2nd ed. (1988), chapter 6. `ValueError` for rates outside [0, 1].
    """
    p1, p2 = check_rate("p1", p1, closed=True), check_rate("p2", p2, closed=True)
    h = 2 * math.asin(math.sqrt(p1)) - 2 * math.asin(math.sqrt(p2))
    return CohensH(h, _size(abs(h)))


def odds_ratio(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Interval:
    """Return the odds of the first rate over those of the second, with Woolf's interval.

    OR = a d / (b c) for successes a, c and failures b, d of the two samples; the bounds are
    OR exp(-+ z sqrt(1/a + 1/b + 1/c + 1/d)). If a cell is empty, 1/2 is added to all four (Haldane, Anscombe);
    `method` says so. Then estimate and interval are finite, but mostly made by that 1/2: with k1 = k2 = 0 the
    ratio is about n2/n1, whatever the rates are. A sample without trials: [0, inf] and no estimate.
    Source: B. Woolf, Annals of Human Genetics 19 (1955) 251-253. Errors as for `newcombe`.

    >>> print(odds_ratio(45, 50, 40, 50))
    2.25 [0.71, 7.14] (95% woolf, n=100)
    >>> print(odds_ratio(50, 50, 40, 50))
    26.2 [1.5, 460.4] (95% woolf with 0.5 added to every cell, n=100)
    """
    n1, n2 = check_count("n1", n1), check_count("n2", n2)
    k1, k2 = check_count("k1", k1, 0, n1), check_count("k2", k2, 0, n2)
    level = check_level(level)
    if n1 == 0 or n2 == 0:
        return Interval(None, 0.0, math.inf, level, n1 + n2, "woolf")
    cells = [k1, n1 - k1, k2, n2 - k2]
    method, added = ("woolf", 0.0) if all(cells) else ("woolf with 0.5 added to every cell", 0.5)
    a, b, c, d = (cell + added for cell in cells)
    ratio = (a / b) / (c / d)
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return Interval(ratio, ratio * math.exp(-half), ratio * math.exp(half), level, n1 + n2, method)


def _size(h: float) -> EffectSize:
    if h < 0.2:
        return EffectSize.NEGLIGIBLE
    if h < 0.5:
        return EffectSize.SMALL
    return EffectSize.MEDIUM if h < 0.8 else EffectSize.LARGE
