"""The power of a test, by summing over every outcome, and the number of trials that a formula plans for it.

Power as a function of n has saw-teeth, since a test can reject at whole numbers only: one more trial may lower it.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from agentmut.stats.binomial import binomials
from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.tests.power import whole
from agentmut.stats.tests.proportions import TwoSampleTest
from agentmut.stats.tests.significance import Alternative, check_alternative
from benchmarks.calibration.two_samples import TIE, Flags, at_most_as_likely, chance, rejected, supremum


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
    """Return the chance that `binomial_test` of `n` trials against `p0` has p <= alpha if the rate is `p1`.

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
    """Return the chance that `test` has p <= alpha if n1 trials pass at `p1` and n2 at `p2`.

    LESS is the alternative p1 < p2. Boschloo's test takes some 0.1 s at 100 trials in each sample, the
    others a few milliseconds.

    Raises `ValueError` for n1 or n2 outside [1, 500], a rate outside [0, 1], alpha outside (0, 1) or an
    unknown test or alternative.

    >>> print(two_sample_power(TwoSampleTest.FISHER, 100, 100, 0.8, 0.9))
    n1=100, n2=100: power 0.5673, type I error at most 0.0384 (common rate 0.500)
    """
    flags = rejected(test, n1, n2, alpha, alternative)
    return TwoSamplePower(n1, n2, chance(flags, p1, p2), *supremum(flags))


def _binomial_rejects(n: int, p0: float, alpha: float, side: Alternative) -> Flags:
    """Return the numbers of successes with p <= alpha by the exact binomial test, as flags."""
    from scipy.stats import binom

    k = np.arange(n + 1)
    if side is Alternative.LESS:
        p_values = binom.cdf(k, n, p0)
    elif side is Alternative.GREATER:
        p_values = binom.sf(k - 1, n, p0)
    else:
        p_values = at_most_as_likely(np.asarray(binom.pmf(k, n, p0)))
    return np.asarray(p_values <= alpha * (1 + TIE))


def trials_two_sided(p: float, delta: float, *, alpha: float = 0.05, beta: float = 0.10) -> int:
    """Return the number of trials per arm for a two-sided test of two samples that both have the variance p(1-p): Eq.
    1.

    n = ceil((z(1-alpha/2) + z(1-beta))^2 * 2 p (1-p) / delta^2): a difference by `delta`, as a fraction, is then
    found with chance about 1 - beta by a Z test at level alpha. It takes two samples; a test of one sample against
    a stated rate needs half as many. Example 3.2 (p = 0.9, delta = 0.1) is 190 per arm.

    Raises `ValueError` for p, delta, alpha or beta outside (0, 1), and for alpha/2 + beta >= 1.
    Source: AgentAssay, Eq. 1.

    >>> trials_two_sided(0.9, 0.1)
    190
    """
    p, delta = check_rate("p", p), check_rate("delta", delta)
    return whole(normal_quantiles(alpha, beta, sides=2) ** 2 * 2 * p * (1 - p) / delta**2)


def trials_one_sided(p_baseline: float, p_current: float, *, alpha: float = 0.05, beta: float = 0.10) -> int:
    """Return the number of trials per arm for a one-sided test that one sample passes less often than the other: Eq. 6.

    n = ceil((z(1-alpha) + z(1-beta))^2 (pb (1-pb) + pc (1-pc)) / (pb - pc)^2), at least 1. It is the same with
    the rates swapped. It belongs to a Z test with unpooled variance; what Fisher's, Boschloo's and the pooled Z test
    reach with this n is given by `two_sample_power`.

    Raises `ValueError` for a rate outside [0, 1], equal rates, alpha or beta outside (0, 1) or alpha + beta >= 1.
    Source: AgentAssay, Eq. 6.

    >>> trials_one_sided(0.9, 0.8)
    215
    """
    pb = check_rate("p_baseline", p_baseline, closed=True)
    pc = check_rate("p_current", p_current, closed=True)
    if pb == pc:
        raise ValueError(f"p_current must differ from p_baseline, got {p_current!r} for both")
    variance = pb * (1 - pb) + pc * (1 - pc)
    return whole(normal_quantiles(alpha, beta, sides=1) ** 2 * variance / (pb - pc) ** 2)


def normal_quantiles(alpha: float, beta: float, *, sides: int) -> float:
    """z(1 - alpha/sides) + z(1 - beta), which must be positive: below it power would be had without trials."""
    tail, beta = check_rate("alpha", alpha) / sides, check_rate("beta", beta)
    if tail + beta >= 1:
        share = "alpha" if sides == 1 else f"alpha/{sides}"
        raise ValueError(f"{share} + beta must be below 1, got alpha={alpha!r} and beta={beta!r}")
    return -NormalDist().inv_cdf(tail) - NormalDist().inv_cdf(beta)
