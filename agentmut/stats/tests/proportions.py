"""Tests for pass rates: one sample against a stated rate, and two samples against each other.

In the tests for two samples the alternative compares the first sample with the second: LESS says that the first
passes less often. They are written for independent trials; for trials paired by case or seed see
`agentmut.stats.tests.paired`. Of the three, Fisher and Boschloo hold their level at every common rate; one-sided,
Boschloo rejects wherever Fisher does and more often besides. The Z test may exceed its level: by how much is
measured in `benchmarks.calibration.tests`.
"""

import math
from enum import StrEnum

from agentmut.stats.checks import check_choice, check_count, check_rate
from agentmut.stats.tests.significance import Alternative, Significance, check_alternative

LARGEST_BOSCHLOO = 500
"""Most trials of one sample."""


class TwoSampleTest(StrEnum):
    """The tests for two samples, by name."""

    FISHER = "fisher"
    """Holds its level given the total of successes, hence always; conservative."""
    BOSCHLOO = "boschloo"
    """Holds its level at every common rate, and comes close to it. Some 0.1 s at 100 trials."""
    Z = "z"
    """Pooled variance, normal approximation; may exceed its level, most with small or unequal samples."""


def binomial_test(k: int, n: int, p0: float, alternative: Alternative) -> Significance:
    """Test exactly that the rate behind `k` successes in `n` trials is `p0`.

    One-sided p: P(K <= k) or P(K >= k) for K ~ Binomial(n, p0); two-sided: the sum of all outcomes that are no
    more likely than k (scipy.stats.binomtest). `statistic` is k. LESS: the rate is below p0.
    Degenerate: p0 = 0 and p0 = 1 are allowed; a single contrary trial then gives p = 0.

    Raises `ValueError` for n < 1, k outside [0, n], p0 outside [0, 1] or an unknown alternative.

    >>> print(binomial_test(40, 50, 0.9, Alternative.LESS))
    p = 0.0245 (one-sided: less, exact binomial, n=50)
    """
    from scipy.stats import binomtest

    n = check_count("n", n, 1)
    k = check_count("k", k, 0, n)
    p0, side = check_rate("p0", p0, closed=True), check_alternative(alternative)
    return Significance(float(binomtest(k, n, p0, side.value).pvalue), side, "exact binomial", n, float(k))


def fisher_test(k1: int, n1: int, k2: int, n2: int, alternative: Alternative) -> Significance:
    """Test by Fisher's exact test that `k1` of `n1` and `k2` of `n2` successes come from one rate.

    Given k1 + k2 successes in all, k1 is hypergeometric. One-sided p: its lower or upper tail; two-sided: the
    sum of all outcomes that are no more likely than k1 (scipy.stats.fisher_exact). `statistic` is k1.
    Degenerate: no success, or no failure, in both samples gives p = 1.

    Raises `ValueError` for an empty sample, counts outside [0, n] or an unknown alternative.

    >>> print(fisher_test(5, 10, 10, 10, Alternative.TWO_SIDED))
    p = 0.0325 (two-sided, Fisher, n=20)
    """
    import numpy as np
    from scipy.stats import fisher_exact

    k1, n1, k2, n2 = check_samples(k1, n1, k2, n2)
    side = check_alternative(alternative)
    found = fisher_exact(np.array([[k1, n1 - k1], [k2, n2 - k2]]), alternative=side.value)
    return Significance(float(found.pvalue), side, "Fisher", n1 + n2, float(k1))


