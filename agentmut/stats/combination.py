"""Evidence from more than one source: independent p-values combined, and a cheap proxy used honestly.

A proxy model may order the work (what to try first) or serve as a control variate. The verdict rests on the
target's own trials: a proxy's p-value says that the proxy changed, so it is not combined with the target's.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from agentmut.stats.checks import check_rate
from agentmut.stats.intervals import Interval, wilson
from agentmut.stats.significance import Alternative, Significance

SMALLEST_P = 2.0**-53
"""Distance from 0 and 1 that p-values are kept at: a normal score of 8.2."""


def stouffer(p_values: Sequence[float], weights: Sequence[float] | None = None) -> Significance:
    """Weighted Stouffer combination of one-sided p-values: sum w z / sqrt(sum w^2), z the 1 - p normal quantile.

    For independent tests of hypotheses in the same direction; the combined hypothesis is that all are
    true. Weights fixed in advance, usually the square root of each sample's size; without them all count alike.
    It takes the place of Eq. 47 of the AgentAssay paper: a weighted sum of -2 log p is not chi-squared.
    The result's statistic is the combined z, its n the number of p-values.

    p-values nearer to 0 or 1 than 2^-53, and 0 and 1 themselves, count as that near (z = 8.2): so a single
    one decides nothing alone, and 0 and 1 can meet. Raises `ValueError` for no p-value, one outside [0, 1],
    a wrong number of weights, a negative weight, or weights that are all 0.
    """
    from scipy.stats import combine_pvalues

    if not len(p_values):
        raise ValueError("p_values must not be empty")
    weights = [1.0] * len(p_values) if weights is None else weights
    if len(weights) != len(p_values):
        raise ValueError(f"weights must be {len(p_values)}, one a p-value, got {len(weights)}")
    checked = [check_rate("weights", w, 0.0, 1e100, closed=True) for w in weights]
    if not any(checked):
        raise ValueError(f"weights must not all be 0, got {list(weights)!r}")
    kept = [min(max(check_rate("p_values", p, closed=True), SMALLEST_P), 1 - SMALLEST_P) for p in p_values]
    shares = [w / max(checked) for w in checked]
    z, p = combine_pvalues(kept, method="stouffer", weights=shares)
    return Significance(float(p), Alternative.GREATER, "weighted Stouffer", len(kept), float(z))


class ControlVariate(NamedTuple):
    """A pass rate adjusted by a proxy.

    >>> print(ControlVariate(Interval(0.9, 0.85, 0.95, 0.95, 50, "control variate"), 0.8))
    0.900 [0.850, 0.950] (95% control variate, n=50); proxy correlation 0.80, variance x 0.36
    """

    interval: Interval
    """Of the target's pass rate."""
    correlation: float
    """Of target and proxy in the paired trials; 0 where either does not vary."""

    @property
    def variance_ratio(self) -> float:
        """1 - correlation^2: the variance left, for a proxy mean that is known exactly and many trials."""
        return 1 - self.correlation**2

    def __str__(self) -> str:
        return (
            f"{self.interval}; proxy correlation {self.correlation:.2f}, variance x {self.variance_ratio:.2g}"
        )


def control_variate(
    passed: Sequence[bool],
    proxy: Sequence[float],
    proxy_mean: float,
    proxy_error: float = 0.0,
    level: float = 0.95,
) -> ControlVariate:
    """The target's pass rate, corrected by how far its proxy was from the proxy's known mean.

    Y - b (X - proxy_mean) with the means Y of `passed` and X of `proxy` over n paired trials (same
    scenario and seed, or same input), b the least-squares slope; the estimate of a regression at proxy_mean. Interval:
    Student's t with n - 2 degrees of freedom, variance s^2 (1/n + (X - proxy_mean)^2/Sxx) + b^2 proxy_error^2,
    s^2 the residual variance, clipped to [0, 1]. `proxy_mean` comes from many more runs of the proxy;
    `proxy_error` is its standard error, 0 where it is known.

    The proxy may be biased: only how it varies with the target matters, and a useless one costs one degree of
    freedom. Coverage is near the level for n >= 50 and rates of .1 to .9, lower nearer to 0 and 1.
    Where nothing is left to estimate a variance from (target or proxy constant, or target
    predicted without error), the interval is Wilson's of the target's own trials, and its method says so.

    Raises `ValueError` for fewer than 3 pairs, different lengths, targets that are not 0 or 1, NaN, infinity,
    a negative error, or a level outside (0, 1).
    """
    import numpy as np

    from agentmut.stats.multivariate.samples import check_samples

    if len(passed) != len(proxy):
        raise ValueError(f"passed and proxy must be pairs, got {len(passed)} and {len(proxy)}")
    level = check_rate("level", level)
    check_rate("proxy_mean", proxy_mean, -1e70, 1e70)
    check_rate("proxy_error", proxy_error, 0.0, 1e70, closed=True)
    y, x = (sample[:, 0] for sample in check_samples(passed, proxy, 3))
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"passed must be true or false, got {list(passed)!r}")
    n = len(y)
    dx, dy = x - x.mean(), y - y.mean()
    sxx, syy, sxy = float(dx @ dx), float(dy @ dy), float(dx @ dy)
    correlation = sxy / math.sqrt(sxx * syy) if sxx > 0 and syy > 0 else 0.0
    residual = syy * (1 - correlation**2)
    if sxx == 0 or residual <= 1e-12 * n:
        plain = wilson(int(y.sum()), n, level)._replace(method="wilson, target alone")
        return ControlVariate(plain, correlation)
    slope, away = sxy / sxx, float(x.mean()) - proxy_mean
    variance = residual / (n - 2) * (1 / n + away**2 / sxx) + (slope * proxy_error) ** 2
    return ControlVariate(_interval(float(y.mean()) - slope * away, variance, n, level), correlation)


def _interval(estimate: float, variance: float, n: int, level: float) -> Interval:
    """Student's t around the estimate; bounds and estimate clipped to [0, 1]."""
    from scipy.stats import t

    half = float(t.isf((1 - level) / 2, n - 2)) * math.sqrt(variance)
    middle, low, high = (min(max(value, 0.0), 1.0) for value in (estimate, estimate - half, estimate + half))
    return Interval(middle, low, high, level, n, "control variate")


def proxy_cost_share(correlation: float, cost_ratio: float = 0.1) -> float:
    """Share of the cost left with a proxy: 1 - rho^2 + rho^2 c (Eq. 48 of the AgentAssay paper, for reference).

    `correlation` (rho) in [-1, 1] is that of target and proxy, `cost_ratio` (c) in [0, 1] what a proxy trial costs in
    target trials. A control variate does not reach it: it also needs proxy trials to know the proxy's mean by.

    Raises `ValueError` for values outside these ranges.
    """
    squared = check_rate("correlation", correlation, -1.0, 1.0, closed=True) ** 2
    return 1 - squared + squared * check_rate("cost_ratio", cost_ratio, closed=True)
