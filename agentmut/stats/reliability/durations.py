"""Durations and other measures of repeated runs: a percentile, the spread, and a quantile with its interval."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from agentmut.stats.checks import check_count, check_level
from agentmut.stats.intervals.proportion import Interval


def sample_standard_deviation(values: Iterable[float]) -> float | None:
    """Return sqrt(sum (x - mean)^2 / (n - 1)) (Bessel's correction), in the units of the values.

    None for fewer than two values: one value says nothing about spread, and 0 would claim that there is none.

    Raises `ValueError` for a value that is not finite.

    >>> sample_standard_deviation([1, 3, 5])
    2.0
    """
    numbers = _numbers("values", values)
    if len(numbers) < 2:
        return None
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1))


def nearest_rank(values: Iterable[float], percent: int = 95) -> float:
    """Return the `percent`-th percentile by nearest rank: the value at rank ceil(percent n / 100), from 1.

    Always one of the values; no interpolation. `percent` is a whole number, because ceil(0.07 * 100) is 8 in
    floats. With fewer than 100 / (100 - percent) values it is the largest of them.

    Raises `ValueError` for no values, a value that is not finite, or percent outside 1 .. 100.

    >>> nearest_rank([30, 10, 20], 50)
    20.0
    """
    numbers = sorted(_numbers("values", values))
    check_count("the number of values", len(numbers), 1)
    percent = check_count("percent", percent, 1, 100)
    return numbers[-(-percent * len(numbers) // 100) - 1]


def _numbers(name: str, values: Iterable[float]) -> list[float]:
    numbers = [float(value) for value in values]
    odd = [x for x in numbers if not math.isfinite(x)]
    if odd:
        raise ValueError(f"{name} must be finite numbers, got {odd[0]!r}")
    return numbers


def latency_percentile(seconds: Sequence[float], percent: int = 95, level: float = 0.95) -> Interval:
    """Return a percentile of durations by nearest rank, with the interval between order statistics.

    The interval needs no distribution (Conover, Practical Nonparametric Statistics, 3.2), and takes runs as
    independent. A bound is 0 or infinite where so few runs tell nothing on that side: the upper one of the 95th
    percentile below 73 runs at level 0.95.

    Raises `ValueError` for no duration, one that is negative or no number, or percent outside 1 .. 99.

    >>> print(latency_percentile([1.0, 2.0, 3.0, 4.0], 50))
    2.00 [0.00, inf] (95% order statistics, n=4)
    """
    from scipy.stats import quantile_test

    level, percent = check_level(level), check_count("percent", percent, 1, 99)
    estimate = nearest_rank(seconds, percent)
    if min(seconds) < 0:
        raise ValueError(f"seconds must not be negative, got {min(seconds)!r}")
    ends: Any = quantile_test(seconds, q=estimate, p=percent / 100).confidence_interval(level)
    low = 0.0 if math.isnan(ends.low) else float(ends.low)
    high = math.inf if math.isnan(ends.high) else float(ends.high)
    return Interval(estimate, low, high, level, len(seconds), "order statistics")