def boschloo_test(k1: int, n1: int, k2: int, n2: int, alternative: Alternative) -> Significance:
    """Test by Boschloo's exact test that `k1` of `n1` and `k2` of `n2` successes come from one rate.

    One-sided p: the largest chance, over all common rates, of outcomes whose one-sided Fisher p is at most the
    observed one; two-sided: twice the smaller of the two, at most 1 (scipy.stats.boschloo_exact). `statistic` is the
    Fisher p, the smaller of both if two-sided. Other programs define the two-sided test otherwise, by the
    two-sided Fisher p. Degenerate: no success, or no failure, in both samples gives p = 1. The largest chance is
    found numerically, to about five digits; some 0.1 s at 200 trials in each sample.

    Raises `ValueError` for an empty sample or one of more than `LARGEST_BOSCHLOO` trials (time and memory grow with
    the product; Fisher's test loses little by then), counts outside [0, n] or an unknown alternative.

    >>> print(boschloo_test(5, 10, 10, 10, Alternative.TWO_SIDED))
    p = 0.0128 (two-sided, Boschloo, n=20)
    """
    from scipy.stats import boschloo_exact

    k1, n1, k2, n2 = check_samples(k1, n1, k2, n2)
    check_count("n1", n1, 1, LARGEST_BOSCHLOO)
    check_count("n2", n2, 1, LARGEST_BOSCHLOO)
    side = check_alternative(alternative)
    exact = boschloo_exact([[k1, k2], [n1 - k1, n2 - k2]], alternative=side.value)
    p_value = min(float(exact.pvalue), 1.0)
    return Significance(p_value, side, "Boschloo", n1 + n2, float(exact.statistic))


def z_test(k1: int, n1: int, k2: int, n2: int, alternative: Alternative) -> Significance:
    """Test by Z with the pooled variance that `k1` of `n1` and `k2` of `n2` successes come from one rate.

    z = (k1/n1 - k2/n2) / sqrt(p (1-p) (1/n1 + 1/n2)), p = (k1 + k2)/(n1 + n2), compared with the standard
    normal; no continuity correction. `statistic` is z. Degenerate: no success, or no failure, in both samples
    gives z = 0 and p = 1. An approximation: its type I error may exceed the level, most with unequal samples.

    Raises `ValueError` for an empty sample, counts outside [0, n] or an unknown alternative.

    >>> print(z_test(40, 50, 45, 50, Alternative.LESS))
    p = 0.0807 (one-sided: less, Z, pooled, n=100)
    """
    k1, n1, k2, n2 = check_samples(k1, n1, k2, n2)
    side, pooled = check_alternative(alternative), (k1 + k2) / (n1 + n2)
    if pooled in (0, 1):
        return Significance(1.0, side, "Z, pooled", n1 + n2, 0.0)
    z = (k1 / n1 - k2 / n2) / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return Significance(normal_p(z, side), side, "Z, pooled", n1 + n2, z)


def two_sample_test(
    test: TwoSampleTest, k1: int, n1: int, k2: int, n2: int, alternative: Alternative
) -> Significance:
    """Run the test of that name. Raise `ValueError` as the tests do, and for an unknown name."""
    by_name = {
        TwoSampleTest.FISHER: fisher_test,
        TwoSampleTest.BOSCHLOO: boschloo_test,
        TwoSampleTest.Z: z_test,
    }
    return by_name[check_test(test)](k1, n1, k2, n2, alternative)


def check_test(test: str) -> TwoSampleTest:
    """Return `test` as a member of `TwoSampleTest`; else `ValueError` with the members."""
    return check_choice("test", test, TwoSampleTest)


def check_samples(k1: int, n1: int, k2: int, n2: int) -> tuple[int, int, int, int]:
    """Return the counts of two samples that are not empty; `ValueError` naming the one out of range."""
    n1, n2 = check_count("n1", n1, 1), check_count("n2", n2, 1)
    return check_count("k1", k1, 0, n1), n1, check_count("k2", k2, 0, n2), n2


def normal_p(z: float, alternative: Alternative) -> float:
    """Return the p-value of a statistic that is standard normal under the null hypothesis.

    >>> round(normal_p(-1.959964, Alternative.TWO_SIDED), 6)
    0.05
    """
    side = check_alternative(alternative)
    # erfc keeps its digits far out, where 1 + erf(z) of NormalDist.cdf is 0
    if side is Alternative.TWO_SIDED:
        return math.erfc(abs(z) / math.sqrt(2))
    return math.erfc((-z if side is Alternative.LESS else z) / math.sqrt(2)) / 2
