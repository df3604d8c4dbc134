"""A measured figure next to its promise, and the sections they are printed in."""

import math
from collections.abc import Iterable
from typing import NamedTuple


class Figure(NamedTuple):
    """One measured number and what it may be.

    >>> Figure("type I error of a test", 0.048, "at most 0.05", high=0.05).holds
    True
    >>> Figure("the same, simulated", 0.052, "at most 0.05", high=0.05, error=0.002).holds
    True
    """

    what: str
    measured: float
    promised: str
    """The promise in words, or the number of the source."""
    low: float = -math.inf
    high: float = math.inf
    """The promise as bounds; a tolerance of an exact figure is part of them."""
    error: float = 0.0
    """Standard error of a simulated figure; 0 where it is computed exactly."""

    @property
    def bounded(self) -> bool:
        """Return whether anything is promised; other figures are only told."""
        return self.low > -math.inf or self.high < math.inf

    @property
    def holds(self) -> bool:
        """Within the bounds; a simulated figure within four standard errors of them. Never for NaN."""
        slack = 4 * self.error
        return self.low - slack <= self.measured <= self.high + slack


class Section(NamedTuple):
    """Figures that belong together."""

    title: str
    how: str
    """How they were found: exactly or by simulation, of what, with which seed."""
    figures: tuple[Figure, ...]

    @property
    def failures(self) -> tuple[Figure, ...]:
        """Return the figures that are not as promised."""
        return tuple(figure for figure in self.figures if not figure.holds)


def simulated_rate(hits: Iterable[bool]) -> tuple[float, float]:
    """Return the share of hits and its standard error (at least that of a rate one hit away from 0 or 1).

    >>> simulated_rate([True, False, False, False])
    (0.25, 0.21650635094610965)
    """
    outcomes = [bool(hit) for hit in hits]
    n = len(outcomes)
    rate = sum(outcomes) / n
    inside = min(max(rate, 1 / n), 1 - 1 / n)
    return rate, math.sqrt(inside * (1 - inside) / n)
