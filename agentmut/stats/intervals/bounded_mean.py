"""An interval for the mean of bounded values that are skewed, where Student's t is too narrow."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_level
from agentmut.stats.intervals.proportion import Interval

METHOD = "gaffke"


def bounded_mean(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the mean of independent values in [0, 1] with Gaffke's bounds, each at (1 + level)/2.

    The lower bound is the (1 - level)/2 quantile of the mean of the values and an additional 0 under weights from
    Dirichlet(1, ..., 1); the upper bound likewise with an additional 1. For values that are 0 or 1 it is Clopper and
    Pearson's. It assumes nothing of the distribution. That it keeps its level is proved for few cases; no
    counterexample is known, and the simulations of its authors and ours find none.

    Source: N. Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable, Math. Meth. Stat. 14 (2005) 451-467; E. Learned-Miller and P. Thomas, arXiv:1905.06208.
    Raises `ValueError` for no values, and for values that are not in [0, 1].

    >>> print(bounded_mean([1, 1, 1, 1, 1]))
    1.000 [0.478, 1.000] (95% gaffke, n=5)
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size == 0 or not ((x >= 0) & (x <= 1)).all():
        raise ValueError(f"values must be one row of at least one number in [0, 1], got {values!r}")
    level = check_level(level)
    tail = (1 - level) / 2
    low = _quantile(np.append(x, 0.0), tail)
    high = 1 - _quantile(np.append(1 - x, 0.0), tail)
    return Interval(float(x.mean()), low, high, level, int(x.size), METHOD)


def _quantile(values: NDArray[np.float64], share: float) -> float:
    """Return the quantile of the mean under Dirichlet weights; the values are in [0, 1], and one of them is 0."""
    from scipy.optimize import brentq

    top = float(values.max())
    if top < 1e-9:  # as good as 0, which is the side that is safe for both bounds
        return 0.0
    found: float = brentq(lambda at: _chance(values, at) - share, 1e-12, top * (1 - 1e-12), xtol=1e-9)
    return found


def _chance(values: NDArray[np.float64], at: float) -> float:
    """Return the chance that the weighted mean is at most `at`.

    Dirichlet weights are exponential variables over their sum, so this is the chance that a sum of exponentials with
    the scales `values - at` is at most 0. J. Imhof's inversion of its characteristic function gives it (Biometrika 48
    (1961) 419-426): 1/2 - 1/pi * the integral of sin(sum atan(t d)) / (t prod sqrt(1 + t^2 d^2)).
    """
    from scipy.integrate import quad

    scales, times = np.unique(values - at, return_counts=True)
    unit = float(np.abs(scales).max()) or 1.0
    integrand = partial(_imhof, scales=(scales / unit).tolist(), times=times.tolist())
    value, _ = quad(integrand, 0, math.inf, limit=400)
    return min(1.0, max(0.0, 0.5 - value / math.pi))


def _imhof(t: float, scales: Sequence[float], times: Sequence[int]) -> float:
    if t == 0:
        return sum(n * d for n, d in zip(times, scales, strict=True))
    angle = sum(n * math.atan(t * d) for n, d in zip(times, scales, strict=True))
    size = sum(n * math.log1p((t * d) ** 2) for n, d in zip(times, scales, strict=True)) / 2
    return math.sin(angle) * math.exp(-size) / t
