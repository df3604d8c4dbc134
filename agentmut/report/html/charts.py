"""Coordinates of the page's charts; the template draws them."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """An interval on a line from 0 to 100."""

    low: float
    high: float
    value: float | None
    mark: float | None
    """Where a threshold is drawn."""


def interval(
    low: float | None, high: float | None, value: float | None, mark: float | None = None
) -> Interval | None:
    """An interval of shares; None where there is none.

    >>> interval(0.25, 0.75, 0.5)
    Interval(low=25.0, high=75.0, value=50.0, mark=None)
    """
    if low is None or high is None:
        return None
    shown = [None if share is None else round(100 * share, 2) for share in (low, high, value, mark)]
    return Interval(shown[0] or 0.0, shown[1] or 0.0, shown[2], shown[3])


class Spoke(NamedTuple):
    """One direction of a radar, from the middle (0, 0) to its rim at a radius of 100."""

    name: str
    share: float
    x: float
    y: float
    rim_x: float
    rim_y: float
    text_x: float
    text_y: float
    anchor: str


def radar(shares: Sequence[tuple[str, float]]) -> list[Spoke]:
    """Where the shares of a radar stand, the first one above the middle, the rest clockwise.

    >>> [(spoke.x, spoke.y) for spoke in radar([("a", 0.5), ("b", 1.0)])]
    [(0.0, -50.0), (0.0, 100.0)]
    """
    spokes = []
    for number, (name, share) in enumerate(shares):
        angle = 2 * math.pi * number / len(shares)
        across, up = round(math.sin(angle), 4), round(math.cos(angle), 4)
        anchor = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
        at = (_tidy(100 * share * across), _tidy(-100 * share * up))
        rim = (_tidy(100 * across), _tidy(-100 * up))
        spokes.append(Spoke(name, share, *at, *rim, _tidy(114 * across), _tidy(-114 * up + 4), anchor))
    return spokes


def _tidy(value: float) -> float:
    return round(value, 2) + 0.0  # no -0.0
