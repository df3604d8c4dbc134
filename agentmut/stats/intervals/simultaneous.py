"""Intervals that hold together: with probability `level`, all of them contain their quantities."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_count, check_level
from agentmut.stats.intervals.proportion import Interval, proportion_interval, wilson_bounds

Array = NDArray[np.float64]


def bonferroni_intervals(
    counts: Sequence[tuple[int, int]], level: float = 0.95, method: str = "wilson"
) -> tuple[Interval, ...]:
    """One interval for each (k, n), each at level 1 - (1 - level)/m for m of them.

    Joint coverage is at least `level` whatever their dependence, as far as the method keeps its own level:
    certain with "clopper-pearson". `level` of the results is the joint one, and `method` states the family.
    The family is what is passed in: choosing the most interesting few afterwards is not covered.
    Raises `ValueError` for no counts, an unknown method, and what the method refuses.

    >>> for interval in bonferroni_intervals([(45, 50), (40, 50)]): print(interval)
    0.900 [0.766, 0.961] (95% wilson, jointly for 2 by Bonferroni, 97.5% each, n=50)
    0.800 [0.649, 0.897] (95% wilson, jointly for 2 by Bonferroni, 97.5% each, n=50)
    """
    m = _family(len(counts), "counts")
    each = 1 - (1 - check_level(level)) / m
    found = [proportion_interval(k, n, each, method) for k, n in counts]
    note = f"jointly for {m} by Bonferroni, {100 * each:.6g}% each"
    return tuple(i._replace(level=float(level), method=f"{i.method}, {note}") for i in found)


def scheffe_intervals(
    samples: Sequence[ArrayLike], coefficients: ArrayLike | None = None, level: float = 0.95
) -> tuple[Interval, ...]:
    """Scheffe's intervals for linear combinations of the means of m independent samples.

    sum c_i mean_i -+ sqrt(r F(level; r, N - m)) sqrt(s^2 sum c_i^2/n_i), s^2 the pooled variance, N values in
    all. `coefficients` has one row of m for each combination; None: the m means themselves. If every row sums to 0
    (contrasts, such as differences), r = m - 1; else r = m. The level holds jointly for all combinations of that
    kind, those not asked for and those found by looking included; for a few planned ones Bonferroni is narrower.
    Exact for normal values of one variance. Source: H. Scheffe, Biometrika 40 (1953) 87-104.

    Degenerate cases: one value in every sample leaves no variance to estimate: (-inf, inf). Equal values within
    every sample: no width. Raises `ValueError` for no samples, empty ones, values that are not finite, and
    coefficients that are not finite, all 0 in a row, or not m a row.
    """
    from scipy import stats

    rows = [np.asarray(sample, dtype=np.float64) for sample in samples]
    m = _family(len(rows), "samples")
    if any(row.ndim != 1 or row.size == 0 or not np.isfinite(row).all() for row in rows):
        raise ValueError("samples must be rows of at least one finite number")
    c, rank = _coefficients(coefficients, m)
    level = check_level(level)
    means, sizes = np.array([row.mean() for row in rows]), np.array([row.size for row in rows])
    freedom = int(sizes.sum()) - m
    factor, variance = math.inf, 1.0
    if freedom:
        factor = math.sqrt(rank * float(stats.f.ppf(level, rank, freedom)))
        variance = sum(float(np.sum((row - row.mean()) ** 2)) for row in rows) / freedom
    half = factor * np.sqrt(variance * (c**2 / sizes).sum(axis=1))
    return _named(c @ means, c @ means - half, c @ means + half, c, sizes, level, f"t, {_scheffe(m, rank)}")


def scheffe_proportions(
    counts: Sequence[tuple[int, int]], coefficients: ArrayLike | None = None, level: float = 0.95
) -> tuple[Interval, ...]:
    """Scheffe's intervals for linear combinations of m independent rates: his factor in score intervals.

    Each rate gets its Wilson bounds (l, u) at z^2 = chi2(level; r), with r as in `scheffe_intervals`. The bounds of
    sum c_i p_i are its estimate - sqrt(sum c_i^2 (p_i - b_i)^2), b_i = l_i where c_i > 0 and u_i where c_i < 0, and
    with l and u exchanged + sqrt(...): for a single rate Wilson's interval, for a difference Newcombe's. Unlike
    Scheffe's own for means, it has width where all trials pass. Joint coverage is approximate, as Wilson's is.
    Sources: Scheffe as above; G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008) 1693-1702.

    Raises `ValueError` for no counts, n = 0, what `wilson` refuses, and coefficients as in `scheffe_intervals`.
    """
    from scipy import stats

    m = _family(len(counts), "counts")
    c, rank = _coefficients(coefficients, m)
    z = math.sqrt(float(stats.chi2.ppf(check_level(level), rank)))
    checked = [(check_count("k", k, 0, check_count("n", n, 1)), n) for k, n in counts]
    bounds = np.array([wilson_bounds(k, n, z) for k, n in checked])
    p = np.array([k / n for k, n in checked])
    low, high = p - bounds[:, 0], bounds[:, 1] - p
    below = np.sqrt((c**2 * np.where(c > 0, low, high) ** 2).sum(axis=1))
    above = np.sqrt((c**2 * np.where(c > 0, high, low) ** 2).sum(axis=1))
    sizes = np.array([n for _, n in checked])
    return _named(c @ p, c @ p - below, c @ p + above, c, sizes, level, f"wilson, {_scheffe(m, rank)}")


def _named(
    estimates: Array, low: Array, high: Array, c: Array, sizes: NDArray[np.intp], level: float, method: str
) -> tuple[Interval, ...]:
    used = ((c != 0) @ sizes).tolist()
    bounds = zip(estimates.tolist(), low.tolist(), high.tolist(), used, strict=True)
    return tuple(Interval(e, a, b, float(level), int(n), method) for e, a, b, n in bounds)


def _scheffe(m: int, rank: int) -> str:
    kind = "contrasts" if rank < m else "linear combinations"
    return f"jointly for all {kind} of {m} by Scheffe"


def _coefficients(coefficients: ArrayLike | None, m: int) -> tuple[Array, int]:
    """The rows, and the dimension of the space of combinations they are taken from."""
    c = np.eye(m) if coefficients is None else np.asarray(coefficients, dtype=np.float64)
    if c.ndim != 2 or c.shape[1] != m or c.shape[0] == 0:
        raise ValueError(f"coefficients must be rows of {m} numbers, got the shape {c.shape}")
    if not (np.isfinite(c).all() and c.any(axis=1).all()):
        raise ValueError("coefficients must be finite and not all 0 in a row")
    contrasts = bool((np.abs(c.sum(axis=1)) <= 1e-12 * np.abs(c).sum(axis=1)).all())
    return c, m - 1 if contrasts else m


def _family(size: int, name: str) -> int:
    if size == 0:
        raise ValueError(f"{name} must have at least one member, got none")
    return size
