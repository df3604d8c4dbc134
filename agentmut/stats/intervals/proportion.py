"""Intervals for a proportion. Each carries its estimate, level, size and method, and prints them all."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from agentmut.stats.checks import check_count, check_level, check_name

if TYPE_CHECKING:
    pass

EARLY_STOPPING = "descriptive after early stopping"


class Interval(NamedTuple):
    """An interval for a proportion, or for any other quantity.

    `estimate` is None when there is nothing to estimate from (n = 0). `level` is the joint level where several
    intervals hold together. `n` counts the observations of all samples. `method` says how it was found and
    everything that qualifies it. A bound is infinite where the data leave that side open.

    >>> print(wilson(45, 50))
    0.900 [0.786, 0.957] (95% wilson, n=50)
    >>> print(Interval(1234.6, 1180.25, 1290.0, 0.9, 40, "bca bootstrap"))
    1235 [1180, 1290] (90% bca bootstrap, n=40)
    """

    estimate: float | None
    low: float
    high: float
    level: float
    n: int
    method: str

    def __str__(self) -> str:
        style = _style(
            [x for x in (self.estimate, self.low, self.high) if x is not None and math.isfinite(x)]
        )
        shown = "n/a" if self.estimate is None else format(self.estimate, style)
        bounds = f"[{self.low:{style}}, {self.high:{style}}]"
        return f"{shown} {bounds} ({100 * self.level:.6g}% {self.method}, n={self.n})"


def descriptive(interval: Interval) -> Interval:
    """Return the same interval, marked as descriptive, for trials that stopped when the data said so.

    An interval for a fixed number of trials does not keep its level then. One that does is
    `confidence_sequence.anytime_interval`. Marking twice changes nothing.

    >>> print(descriptive(wilson(2, 10)))
    0.200 [0.057, 0.510] (95% wilson, descriptive after early stopping, n=10)
    """
    if interval.method.endswith(EARLY_STOPPING):
        return interval
    return interval._replace(method=f"{interval.method}, {EARLY_STOPPING}")


def wilson(k: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for `k` successes in `n` trials.

    Bounds: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) with p = k/n and z the
    (1+level)/2 normal quantile. Inside [0, 1]; low is exactly 0 for k = 0 and high exactly 1 for k = n.
    No trials: [0, 1] and no estimate. Coverage is close to `level` on average, not guaranteed at every
    rate. Source: E. B. Wilson, JASA 22 (1927) 209-212.

    Raises `ValueError` for a negative or fractional count, k > n, or a level outside (0, 1).
    """
    k, n, level = _checked(k, n, level)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, 0, "wilson")
    return Interval(k / n, *wilson_bounds(k, n, _z(level)), level, n, "wilson")


def wilson_bounds(k: int, n: int, z: float) -> tuple[float, float]:
    """Return the bounds of `wilson` for a normal quantile `z` > 0 and n > 0, also for levels that round to 1."""
    z2 = z * z
    p = k / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if k == 0 else centre - half
    return low, 1.0 if k == n else centre + half


def wald(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the normal approximation p -+ z sqrt(p(1-p)/n), p = k/n: for comparison, not for use.

    Cut to [0, 1]: no rate is outside, so this costs no coverage. It has no width at k = 0 and k = n, and its
    coverage falls far below `level` near 0 and 1 (0.64 for n = 50, p = 0.98, level 0.95).
    No trials: [0, 1] and no estimate. Errors as for `wilson`.
    """
    k, n, level = _checked(k, n, level)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, 0, "wald")
    p = k / n
    half = _z(level) * math.sqrt(p * (1 - p) / n)
    return Interval(p, max(0.0, p - half), min(1.0, p + half), level, n, "wald")


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact interval: it covers every rate with at least `level`, often with more.

    low is the (1-level)/2 quantile of Beta(k, n-k+1), 0 for k = 0; high the (1+level)/2 quantile of
    Beta(k+1, n-k), 1 for k = n. No trials: [0, 1] and no estimate. Errors as for `wilson`.
    Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413.
    """
    from scipy.special import betainccinv, betaincinv

    k, n, level = _checked(k, n, level)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, 0, "clopper-pearson")
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betainccinv(k + 1, n - k, tail))
    return Interval(k / n, low, high, level, n, "clopper-pearson")


