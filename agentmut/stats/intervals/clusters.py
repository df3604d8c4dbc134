"""Means of runs nested in scenarios or tasks. Runs of one cluster are alike and carry less information."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_level
from agentmut.stats.intervals.proportion import Interval

Array = NDArray[np.float64]
METHOD = "cluster-robust t"


class ClusteredMean(NamedTuple):
    """The mean of clustered values, and the cost of the clustering. None if the data do not determine it.

    >>> print(clustered_mean([1, 1, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"], bounds=(0, 1)))
    0.500 [0.000, 1.000] (95% cluster-robust t, n=6); 3 clusters, design effect 1.67, effective n 3.6, icc 0.50
    """

    interval: Interval
    standard_error: float | None
    """Cluster-robust (CR1). None for one cluster."""
    clusters: int
    design_effect: float | None
    """Squared standard error over the one that independent runs would have, s^2/n. None if all values are equal."""
    effective_n: float | None
    """n / design effect: that many independent runs would tell as much. Infinite for a design effect of 0."""
    icc: float | None
    """Intraclass correlation, at most 1; may be negative. None if all clusters are single runs, or values equal."""

    def __str__(self) -> str:
        shown = ["n/a" if x is None else x for x in (self.design_effect, self.effective_n, self.icc)]
        deff, size, icc = (
            x if isinstance(x, str) else format(x, style)
            for x, style in zip(shown, ("z.2f", ".1f", "z.2f"), strict=True)
        )
        return (
            f"{self.interval}; {self.clusters} clusters, design effect {deff}, effective n {size}, icc {icc}"
        )


def clustered_mean(
    values: ArrayLike,
    clusters: Sequence[Hashable],
    level: float = 0.95,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> ClusteredMean:
    """Return the mean of all runs, with a standard error that allows for any dependence within clusters.

    SE^2 = G/(G-1) sum_g (sum_i (x_gi - mean))^2 / n^2 (CR1) for G clusters and n runs in all; the interval is
    mean -+ t SE with the (1+level)/2 quantile of Student's t at G - 1 degrees of freedom, cut to `bounds`, the
    range of the values: (0, 1) for passes. Runs weigh alike, so a cluster counts by its size. With clusters of
    one run it is the usual t interval. Clusters must be independent and be many: with fewer than about 20, or
    with very unequal sizes, it covers less than `level`.

    The intraclass correlation is the analysis of variance's, (MSB - MSW)/(MSB + (m - 1) MSW) with
    m = (n - sum n_g^2/n)/(G - 1); for equal sizes the design effect is close to 1 + (m - 1) icc.

    `values`: numbers, one a run; `clusters`: the label of each. Degenerate cases: with one cluster nothing is
    known of how clusters vary, and the interval is all of `bounds`. If all clusters have the same mean, whatever
    their sizes (or all values are equal), it has no width. That says that these clusters do not vary, not that
    clusters do not: take it for no interval at all; for passes that are all equal use `wilson` on the clusters.

    Source: K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986) 13-22; L. Kish, Survey Sampling (1965).
    Raises `ValueError` for no values, values that are not finite or outside `bounds`, bounds that do
    not rise, and unequal lengths.
    """
    from scipy.special import stdtrit

    low, high = bounds
    if not low < high:
        raise ValueError(f"bounds must rise, got {bounds!r}")
    x, labels = _checked(values, clusters, bounds)
    level = check_level(level)
    mean, n, groups = float(x.mean()), x.size, int(labels.max()) + 1
    if groups == 1:
        interval = Interval(mean, float(bounds[0]), float(bounds[1]), level, n, METHOD)
        return ClusteredMean(interval, None, 1, None, None, None)
    if np.ptp(x) == 0:
        return ClusteredMean(Interval(mean, mean, mean, level, n, METHOD), 0.0, groups, None, None, None)
    error = _standard_error(x, labels)
    half = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    interval = Interval(mean, max(bounds[0], mean - half), min(bounds[1], mean + half), level, n, METHOD)
    effect = error**2 * n / float(x.var(ddof=1))
    effective = n / effect if effect else math.inf
    return ClusteredMean(interval, error, groups, effect, effective, _intraclass(x, labels))


def _standard_error(x: Array, labels: NDArray[np.intp]) -> float:
    """Return the CR1 standard error of the mean; rounding errors of equal means count as none."""
    n, groups = x.size, int(labels.max()) + 1
    totals = np.bincount(labels, x - float(x.mean()))
    totals[np.abs(totals) < 1e-12 * np.abs(x).max() * n] = 0.0
    return math.sqrt(groups / (groups - 1) * float(totals @ totals)) / n


def _intraclass(x: Array, labels: NDArray[np.intp]) -> float | None:
    sizes = np.bincount(labels)
    n, groups = x.size, sizes.size
    if n == groups:
        return None
    means = np.bincount(labels, x) / sizes
    between = float(sizes @ (means - x.mean()) ** 2) / (groups - 1)
    within = float(np.sum((x - means[labels]) ** 2)) / (n - groups)
    typical = (n - float(sizes @ sizes) / n) / (groups - 1)
    return (between - within) / (between + (typical - 1) * within)


def _checked(
    values: ArrayLike, clusters: Sequence[Hashable], bounds: tuple[float, float]
) -> tuple[Array, NDArray[np.intp]]:
    """Return the values, and the number of each value's cluster, from 0 in order of appearance."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"values must be one row of at least one number, got the shape {x.shape}")
    if len(clusters) != x.size:
        raise ValueError(f"clusters must have one label for each of {x.size} values, got {len(clusters)}")
    if not (np.isfinite(x).all() and bounds[0] <= x.min() and x.max() <= bounds[1]):
        raise ValueError(f"values must be finite numbers in [{bounds[0]:g}, {bounds[1]:g}], got others")
    numbers: dict[Hashable, int] = {}
    return x, np.array([numbers.setdefault(label, len(numbers)) for label in clusters], dtype=np.intp)
