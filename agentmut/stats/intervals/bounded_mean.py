"""An interval for the mean of bounded values that are skewed, where Student's t is too narrow."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_level
from agentmut.stats.intervals.proportion import Interval

METHOD = "gaffke"
LOGARITHMS = (-45.0, 31.0)
"""Ends of the integral over log t: beyond them is less than 1e-13, with up to a million values."""


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
    values, times = np.unique(values, return_counts=True)
    far = math.sqrt(1 / share - 1)
    nodes = np.exp(np.arange(*LOGARITHMS, 1 / max(far, 5.0, math.sqrt(times.sum()))))
    found: float = brentq(
        lambda at: _chance(values - at, times, nodes, far) - share, 1e-12, top * (1 - 1e-12), xtol=1e-9
    )
    return found


def _chance(
    scales: NDArray[np.float64], times: NDArray[np.int_], nodes: NDArray[np.float64], far: float
) -> float:
    """Return the chance that a sum of exponential variables, `times` of each scale, is at most 0.

    Dirichlet weights are exponential variables over their sum, so with the scales `values - at` this is the chance that
    the weighted mean is at most `at`. Where the sum's mean is `far` standard deviations from 0, it is 0 or 1, which by
    Cantelli's inequality is on the true side of 1/(1 + far^2). Else J. Imhof's inversion of the characteristic function
    gives it (Biometrika 48 (1961) 419-426): 1/2 - 1/pi * the integral over t of
    sin(sum atan(t d)) / (t prod sqrt(1 + t^2 d^2)). Over log t, the trapezoidal rule takes it to about exp(-20): the
    integrand is analytic, and both of its ends fall exponentially.
    """
    away = float(times @ scales) / math.sqrt(float(times @ scales**2))
    if abs(away) >= far:
        return float(away < 0)
    products = np.multiply.outer(nodes, scales / np.abs(scales).max())
    heights = np.sin(np.arctan(products) @ times) * np.exp(-np.log1p(products**2) @ times / 2)
    step = math.log(nodes[1] / nodes[0])
    return min(1.0, max(0.0, 0.5 - step * float(heights.sum()) / math.pi))