def agresti_coull(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the normal approximation after adding z^2/2 successes and z^2/2 failures.

    With n' = n + z^2 and p' = (k + z^2/2)/n': p' -+ z sqrt(p'(1-p')/n'), cut to [0, 1]. The estimate is still
    k/n. It has Wilson's centre and contains Wilson's interval. No trials: [0, 1] and no estimate. Errors as for
    `wilson`. Source: A. Agresti and B. A. Coull, The American Statistician 52 (1998) 119-126.
    """
    k, n, level = _checked(k, n, level)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, 0, "agresti-coull")
    z = _z(level)
    more = n + z * z
    centre = (k + z * z / 2) / more
    half = z * math.sqrt(centre * (1 - centre) / more)
    return Interval(k / n, max(0.0, centre - half), min(1.0, centre + half), level, n, "agresti-coull")


def jeffreys(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the middle `level` of Beta(k + 1/2, n - k + 1/2), from 0 for k = 0 and up to 1 for k = n.

    Without the two exceptions coverage would go to 0 as the rate goes to 0 or 1. (Brown, Cai and DasGupta call
    "modified Jeffreys" an interval that changes more bounds: high at 0, low at n, and those of 1 and n - 1;
    this is not that one.) No trials: [0, 1] and no estimate. Errors as for `wilson`.
    Source: L. D. Brown, T. T. Cai and A. DasGupta, Statistical Science 16 (2001) 101-133.
    """
    from scipy.special import betainccinv, betaincinv

    k, n, level = _checked(k, n, level)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, 0, "jeffreys")
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(betaincinv(k + 0.5, n - k + 0.5, tail))
    high = 1.0 if k == n else float(betainccinv(k + 0.5, n - k + 0.5, tail))
    return Interval(k / n, low, high, level, n, "jeffreys")


ProportionInterval = Callable[[int, int, float], Interval]
PROPORTION_INTERVALS: Mapping[str, ProportionInterval] = MappingProxyType(
    {
        "wilson": wilson,
        "wald": wald,
        "clopper-pearson": clopper_pearson,
        "agresti-coull": agresti_coull,
        "jeffreys": jeffreys,
    }
)
"""Printed name, as in `Interval.method`, -> interval."""


def proportion_interval(k: int, n: int, level: float = 0.95, method: str = "wilson") -> Interval:
    """Return the interval of that name; see `PROPORTION_INTERVALS`. `ValueError` lists the names.

    >>> print(proportion_interval(45, 50, 0.99, "clopper-pearson"))
    0.900 [0.742, 0.978] (99% clopper-pearson, n=50)
    """
    return PROPORTION_INTERVALS[check_name("method", method, PROPORTION_INTERVALS)](k, n, level)


def _checked(k: int, n: int, level: float) -> tuple[int, int, float]:
    n = check_count("n", n)
    return check_count("k", k, 0, n), n, check_level(level)


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _style(values: list[float]) -> str:
    """Return how to print these numbers: with the digits that tell the bounds apart, at least three for rates."""
    size = max(map(abs, values), default=0.0)
    spread = max(values) - min(values) if values else 0.0
    if spread <= 1e-12 * size:
        spread = size / 100 if 0 < size < 1e-3 else max(size / 100, 0.1)
    decimals = 2 - math.floor(math.log10(spread))
    if size > 1 and min(values) > 0:  # a ratio's bounds: two digits of the smallest
        decimals = max(decimals, min(3, 1 - math.floor(math.log10(min(values)))))
    if size >= 1e7 or 0 < size < 1e-3:
        return f"z.{min(15, max(2, decimals + math.floor(math.log10(size))))}e"
    return f"z.{max(3 if size <= 1 else 0, min(decimals, 12))}f"


def bonferroni_intervals(
    counts: Sequence[tuple[int, int]], level: float = 0.95, method: str = "wilson"
) -> tuple[Interval, ...]:
    """Return one interval for each (k, n), each at level 1 - (1 - level)/m for m of them.

    Joint coverage is at least `level` whatever their dependence, as far as the method keeps its own level:
    certain with "clopper-pearson". `level` of the results is the joint one, and `method` states the family.
    The family is what is passed in: choosing the most interesting few afterwards is not covered.
    Raises `ValueError` for no counts, an unknown method, and what the method refuses.

    >>> for interval in bonferroni_intervals([(45, 50), (40, 50)]): print(interval)
    0.900 [0.766, 0.961] (95% wilson, jointly for 2 by Bonferroni, 97.5% each, n=50)
    0.800 [0.649, 0.897] (95% wilson, jointly for 2 by Bonferroni, 97.5% each, n=50)
    """
    if not counts:
        raise ValueError("counts must have at least one member, got none")
    m = len(counts)
    level_of_each = 1 - (1 - check_level(level)) / m
    found = [proportion_interval(k, n, level_of_each, method) for k, n in counts]
    note = f"jointly for {m} by Bonferroni, {100 * level_of_each:.6g}% each"
    return tuple(i._replace(level=float(level), method=f"{i.method}, {note}") for i in found)
