"""Power by summing over every outcome: what a test does, next to what a formula plans.

Power as a function of n has saw-teeth, since a test can reject at whole numbers only: one more trial may lower it.
`least_n_for_power` says which n it means.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from agentmut.stats.binomial import binomials
from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.tests.proportions import TwoSampleTest
from agentmut.stats.tests.significance import Alternative, check_alternative
from agentmut.stats.tests.two_samples import TIE, Flags, at_most_as_likely, chance, rejected, supremum

LARGEST_SEARCHED = 500
"""Where `least_n_for_power` stops unless told otherwise."""


class OneSamplePower(NamedTuple):
    """A row of a table of power over n; both chances are exact.

    >>> print(OneSamplePower(50, 0.8, 0.03))
    n=50: power 0.8000, type I error 0.0300
    """

    n: int
    power: float
    type_1: float
    """Chance of rejecting if the rate is p0."""

    def __str__(self) -> str:
        return f"n={self.n}: power {self.power:.4f}, type I error {self.type_1:.4f}"


class TwoSamplePower(NamedTuple):
    """A row of a table of power over the sizes of two samples; power is exact, `type_1` to about six digits.

    >>> print(TwoSamplePower(30, 100, 0.8, 0.05, 0.3))
    n1=30, n2=100: power 0.8000, type I error at most 0.0500 (common rate 0.300)
    """

    n1: int
    n2: int
    power: float
    type_1: float
    """Largest chance of rejecting if both rates are the same."""
    type_1_at: float
    """A common rate at which that is reached."""

    def __str__(self) -> str:
        worst = f"type I error at most {self.type_1:.4f} (common rate {self.type_1_at:.3f})"
        return f"n1={self.n1}, n2={self.n2}: power {self.power:.4f}, {worst}"


def binomial_power(
    n: int, p0: float, p1: float, *, alpha: float = 0.05, alternative: Alternative = Alternative.LESS
) -> OneSamplePower:
    """The chance that `binomial_test` of `n` trials against `p0` has p <= alpha if the rate is `p1`.

    Raises `ValueError` for n < 1, a rate outside [0, 1], alpha outside (0, 1) or an unknown alternative.

    >>> print(binomial_power(50, 0.9, 0.75))
    n=50: power 0.8363, type I error 0.0245
    """
    n, side = check_count("n", n, 1), check_alternative(alternative)
    flags = _binomial_rejects(n, check_rate("p0", p0, closed=True), check_rate("alpha", alpha), side)
    rates = np.array([check_rate("p1", p1, closed=True), p0])
    power, type_1 = binomials(n, rates)[:, flags].sum(axis=1)
    return OneSamplePower(n, float(power), float(type_1))


def two_sample_power(
    test: TwoSampleTest,
    n1: int,
    n2: int,
    p1: float,
    p2: float,
    *,
    alpha: float = 0.05,
    alternative: Alternative = Alternative.LESS,
) -> TwoSamplePower:
    """The chance that `test` has p <= alpha if n1 trials pass at `p1` and n2 at `p2`.

    LESS is the alternative p1 < p2. Boschloo's test takes some 0.1 s at 100 trials in each sample, the
    others a few milliseconds.

    Raises `ValueError` for n1 or n2 outside [1, 500], a rate outside [0, 1], alpha outside (0, 1) or an
    unknown test or alternative.

    >>> print(two_sample_power(TwoSampleTest.FISHER, 100, 100, 0.8, 0.9))
    n1=100, n2=100: power 0.5673, type I error at most 0.0384 (common rate 0.500)
    """
    flags = rejected(test, n1, n2, alpha, alternative)
    return TwoSamplePower(n1, n2, chance(flags, p1, p2), *supremum(flags))


def binomial_power_table(
    sizes: Iterable[int],
    p0: float,
    p1: float,
    *,
    alpha: float = 0.05,
    alternative: Alternative = Alternative.LESS,
) -> list[OneSamplePower]:
    """`binomial_power` at every size."""
    return [binomial_power(n, p0, p1, alpha=alpha, alternative=alternative) for n in sizes]


def two_sample_power_table(
    test: TwoSampleTest,
    sizes: Iterable[tuple[int, int]],
    p1: float,
    p2: float,
    *,
    alpha: float = 0.05,
    alternative: Alternative = Alternative.LESS,
) -> list[TwoSamplePower]:
    """`two_sample_power` at every pair of sizes (n1, n2)."""
    return [two_sample_power(test, n1, n2, p1, p2, alpha=alpha, alternative=alternative) for n1, n2 in sizes]


def least_n_for_power(
    power_at: Callable[[int], float], power: float, *, n_max: int = LARGEST_SEARCHED, lasting: bool = True
) -> int | None:
    """The least n in [1, n_max] that has the wanted `power`; None if there is none.

    `power_at` gives the power at n. `lasting`: the least n from which it stays at or above `power` up to n_max, so
    that running some trials more does not lose it; otherwise the least n that has it at all, which may lie on a
    tooth of the saw. Looks at n one by one, from n_max down if `lasting`, else from 1 up: keep n_max close where
    `power_at` is slow.

    Raises `ValueError` for power outside (0, 1) or n_max < 1.

    >>> least_n_for_power(lambda n: binomial_power(n, 0.9, 0.75).power, 0.9)
    59
    """
    power, n_max = check_rate("power", power), check_count("n_max", n_max, 1)
    if not lasting:
        return next((n for n in range(1, n_max + 1) if power_at(n) >= power), None)
    short = next((n for n in range(n_max, 0, -1) if power_at(n) < power), 0)
    return short + 1 if short < n_max else None


def _binomial_rejects(n: int, p0: float, alpha: float, side: Alternative) -> Flags:
    """The numbers of successes with p <= alpha by the exact binomial test, as flags."""
    from scipy.stats import binom

    k = np.arange(n + 1)
    if side is Alternative.LESS:
        p_values = binom.cdf(k, n, p0)
    elif side is Alternative.GREATER:
        p_values = binom.sf(k - 1, n, p0)
    else:
        p_values = at_most_as_likely(np.asarray(binom.pmf(k, n, p0)))
    return np.asarray(p_values <= alpha * (1 + TIE))
