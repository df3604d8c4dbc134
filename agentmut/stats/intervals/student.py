"""Quantiles of Student's t, without scipy."""

import math
from statistics import NormalDist

from agentmut.stats.checks import check_count, check_rate

STEPS = 200
"""Newton's steps at most; a dozen are usual."""


def t_quantile(degrees: int, p: float) -> float:
    """Return the quantile of Student's t at `p` in (0, 1), for a whole number of degrees of freedom, 1 or more.

    By Newton's steps from the normal quantile. The distribution function is concave above 0, so the steps come from
    below and none goes past the quantile. Right to 1e-9 of its size for up to
    1,000 degrees and p in [1e-6, 1 - 1e-6]. Raises `ValueError` for other degrees and for a `p` outside (0, 1).

    >>> round(t_quantile(1, 0.975), 4), round(t_quantile(9, 0.975), 4)
    (12.7062, 2.2622)
    """
    check_count("degrees", degrees, 1)
    check_rate("p", p)
    if p < 0.5:
        return -t_quantile(degrees, 1 - p)
    t = NormalDist().inv_cdf(p)
    for _ in range(STEPS):
        step = (p - 0.5 - _above_zero(degrees, t)) / _density(degrees, t)
        t += step
        if abs(step) <= 1e-14 * t:
            break
    return t


def _above_zero(degrees: int, t: float) -> float:
    """Return P(0 < T < t) by the finite sum (M. Abramowitz and I. A. Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    cos, odd = math.cos(angle), degrees % 2
    term, total = (cos if odd else 1.0), 0.0
    for k in range(2 - odd, degrees + 1 - odd, 2):
        total += term
        term *= cos * cos * (k + odd) / (k + 1 + odd) if odd else cos * cos * (k - 1) / k
    if odd:
        return (angle + math.sin(angle) * total) / math.pi if degrees > 1 else angle / math.pi
    return math.sin(angle) * total / 2


def _density(degrees: int, t: float) -> float:
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    return math.exp(scale - (degrees + 1) / 2 * math.log1p(t * t / degrees))
