"""Chances of one specific sequence of mutant trials, given the baseline, from which the kill rule is made.

A chance is that of one order of the f failures among the n trials: no binomial coefficient. Arrays over the
states (n, f) are flat, ordered by n, then f: n = 0..n_max, f = 0..n; `row(n)` is the slice of one n.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LARGEST_PRODUCT = 250_000
"""Multiplications of one product of matrices. OpenBLAS starts threads above 262,144. On a busy machine these threads
take many times as long as the product itself, and their number moves the last digit of it."""

CELLS = 160
"""Cells of the grid over the failure rate, equally spaced in arcsin(sqrt(phi))."""
DROPS = (1.0, 1.5, 2.0, 3.0)
"""Drops that the cost of a trial averages over, in units of delta."""


class Sequences(NamedTuple):
    """The parts of the optimal stopping problem."""

    unchanged: Array
    """Chance of the sequence if the mutant fails as often as the original."""
    dropped: Array
    """Chance of the sequence if it fails more often by delta."""
    cost: Array
    """The cost of one more trial: a weighted average of `unchanged` and of drops of several sizes."""


class RateGrid(NamedTuple):
    """The baseline's posterior, Beta(f0 + 1/2, n0 - f0 + 1/2), as weights on cell centres."""

    rates: Array
    weights: Array


def rate_grid(f0: float, n0: int) -> RateGrid:
    """Return centres sin^2(pi/2 (i + 1/2)/160) and the posterior mass of each cell; the weights sum to 1.

    Masses are differences of the nearer tail: differences near 1 would be rounding noise.
    """
    from scipy.special import betainc, betaincc

    edges = np.sin(np.pi / 2 * np.arange(CELLS + 1) / CELLS) ** 2
    centres = np.sin(np.pi / 2 * (np.arange(CELLS) + 0.5) / CELLS) ** 2
    below, above = betainc(f0 + 0.5, n0 - f0 + 0.5, edges), betaincc(f0 + 0.5, n0 - f0 + 0.5, edges)
    return RateGrid(centres, np.where(below[1:] < 0.5, np.diff(below), -np.diff(above)))


def sequences(f0: int, n0: int, delta: float, n_max: int) -> Sequences:
    """Return the chances and the cost for a baseline of f0 failures in n0 trials."""
    phi = (f0 + 0.5) / (n0 + 1)
    grid = rate_grid(f0, n0)
    unchanged = unchanged_chances(f0, n0, n_max)
    cost = 0.5 * _scale(2.0, phi, phi + delta) * unchanged
    dropped = {d: _dropped(grid, d, n_max) for d in (delta * u for u in DROPS) if d < 0.95}
    total = sum(delta / d for d in dropped)
    for d, chance in dropped.items():
        if phi + d < 0.995:
            cost = cost + 0.5 * (delta / d / total) * _scale(2.4, phi + d, phi) * chance
    return Sequences(unchanged, dropped[delta], cost)


def row(n: int) -> slice:
    """Return where the states (n, 0..n) are in a flat array over states."""
    return slice(n * (n + 1) // 2, (n + 1) * (n + 2) // 2)


def unchanged_chances(f0: float, n0: int, n_max: int) -> Array:
    """Return B(a + f, b + n - f) / B(a, b) with a = f0 + 1/2, b = n0 - f0 + 1/2."""
    from scipy.special import gammaln

    a, b, steps = f0 + 0.5, n0 - f0 + 0.5, np.arange(n_max + 1)
    log_f = gammaln(a + steps) - gammaln(a)
    log_pass = gammaln(b + steps) - gammaln(b)
    log_n = gammaln(a + b + steps) - gammaln(a + b)
    n, f = np.tril_indices(n_max + 1)
    chances: Array = np.exp(log_f[f] + log_pass[n - f] - log_n[n])
    return chances


def mean_chances(rates: Array, weights: Array, n_max: int) -> Array:
    """Return the sum over the failure rates psi of weight psi^f (1 - psi)^(n - f)."""
    steps = np.arange(n_max + 1)[:, None]
    by_passes = _product(weights * rates**steps, ((1 - rates) ** steps).T)
    n, f = np.tril_indices(n_max + 1)
    chances: Array = by_passes[f, n - f]
    return chances


def _product(left: Array, right: Array) -> Array:
    """Return `left @ right`, in blocks for which BLAS starts no threads."""
    side = max(1, math.isqrt(LARGEST_PRODUCT // max(1, left.shape[1])))
    whole = np.empty((left.shape[0], right.shape[1]))
    for top in range(0, left.shape[0], side):
        for start in range(0, right.shape[1], side):
            block = left[top : top + side] @ right[:, start : start + side]
            whole[top : top + side, start : start + side] = block
    return whole


def log_ratios(f0: float, n0: int, n_max: int, losses: Iterable[float]) -> Array:
    """Return log m1/m0, flat over the states: m0 if nothing changed, m1 averaged over relative losses of the pass rate.

    A loss u makes the failure rate phi + (1 - phi) u, clipped to [1e-4, 1 - 1e-4].
    """
    grid, lost = rate_grid(f0, n0), np.array(list(losses))[:, None]
    worse = np.clip(grid.rates + (1 - grid.rates) * lost, 1e-4, 1 - 1e-4).ravel()
    weights = np.tile(grid.weights / len(lost), len(lost))
    m1, m0 = mean_chances(worse, weights, n_max), unchanged_chances(f0, n0, n_max)
    tiny = np.finfo(float).tiny
    ratios: Array = np.log(np.maximum(m1, tiny) / np.maximum(m0, tiny))
    return ratios


def _dropped(grid: RateGrid, drop: float, n_max: int) -> Array:
    """Return the mean chances with every rate worsened by `drop`, kept below 1 and off 0 and 1."""
    worse = np.minimum(grid.rates + drop, 1 - 0.02 * (1 - grid.rates))
    return mean_chances(np.clip(worse, 1e-4, 1 - 1e-4), grid.weights, n_max)


def _scale(weight: float, a: float, b: float) -> float:
    """Return max(2, weight / KL(a || b))^(-1/2): the root of about one over the needed trials."""
    a, b = min(a, 0.999), min(b, 0.999)
    divergence = a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))
    return float(max(2.0, weight / divergence) ** -0.5)
