"""Several tests at once: p-values adjusted for the family of tests that they belong to."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from agentmut.stats.checks import check_choice, check_rate

ROUNDING = 1e-13
"""Relative slack of a rejection in a family of two or more: a p-value of alpha/m times m may exceed alpha in the
last digit. With one test nothing is multiplied, so that it decides just as the test by itself."""


class Correction(StrEnum):
    """What a correction keeps at alpha or below, and for which p-values."""

    HOLM = "holm"
    """The chance of any false rejection, however the tests depend; never weaker than Bonferroni."""
    BONFERRONI = "bonferroni"
    """The same chance, with one level for every test: plan sequential tests with it."""
    BENJAMINI_HOCHBERG = "benjamini-hochberg"
    """The expected share of false rejections among the rejections, for independent or positively
    dependent tests. Single rejections may be false more often than alpha."""
    BENJAMINI_YEKUTIELI = "benjamini-yekutieli"
    """The same expected share, however the tests depend."""


class AdjustedTests(NamedTuple):
    """Adjusted p-values in the order of the input, and what they reject.

    >>> print(adjust([0.004, 0.03, 0.5], family="scenarios of the suite"))
    Holm over the 3 scenarios of the suite: 1 significant at 0.05
    """

    p_values: tuple[float, ...]
    """The least level of the whole family at which each test rejects, in [0, 1]."""
    rejected: tuple[bool, ...]
    """Whether each adjusted p-value is at most alpha."""
    correction: Correction
    alpha: float
    family: str
    """What the tests are, in the plural."""
    m: int
    """Size of the family."""

    def __str__(self) -> str:
        count = sum(self.rejected)
        return f"{self.correction.title()} over the {self.m} {self.family}: {count} significant at {self.alpha:g}"


def adjust(
    p_values: Sequence[float],
    alpha: float = 0.05,
    correction: Correction = Correction.HOLM,
    family: str = "tests",
) -> AdjustedTests:
    """Adjust the p-values of one family of tests; reject where the adjusted p-value is at most `alpha`.

    With p(1) <= ... <= p(m): Bonferroni min(1, m p); Holm the running maximum of min(1, (m-j+1) p(j));
    Benjamini-Hochberg the running minimum from the largest down of m p(j)/j; Benjamini-Yekutieli the same
    times 1 + 1/2 + ... + 1/m, capped at 1. The order of the input does not matter. An empty family has
    nothing to reject. Sources: S. Holm, Scand. J. Stat. 6 (1979) 65-70; Y. Benjamini and Y. Hochberg,
    J. R. Stat. Soc. B 57 (1995) 289-300; Y. Benjamini and D. Yekutieli, Ann. Stat. 29 (2001) 1165-1188.

    Raises `ValueError` for a p-value outside [0, 1] or NaN, a level outside (0, 1), an unknown correction.
    """
    checked = [check_rate("a p-value", p, closed=True) for p in p_values]
    alpha, correction = check_rate("alpha", alpha), check_choice("correction", correction, Correction)
    adjusted = _adjusted(checked, correction) if checked else ()
    limit = alpha * (1 + ROUNDING) if len(checked) > 1 else alpha
    rejected = tuple(p <= limit for p in adjusted)
    return AdjustedTests(adjusted, rejected, correction, alpha, family, len(checked))


def _adjusted(p_values: list[float], correction: Correction) -> tuple[float, ...]:
    m = len(p_values)
    if correction is Correction.BONFERRONI:
        return tuple(min(1.0, m * p) for p in p_values)
    if correction is Correction.HOLM:
        return _holm(p_values)
    from scipy.stats import false_discovery_control

    any_dependence = correction is Correction.BENJAMINI_YEKUTIELI
    found = false_discovery_control(p_values, method="by" if any_dependence else "bh")
    return tuple(found.tolist())


def _holm(p_values: list[float]) -> tuple[float, ...]:
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    steps = (min(1.0, (len(order) - j) * p_values[i]) for j, i in enumerate(order))
    by_test = dict(zip(order, accumulate(steps, max), strict=True))
    return tuple(by_test[i] for i in range(len(p_values)))
