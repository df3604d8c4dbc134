"""A pass rate corrected by a cheap proxy model that ran the same trials.

A proxy model may order the work (what to try first) or serve as a control variate. The verdict rests on the
target's own trials: a proxy's p-value says that the proxy changed, so it is not combined with the target's.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_level, check_rate
from agentmut.stats.intervals.proportion import Interval

if TYPE_CHECKING:
    from agentmut.stats.traces.samples import Array


class ControlVariate(NamedTuple):
    """A pass rate adjusted by a proxy.

    >>> print(ControlVariate(Interval(0.9, 0.85, 0.95, 0.95, 50, "control variate"), 0.8))
    0.900 [0.850, 0.950] (95% control variate, n=50); proxy correlation 0.80, variance x 0.36
    """

    interval: Interval
    """The interval of the target's pass rate."""
    correlation: float
    """The correlation of target and proxy in the paired trials; 0 if either does not vary."""

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
    """Return the target's pass rate, corrected by how far its proxy was from the proxy's known mean.

    Y - b (X - proxy_mean) with the means Y of `passed` and X of `proxy` over n paired trials (same
    scenario and seed, or same input), b the least-squares slope; clipped to [0, 1]. `proxy_mean` comes
    from many more runs of the proxy; `proxy_error` is its standard error, 0 where it is known.

    The interval is that of the regression at proxy_mean, with four trials added as in Agresti and Coull's: a
    pass and a fail at proxy_mean plus and minus one standard deviation of the proxy. Student's t with n + 2
    degrees of freedom; the variance is the HC2 sandwich (the target varies more where the proxy fails) plus
    b^2 proxy_error^2 plus 2 a/(n + 4)^2: `a` = max(1, z^2/4) disagreements of each kind, since a good proxy
    shows too few of them to judge by. Clipped to [0, 1], widened to hold the estimate. So a constant target or a
    perfect proxy still leaves some width.

    Coverage at level .95, simulated for n of 50 to 200, rates of .05 to .97, binary proxies right in .8 to .99
    of the cases and skewed continuous ones: at least .93; a proxy hardly ever wrong gives .99 and more. At
    level .8 it can fall to .75 (n = 200, rate .97, a binary proxy right in .99). From
    rates of about .9 on, with n = 50, the interval can be wider than one without proxy.

    The proxy may be biased: only how it varies with the target matters. A constant one changes nothing.
    Raises `ValueError` for fewer than 2 pairs, different lengths, targets that are not 0 or 1, NaN, infinity,
    a negative error, or a level outside (0, 1). Source of HC2: J. MacKinnon, H. White, J. Econometrics 29
    (1985) 305-325.
    """
    import numpy as np

    if len(passed) != len(proxy):
        raise ValueError(f"passed and proxy must be pairs, got {len(passed)} and {len(proxy)}")
    level = check_level(level)
    mean = check_rate("proxy_mean", proxy_mean, -1e70, 1e70)
    error = check_rate("proxy_error", proxy_error, 0.0, 1e70, closed=True)
    y, x = _column("passed", passed), _column("proxy", proxy)
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"passed must be true or false, got {list(passed)!r}")
    x = x - mean
    estimate, _ = _at_zero(x, y, 0.0)
    sd = float(x.std()) if np.ptp(x) > 0 else 0.0
    centre, variance = _at_zero(np.r_[x, -sd, sd, -sd, sd], np.r_[y, 1, 1, 0, 0], error)
    estimate = min(max(estimate, 0.0), 1.0)
    low, high = _bounds(centre, variance + _unseen(len(y), level), len(y), level)
    interval = Interval(estimate, min(low, estimate), max(high, estimate), level, len(y), "control variate")
    varying = sd > 0 and y.std() > 0
    return ControlVariate(interval, float(np.corrcoef(x, y)[0, 1]) if varying else 0.0)


def _column(name: str, sample: Sequence[float]) -> "Array":
    from agentmut.stats.traces.samples import check_sample

    values = check_sample(name, sample, 2)
    if values.shape[1] != 1:
        raise ValueError(f"{name} must be one number a trial, got shape {values.shape}")
    return values[:, 0]


def _unseen(n: int, level: float) -> float:
    """Return what unseen disagreements of target and proxy may add to the variance."""
    return 2 * max(1.0, NormalDist().inv_cdf((1 + level) / 2) ** 2 / 4) / (n + 4) ** 2


def _at_zero(x: "Array", y: "Array", error: float) -> tuple[float, float]:
    """Return the regression of y on x at x = 0, and its HC2 variance; `error` is the standard error of that zero."""
    import numpy as np

    m = len(x)
    dx = x - x.mean() if np.ptp(x) > 0 else np.zeros(m)  # rounding would make a slope of nothing
    away = float(x.mean())
    sxx = float(dx @ dx)
    unit = dx / sxx if sxx > 0 else np.zeros(m)
    slope = float(unit @ y)
    weights = 1 / m - away * unit
    residuals = y - y.mean() - slope * dx
    leverage = np.minimum(1 / m + dx * unit, 1 - 1e-9)
    variance = float((weights**2 * residuals**2 / (1 - leverage)).sum())
    return float(y.mean()) - slope * away, variance + (slope * error) ** 2


def _bounds(centre: float, variance: float, n: int, level: float) -> tuple[float, float]:
    from scipy.stats import t

    half = float(t.isf((1 - level) / 2, n + 2)) * math.sqrt(variance)
    return min(max(centre - half, 0.0), 1.0), min(max(centre + half, 0.0), 1.0)


def proxy_cost_share(correlation: float, cost_ratio: float = 0.1) -> float:
    """Return the share of the cost left with a proxy: 1 - rho^2 + rho^2 c (Eq. 48 of the AgentAssay paper,
    for reference).

    `correlation` (rho) in [-1, 1] is that of target and proxy, `cost_ratio` (c) in [0, 1] what a proxy trial costs in
    target trials. A control variate does not reach it: it also needs proxy trials to know the proxy's mean by.

    Raises `ValueError` for values outside these ranges.
    """
    squared = check_rate("correlation", correlation, -1.0, 1.0, closed=True) ** 2
    return 1 - squared + squared * check_rate("cost_ratio", cost_ratio, closed=True)
