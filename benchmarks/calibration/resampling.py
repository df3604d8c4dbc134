"""Simulated coverage where no sum is possible: bootstrap and clustered means."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from agentmut.stats.intervals.bootstrap import Method, bootstrap
from agentmut.stats.intervals.clusters import clustered_mean
from benchmarks.calibration.figures import Figure, Section, simulated_rate

Generator = np.random.Generator
LEVELS = (0.9, 0.95, 0.99)
BOOTSTRAP: tuple[tuple[Method, int, float, float, float], ...] = (
    ("percentile", 10, 0.95, 0.84, 0.89),
    ("bca", 10, 0.95, 0.84, 0.89),
    ("percentile", 30, 0.95, 0.895, 0.93),
    ("bca", 30, 0.95, 0.90, 0.94),
    ("bca", 30, 0.90, 0.85, 0.895),
    ("bca", 30, 0.99, 0.955, 0.985),
)
"""Method, size, level, and the bounds of coverage that are known of the mean of exponential values."""


def skewed_mean(method: Method, n: int, level: float, rng: Generator, resamples: int = 499) -> bool:
    """Return whether the bootstrap interval of `n` exponential values contains their mean, 1."""
    values = rng.exponential(size=n)
    found = bootstrap(
        values, np.mean, rng=rng, level=level, method=method, resamples=resamples, vectorized=True
    )
    return found.low <= 1 <= found.high


def clustered_rate(clusters: int, size: int, level: float, rng: Generator) -> bool:
    """Return whether the cluster-robust interval contains 0.7: rates of scenarios are Beta(3.5, 1.5), runs 0/1."""
    rates = np.repeat(rng.beta(3.5, 1.5, clusters), size)
    passed = rng.random(clusters * size) < rates
    labels = np.repeat(np.arange(clusters), size).tolist()
    interval = clustered_mean(passed, labels, level, bounds=(0, 1)).interval
    return interval.low <= 0.7 <= interval.high


def section(*, thorough: bool) -> Section:
    """Coverage of the intervals for means."""
    figures = [*_bootstrap(4000 if thorough else 120), *_clusters(8000 if thorough else 400)]
    figures.append(_bca_less_percentile(8000 if thorough else 400))
    how = "Simulated, seed 1, each figure by itself: the share of samples whose interval contains the true value."
    return Section("Intervals of means", how, tuple(figures))


def _bootstrap(runs: int) -> Iterator[Figure]:
    for method, n, level, low, high in BOOTSTRAP:
        what = f"{method} bootstrap of an exponential mean, level {level:g}, n = {n}"
        known = f"falls short: {low:g} to {high:g}"
        yield _figure(what, runs, partial(skewed_mean, method, n, level), known, low, high)


def _clusters(runs: int) -> Iterator[Figure]:
    for clusters, size in ((20, 10), (40, 5)):
        for level in LEVELS:
            what = f"cluster-robust mean of 0/1, level {level:g}, {clusters} clusters of {size}"
            low, high = level - 0.015, level + 0.01
            yield _figure(
                what,
                runs,
                partial(clustered_rate, clusters, size, level),
                f"{low:.3f} to {high:.3f}",
                low,
                min(high, 1.0),
            )

    # The normal quantile, 1.96 for t's 2.78, would cover 0.86 and less with five clusters.
    what, hit = (
        "cluster-robust mean of 0/1, level 0.95, 5 clusters of 20",
        partial(clustered_rate, 5, 20, 0.95),
    )
    yield _figure(what, 4 * runs, hit, "0.92 to 0.95", 0.92, 0.95)


def _bca_less_percentile(runs: int) -> Figure:
    """Return both on the same samples and resamples: how much more often BCa's interval holds the mean."""
    gains = [
        int(skewed_mean("bca", 10, 0.95, np.random.default_rng(seed)))
        - int(skewed_mean("percentile", 10, 0.95, np.random.default_rng(seed)))
        for seed in range(runs)
    ]
    error = max(float(np.std(gains)), 0.1) / math.sqrt(runs)
    what = "bca less percentile on the same samples, exponential mean, level 0.95, n = 10"
    return Figure(what, float(np.mean(gains)), "0.005 to 0.03", 0.005, 0.03, error)


def _figure(
    what: str,
    runs: int,
    hit: Callable[[Generator], bool],
    promised: str,
    low: float = -math.inf,
    high: float = math.inf,
) -> Figure:
    rng = np.random.default_rng(1)
    rate, error = simulated_rate(hit(rng) for _ in range(runs))
    return Figure(what, rate, promised, low, high, error)
