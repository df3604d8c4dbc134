"""Intervals as reports show them."""

from agentmut.nouns import Bounds
from agentmut.stats import Interval


def bounds_of(interval: Interval) -> Bounds:
    """Return the ends of an interval in the form that reports show."""
    return Bounds(
        estimate=None if interval.estimate is None else round(interval.estimate, 6),
        low=round(interval.low, 6),
        high=round(interval.high, 6),
        level=round(interval.level, 6),
        n=interval.n,
        method=interval.method,
    )
