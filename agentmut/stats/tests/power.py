"""How many trials: by formula. Exact power, which a plan should be checked against, is in `exact_power`."""

import math
from enum import StrEnum
from statistics import NormalDist

from agentmut.stats.checks import check_choice, check_count, check_level, check_rate

ROUNDING = 1e-9
"""A number of trials is rounded up unless it exceeds a whole number by no more than this share."""


class Bound(StrEnum):
    """The interval whose lower bound must reach a threshold."""

    WILSON = "wilson"
    CLOPPER_PEARSON = "clopper-pearson"


def trials_two_sided(p: float, delta: float, *, alpha: float = 0.05, beta: float = 0.10) -> int:
    """Trials per arm for a two-sided test of two samples that both have the variance p(1-p): Eq. 1.

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
    """Trials per arm for a one-sided test that one sample passes less often than the other: Eq. 6.

    n = ceil((z(1-alpha) + z(1-beta))^2 (pb (1-pb) + pc (1-pc)) / (pb - pc)^2), at least 1. It is the same with
    the rates swapped. It belongs to a Z test with unpooled variance; what Fisher's, Boschloo's and the pooled Z test
    reach with this n is given by `exact_power.two_sample_power`.

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


def half_width(n: int, level: float = 0.95, *, p: float = 0.5, z: float | None = None) -> float:
    """Half the width of the normal-approximation (Wald) interval for a rate `p` after `n` trials.

    z sqrt(p (1-p) / n), as a fraction; largest at p = 0.5. `z` is the (1+level)/2 normal quantile unless given:
    tables round it to 1.645, 1.96 and 2.576 for 90 %, 95 % and 99 %; pass that to reproduce them. For planning
    only: near 0 and 1 the Wald interval covers less than its level, at p = 0 and 1 its width is 0.

    Raises `ValueError` for n < 1, level outside (0, 1), p outside [0, 1] or z that is not positive and finite.

    >>> f"{half_width(100, z=1.96):.3f}"
    '0.098'
    """
    n, p = check_count("n", n, 1), check_rate("p", p, closed=True)
    return _quantile(level, z) * math.sqrt(p * (1 - p) / n)


def trials_for_half_width(
    width: float, level: float = 0.95, *, p: float = 0.5, z: float | None = None
) -> int:
    """The least n whose `half_width` is at most `width`: ceil((z / width)^2 p (1-p)), at least 1.

    At p = 0.5 it does for every rate. `z` as in `half_width`: with the exact quantile some n are one less
    than with a rounded one.

    Raises `ValueError` for width or level outside (0, 1), p outside [0, 1] or z that is not positive and finite.

    >>> trials_for_half_width(0.05, z=1.96)
    385
    """
    width, p = check_rate("width", width), check_rate("p", p, closed=True)
    return whole((_quantile(level, z) / width) ** 2 * p * (1 - p))


def least_passing_n(theta: float, alpha: float = 0.05, bound: Bound = Bound.WILSON) -> int:
    """The least n such that n passes in n trials put the lower bound at `theta` or above: PASS by Eq. 4.

    Fewer trials cannot PASS whatever their outcome. The interval is two-sided at level 1 - alpha. Wilson:
    ceil(z^2 theta / (1 - theta)), z the 1 - alpha/2 normal quantile; Clopper-Pearson:
    ceil(log(alpha/2) / log(theta)).

    Raises `ValueError` for theta or alpha outside (0, 1) or an unknown bound.

    >>> least_passing_n(0.9), least_passing_n(0.9, bound=Bound.CLOPPER_PEARSON)
    (35, 36)
    """
    theta, alpha = check_rate("theta", theta), check_rate("alpha", alpha)
    if check_choice("bound", bound, Bound) is Bound.CLOPPER_PEARSON:
        return whole(math.log(alpha / 2) / math.log(theta))
    return whole(_quantile(1 - alpha, None) ** 2 * theta / (1 - theta))


def chance_all_pass(p: float, n: int) -> float:
    """The chance p^n that `n` trials all pass; 1 for n = 0.

    Raises `ValueError` for p outside [0, 1] or n < 0.

    >>> round(chance_all_pass(0.9, 10), 4)
    0.3487
    """
    return check_rate("p", p, closed=True) ** check_count("n", n)


def chance_any_failure(p: float, n: int) -> float:
    """The chance 1 - p^n of at least one failure in `n` trials that pass at `p`; 0 for n = 0.

    Raises `ValueError` for p outside [0, 1] or n < 0.

    >>> round(chance_any_failure(0.9, 20), 4)
    0.8784
    """
    p, n = check_rate("p", p, closed=True), check_count("n", n)
    return -math.expm1(n * math.log(p)) if p and n else float(n > 0)


def whole(trials: float) -> int:
    """`trials` rounded up, at least 1; 2401.0000000001 is 2401, its excess being rounding."""
    return max(1, math.ceil(trials * (1 - ROUNDING)))


def normal_quantiles(alpha: float, beta: float, *, sides: int) -> float:
    """z(1 - alpha/sides) + z(1 - beta), which must be positive: below it power would be had without trials."""
    tail, beta = check_rate("alpha", alpha) / sides, check_rate("beta", beta)
    if tail + beta >= 1:
        share = "alpha" if sides == 1 else f"alpha/{sides}"
        raise ValueError(f"{share} + beta must be below 1, got alpha={alpha!r} and beta={beta!r}")
    return -NormalDist().inv_cdf(tail) - NormalDist().inv_cdf(beta)


def _quantile(level: float, z: float | None) -> float:
    level = check_level(level)
    return NormalDist().inv_cdf((1 + level) / 2) if z is None else check_rate("z", z, 0, math.inf)
