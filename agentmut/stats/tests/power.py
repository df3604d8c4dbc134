"""The number of trials that a wanted half-width or a PASS needs, by formula."""

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


def half_width(n: int, level: float = 0.95, *, p: float = 0.5, z: float | None = None) -> float:
    """Return half the width of the normal-approximation (Wald) interval for a rate `p` after `n` trials.

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
    """Return the least n whose `half_width` is at most `width`: ceil((z / width)^2 p (1-p)), at least 1.

    At p = 0.5 it does for every rate. `z` as in `half_width`: with the exact quantile some n are one less
    than with a rounded one.

    Raises `ValueError` for width or level outside (0, 1), p outside [0, 1] or z that is not positive and finite.

    >>> trials_for_half_width(0.05, z=1.96)
    385
    """
    width, p = check_rate("width", width), check_rate("p", p, closed=True)
    return whole((_quantile(level, z) / width) ** 2 * p * (1 - p))


def least_passing_n(theta: float, alpha: float = 0.05, bound: Bound = Bound.WILSON) -> int:
    """Return the least n such that n passes in n trials put the lower bound at `theta` or above: PASS by Eq. 4.

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


def whole(trials: float) -> int:
    """Return `trials` rounded up, at least 1; 2401.0000000001 is 2401, since the excess is rounding."""
    return max(1, math.ceil(trials * (1 - ROUNDING)))


def _quantile(level: float, z: float | None) -> float:
    level = check_level(level)
    return NormalDist().inv_cdf((1 + level) / 2) if z is None else check_rate("z", z, 0, math.inf)
