"""Exact coverage of the intervals for rates, differences, odds ratios, families, and over all times."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.intervals.differences import newcombe
from agentmut.stats.intervals.proportion import (
    PROPORTION_INTERVALS,
    Interval,
    ProportionInterval,
    bonferroni_intervals,
)
from agentmut.stats.sequential.confidence_sequence import anytime_bounds
from agentmut.stats.tests.effects import odds_ratio
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.known_intervals import KNOWN, TOLERANCE

Array = NDArray[np.float64]
TwoSamples = Callable[[int, int, int, int, float], Interval]
Family = Callable[[Sequence[tuple[int, int]], float], Sequence[Interval]]
ROUNDING = 1e-9
LEVELS = (0.9, 0.95, 0.99)
SIZES = ((10, 10), (50, 50), (30, 100))
EVEN = (np.arange(400) + 0.5) / 400
"""Rates that a mean is taken over."""
RATES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98])
EXAMPLES = {
    (50, 0.98): {"wald": 0.6354, "wilson": 0.9216, "clopper-pearson": 0.9822},
    (100, 0.98): {"wald": 0.8664, "wilson": 0.9492, "clopper-pearson": 0.9845},
}
"""(n, p) -> coverage at level 0.95."""


@overload
def coverage(interval: ProportionInterval, n: int, p: float, level: float = 0.95) -> float: ...


@overload
def coverage(
    interval: ProportionInterval, n: int, p: "NDArray[np.float64]", level: float = 0.95
) -> "NDArray[np.float64]": ...


def coverage(
    interval: ProportionInterval, n: int, p: "float | NDArray[np.float64]", level: float = 0.95
) -> "float | NDArray[np.float64]":
    """Return the chance that `interval` of n trials contains the true rate `p`, exactly.

    The sum of C(n,k) p^k (1-p)^(n-k) over the k whose interval, bounds included, contains p. An array of rates
    gives an array of that shape. With n = 0 it is 1. `ValueError` for rates outside [0, 1] and what the
    interval refuses.

    >>> round(coverage(PROPORTION_INTERVALS["wald"], 50, 0.98), 4)
    0.6354
    """
    import numpy as np
    from scipy.special import xlog1py, xlogy

    n = check_count("n", n)
    rates = np.asarray(p, dtype=np.float64)
    for rate in rates.ravel():
        check_rate("p", rate, closed=True)
    total = np.zeros(rates.shape)
    for k in range(n + 1):
        found = interval(k, n, level)
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        chance = np.exp(ways + xlogy(k, rates) + xlog1py(n - k, -rates))
        total += np.where((found.low <= rates) & (rates <= found.high), chance, 0.0)
    return total if rates.shape else float(total)


def least_coverage(interval: ProportionInterval, n: int, level: float) -> float:
    """Return the infimum of coverage over all rates in (0, 1).

    Between neighbouring bounds the same k cover, a run without gaps, so coverage has one maximum there and is least
    at the ends: it is enough to look just outside every bound.
    """
    found = [interval(k, n, level) for k in range(n + 1)]
    ends = np.array([(np.nextafter(i.low, -1), np.nextafter(i.high, 2)) for i in found]).ravel()
    inside = ends[(ends > 0) & (ends < 1)]
    return float(coverage(interval, n, np.append(inside, (1e-12, 1 - 1e-12)), level).min())


def ever_outside(bounds: Sequence[tuple[Array, Array]], p: float) -> float:
    """Return the chance that a confidence sequence misses `p` at one look or more; (low, high) by k for n
    = 1, 2, ...
    """
    reached, missed = np.ones(1), 0.0
    for low, high in bounds:
        reached = np.append(0.0, reached * p) + np.append(reached * (1 - p), 0.0)
        outside = (p < low) | (p > high)
        missed += float(reached[outside].sum())
        reached[outside] = 0.0
    return missed


def bounds_by_count(level: float, trials: int) -> list[tuple[Array, Array]]:
    """(low, high) of the confidence sequence for every k, for n = 1 .. `trials`."""
    n = np.repeat(np.arange(1, trials + 1), np.arange(2, trials + 2))
    k = np.concatenate([np.arange(size + 1) for size in range(1, trials + 1)])
    low, high = anytime_bounds(k, n, level)
    ends = np.cumsum(np.arange(2, trials + 1))
    return list(zip(np.split(low, ends), np.split(high, ends), strict=True))


def two_sample_coverage(
    interval: TwoSamples, truth: Callable[[float, float], float], sizes: tuple[int, int], level: float
) -> Array:
    """Coverage at every pair of `RATES`, of an interval for truth(p1, p2)."""
    n1, n2 = sizes
    found = [[interval(a, n1, b, n2, level)[1:3] for b in range(n2 + 1)] for a in range(n1 + 1)]
    low, high = np.moveaxis(np.array(found), 2, 0)
    first: Array = np.asarray(binom.pmf(np.arange(n1 + 1), n1, RATES[:, None]))
    second: Array = np.asarray(binom.pmf(np.arange(n2 + 1), n2, RATES[:, None]))
    rows = [
        [
            one @ ((low <= truth(p, q)) & (truth(p, q) <= high)) @ two
            for q, two in zip(RATES, second, strict=True)
        ]
        for p, one in zip(RATES, first, strict=True)
    ]
    return np.array(rows)


def joint_coverage(family: Family, n: int, rates: Sequence[float], level: float) -> float:
    """Return the chance that all intervals of independent rates contain theirs, n trials each.

    Each interval must depend on its own count only, so the chances multiply.
    """
    bounds = np.array([family([(k, n)] * len(rates), level)[0][1:3] for k in range(n + 1)])
    inside = [(bounds[:, 0] <= p) & (p <= bounds[:, 1]) for p in rates]
    chances = [binom.pmf(np.arange(n + 1), n, p)[i].sum() for p, i in zip(rates, inside, strict=True)]
    return float(np.prod(chances))


def section(*, thorough: bool) -> Section:
    """Coverage of every interval for counts."""
    sizes = (10, 50, 200, 500) if thorough else (10, 50, 200)
    figures = [*_examples(), *_proportions(sizes), *_two_samples(thorough), *_families()]
    figures += _all_times(500 if thorough else 200)
    how = (
        "Exact: sums over the binomial, and for the confidence sequence dynamic programming over paths. `least` over "
        "all rates for one sample, over a grid of 121 pairs of rates for two."
    )
    return Section("Intervals of rates", how, tuple(figures))


def _examples() -> Iterator[Figure]:
    for (n, p), methods in EXAMPLES.items():
        for name, known in methods.items():
            found = coverage(PROPORTION_INTERVALS[name], n, p)
            what = f"{name}, level 0.95, n = {n}, rate {p}"
            yield Figure(what, found, f"{known:g}", known - 5e-5, known + 5e-5)


def _proportions(sizes: Sequence[int]) -> Iterator[Figure]:
    for name, interval in PROPORTION_INTERVALS.items():
        for n in sizes:
            for level, known in zip(LEVELS, KNOWN[name, n], strict=True):
                least = least_coverage(interval, n, level)
                mean = float(coverage(interval, n, EVEN, level).mean())
                yield from _beside(f"{name}, level {level:g}, n = {n}", (least, mean), known)
                if name == "clopper-pearson":
                    what = f"{name}, level {level:g}, n = {n}: least, as promised"
                    yield Figure(what, least, f"at least {level:g}", level - ROUNDING)


def _two_samples(thorough: bool) -> Iterator[Figure]:
    kinds: tuple[tuple[str, TwoSamples, Callable[[float, float], float]], ...] = (
        ("newcombe", newcombe, lambda p, q: p - q),
        ("woolf", odds_ratio, lambda p, q: p * (1 - q) / (q * (1 - p))),
    )
    for name, interval, truth in kinds:
        for sizes in (*SIZES, (100, 100)) if thorough else SIZES:
            for level, known in zip(LEVELS, KNOWN[name, sizes], strict=True):
                found = two_sample_coverage(interval, truth, sizes, level)
                what = f"{name}, level {level:g}, n = {sizes[0]}, {sizes[1]}"
                yield from _beside(what, (float(found.min()), float(found.mean())), known)


def _beside(what: str, found: tuple[float, float], known: tuple[float, float]) -> Iterator[Figure]:
    for which, measured, value in zip(("least", "mean"), found, known, strict=True):
        low, high = value - TOLERANCE, value + TOLERANCE
        yield Figure(f"{what}: {which}", measured, f"known: {value:g}", low, high)


def _families() -> Iterator[Figure]:
    def exact(counts: Sequence[tuple[int, int]], level: float) -> Sequence[Interval]:
        return bonferroni_intervals(counts, level, "clopper-pearson")

    kinds: tuple[tuple[str, Family, tuple[float, ...]], ...] = (
        ("clopper-pearson by Bonferroni", exact, (0.9547, 0.9812, 0.9961)),
        ("wilson by Bonferroni", bonferroni_intervals, (0.9106, 0.9416, 0.9856)),
    )
    rates = (0.6, 0.8, 0.9, 0.95, 0.98)
    for name, family, known in kinds:
        for level, value in zip(LEVELS, known, strict=True):
            found = joint_coverage(family, 50, rates, level)
            what = f"{name}, 5 rates jointly, level {level:g}, n = 50"
            yield Figure(what, found, f"known: {value:g}", value - TOLERANCE / 4, value + TOLERANCE / 4)


def _all_times(trials: int) -> Iterator[Figure]:
    for level in LEVELS:
        bounds = bounds_by_count(level, trials)
        for p in (0.5, 0.8, 0.9, 0.95, 0.99):
            yield Figure(
                f"confidence sequence, level {level:g}, rate {p}: missed at any of {trials} looks",
                ever_outside(bounds, p),
                f"at most {1 - level:.2g}",
                high=1 - level + ROUNDING,
            )
