"""How close the kill rule comes to the fewest trials that any test could need.

If the original failed at rate q and the mutant did too, a kill would be false, so a test that kills with chance
`power` at the true rates, and with at most alpha at q, must have seen enough to tell the two apart. Baseline and
mutant trials carry n0 KL(phi || q) and E[N] KL(psi || q) nats about it, and d(power || alpha) are needed; the
least favourable q gives the bound. (Wald's inequality for sequential tests, with the data-processing inequality.)
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.characteristics import TableOf, operating_characteristics
from agentmut.stats.kill.rule import DEFAULT_DESIGN, KillDesign, decision_table
from benchmarks.calibration.figures import Figure, Section

Array = NDArray[np.float64]
POINTS = 2000
"""Rates q that are tried, equally spaced in arcsin(sqrt(q)), before the best is refined."""
RATES = (0.99, 0.95, 0.9, 0.8)
"""True pass rates of the original that the targets speak of."""


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
    """Return the largest quotient over q; the mutant fails at `rate`, and would at q + shift."""
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


def kill_ratio(p: float, drop: float, n0: int, design: KillDesign, table_of: TableOf) -> float:
    """E[N] over its bound where the pass rate falls from p by `drop`."""
    found = operating_characteristics(n0, design, p, drop, table_of)
    return found.trials / kill_bound(1 - p, 1 - p + drop, n0, found.killed, design.alpha).trials


def survival_ratio(p: float, n0: int, design: KillDesign, table_of: TableOf) -> float:
    """E[N] over its bound where nothing changed."""
    found = operating_characteristics(n0, design, p, 0.0, table_of)
    return found.trials / survival_bound(1 - p, design.delta, n0, found.survived, design.beta).trials


def section(*, thorough: bool) -> Section:
    """Return ratios at n0 = 100; other baselines only in the thorough pass."""
    table_of = cache(decision_table)
    figures = list(_at_a_hundred(table_of))
    if thorough:
        for n0 in (50, 200):
            ratios = [kill_ratio(p, d, n0, DEFAULT_DESIGN, table_of) for p in RATES for d in (0.2, 0.4)]
            figures.append(Figure(f"geometric mean, n0 = {n0}", _geometric(ratios), "at least 1", low=1.0))
    how = (
        "Exact: expected trials by dynamic programming, averaged over the baseline, over the largest lower bound. "
        "p is the original's pass rate."
    )
    return Section("Kill rule: trials over the least possible", how, tuple(figures))


def _at_a_hundred(table_of: TableOf) -> Iterator[Figure]:
    ratios = {
        (p, drop): kill_ratio(p, drop, 100, DEFAULT_DESIGN, table_of) for p in RATES for drop in (0.2, 0.4)
    }
    for (p, drop), ratio in ratios.items():
        yield Figure(f"p = {p}, drop {drop}", ratio, "1 to 1.35", 1.0, 1.35)
    yield Figure("geometric mean of these", _geometric(list(ratios.values())), "at most 1.25", 1.0, 1.25)
    for p in RATES:
        ratio = survival_ratio(p, 100, DEFAULT_DESIGN, table_of)
        yield Figure(f"p = {p}, equivalent", ratio, "1 to 1.15", 1.0, 1.15)


def _geometric(ratios: list[float]) -> float:
    return math.exp(fmean(map(math.log, ratios)))
