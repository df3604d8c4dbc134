"""How few trials any test could need: the yardstick that the kill rule is measured with.

If the original failed at rate q and the mutant did too, a kill would be false, so a test that kills with chance
`power` at the true rates, and with at most alpha at q, must have seen enough to tell the two apart. Baseline and
mutant trials carry n0 KL(phi || q) and E[N] KL(psi || q) nats about it, and d(power || alpha) are needed; the
least favourable q gives the bound. (Wald's inequality for sequential tests, with the data-processing inequality.)
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_count, check_rate

Array = NDArray[np.float64]
POINTS = 2000
"""Rates q that are tried, equally spaced in arcsin(sqrt(q)), before the best is refined."""


class TrialBound(NamedTuple):
    """A lower bound of the expected number of trials."""

    trials: float
    """0 where the promise is kept without trials; infinite where no number of trials keeps it with this
    baseline."""
    q: float
    """The original's least favourable failure rate."""


def divergence(a: ArrayLike, b: ArrayLike) -> Array:
    """KL(a || b) of two Bernoulli rates in nats: a log(a/b) + (1-a) log((1-a)/(1-b)); inf where b excludes a."""
    from scipy.special import rel_entr

    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return np.asarray(rel_entr(a, b) + rel_entr(1 - a, 1 - b))


def kill_bound(phi: float, psi: float, n0: int, power: float, alpha: float) -> TrialBound:
    """Least E[N] of any test that kills with chance `power` where the failure rate rose from `phi` to `psi`.

    max over q in (0, 1) of [d(power || alpha) - n0 KL(phi || q)] / KL(psi || q), for tests whose false-kill
    rate is at most alpha at every q, averaged over the draw of a baseline of n0 trials. 0 for power <= alpha.

    Raises `ValueError` for n0 < 0, power outside [0, 1], or phi, psi, alpha outside (0, 1).
    """
    phi, psi = check_rate("phi", phi), check_rate("psi", psi)
    needed = _evidence("power", power, check_rate("alpha", alpha))
    return _least_favourable(phi, psi, check_count("n0", n0), needed, shift=0.0)


def survival_bound(phi: float, delta: float, n0: int, survived: float, beta: float) -> TrialBound:
    """Least E[N] of any test by which an unchanged mutant survives with chance `survived`.

    max over q in (0, 1 - delta) of [d(survived || beta) - n0 KL(phi || q)] / KL(phi || q + delta), for tests by
    which a mutant worse by delta survives with at most beta at every q. 0 for survived <= beta.

    Raises `ValueError` for n0 < 0, survived outside [0, 1], or phi, delta, beta outside (0, 1).
    """
    phi, delta = check_rate("phi", phi), check_rate("delta", delta)
    needed = _evidence("survived", survived, check_rate("beta", beta))
    return _least_favourable(phi, phi, check_count("n0", n0), needed, shift=delta)


def _evidence(name: str, reached: float, allowed: float) -> float:
    reached = check_rate(name, reached, closed=True)
    return float(divergence(reached, allowed)) if reached > allowed else 0.0


def _least_favourable(phi: float, rate: float, n0: int, needed: float, shift: float) -> TrialBound:
    """The largest quotient over q; the mutant fails at `rate`, and would at q + shift."""
    if needed == 0.0:
        return TrialBound(0.0, phi)
    twin = rate - shift
    if 0 < twin < 1 and needed > n0 * float(divergence(phi, twin)):
        return TrialBound(math.inf, twin)

    def bound(angle: ArrayLike) -> Array:
        q = (1 - shift) * np.sin(angle) ** 2
        with np.errstate(divide="ignore"):
            return np.asarray((needed - n0 * divergence(phi, q)) / divergence(rate, q + shift))

    angle = _argmax(bound)
    return TrialBound(max(0.0, float(bound(angle))), float((1 - shift) * np.sin(angle) ** 2))


def _argmax(bound: Callable[[ArrayLike], Array]) -> float:
    from scipy.optimize import minimize_scalar

    angles = np.pi / 2 * np.arange(1, POINTS) / POINTS
    best = angles[int(np.argmax(bound(angles)))]
    step = np.pi / 2 / POINTS
    found = minimize_scalar(lambda a: -float(bound(a)), bounds=(best - step, best + step), method="bounded")
    return float(found.x)
