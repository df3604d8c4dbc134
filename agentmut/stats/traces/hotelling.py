"""Hotelling's T2 on principal components: the AgentAssay paper's fingerprint test, under its name.

`compare_traces` is the test to decide with: it needs no normal distribution and sees more than means.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agentmut.stats.checks import check_rate
from agentmut.stats.tests.significance import Alternative, Significance
from agentmut.stats.traces.samples import Array, check_sample, pool, standardised

VARIANCE = 0.95
"""Share of the variance that the effective dimension explains (Eq. 28 of the AgentAssay paper)."""


class HotellingTest(NamedTuple):
    """The T2 test, or why there is none.

    >>> print(HotellingTest(None, 3, "3 + 2 - 2 = 3 must exceed the effective dimension 3"))
    T2 undefined: 3 + 2 - 2 = 3 must exceed the effective dimension 3
    """

    test: Significance | None
    """Its statistic is T2, on the scale of Eq. 29. None where T2 is undefined."""
    dimension: int
    """Effective dimension; 0 where no feature varies."""
    reason: str
    """Why T2 is undefined; empty where it is defined."""

    def __str__(self) -> str:
        if self.test is None:
            return f"T2 undefined: {self.reason}"
        return f"T2 = {self.test.statistic:.3g}, effective dimension {self.dimension}; {self.test}"


def effective_dimension(sample: ArrayLike, share: float = VARIANCE) -> int:
    """Return the least number of principal components with at least `share` of the variance (Eq. 28).

    Of the covariance of the features as they are: standardise them first if their units differ. 0 if no
    feature varies. Raises `ValueError` for an empty sample, NaN, infinity, or a share outside (0, 1).
    """
    values = check_sample("sample", sample)
    share = check_rate("share", share)
    variances = np.cumsum(np.linalg.svd(values - values.mean(axis=0), compute_uv=False) ** 2)
    if not len(variances) or variances[-1] == 0:
        return 0
    # rounding must not ask for one component more than a share that is reached exactly
    return int(np.searchsorted(variances, (share - 1e-12) * variances[-1])) + 1


def hotelling_t2(baseline: ArrayLike, candidate: ArrayLike, share: float = VARIANCE) -> HotellingTest:
    """Return Hotelling's two-sample T2 of the standardised features, projected on their principal components.

    T2 = n0 n/(n0+n) D' S^-1 D, D the difference of means, S the covariance pooled within the samples;
    T2 (n0+n-d-1)/((n0+n-2) d) is F with d and n0+n-d-1 degrees of freedom for equal normal distributions,
    and large values reject (Eq. 29 prints the quantile with alpha where 1 - alpha is meant). d is the effective
    dimension at `share` of the variance. Constant features are dropped; features are standardised and the
    components taken from both samples as one, grand mean removed: for normal data such a choice is
    independent of the labels, so F stays exact although d is estimated. With components from within the
    samples it would not.

    Undefined, with the reason in the result, where n0 + n - 2 <= d, no feature varies, or the features do
    not vary within the samples along some component.
    Raises `ValueError` for an empty sample, NaN, infinity, different columns, or a share outside (0, 1).
    """
    share = check_rate("share", share)
    pooled = pool(baseline, candidate)
    n0, n = pooled.n0, pooled.n
    if pooled.values.shape[1] == 0:
        return HotellingTest(None, 0, "no feature varies")
    features = standardised(pooled.values)
    d = effective_dimension(features, share)
    if n0 + n - 2 <= d:
        reason = f"{n0} + {n} - 2 = {n0 + n - 2} must exceed the effective dimension {d}"
        return HotellingTest(None, d, reason)
    left, _, _ = np.linalg.svd(features, full_matrices=False)
    # T2 does not change when components are rescaled: use the left singular vectors, orthonormal and of mean 0
    explained = _explained(left[:, :d], n0, n)
    if explained > 1 - 1e-12:
        return HotellingTest(None, d, "the samples do not vary within themselves along some component")
    t2 = (n0 + n - 2) * explained / (1 - explained)
    return HotellingTest(_significance(t2, n0, n, d), d, "")


def _explained(components: Array, n0: int, n: int) -> float:
    """Return the share of the labels' variance that the components explain; T2/(n0+n-2) = share/(1 - share)."""
    difference = components[n0:].mean(axis=0) - components[:n0].mean(axis=0)
    return float(difference @ difference) * n0 * n / (n0 + n)


def _significance(t2: float, n0: int, n: int, d: int) -> Significance:
    from scipy.stats import f

    freedom = n0 + n - d - 1
    p = float(f.sf(t2 * freedom / ((n0 + n - 2) * d), d, freedom))
    return Significance(p, Alternative.TWO_SIDED, f"Hotelling T2, F({d}, {freedom})", n0 + n, t2)
