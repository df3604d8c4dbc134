"""How many further trials of a candidate would probably settle a verdict."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Decides = Callable[[Counts, Counts], NDArray[np.bool_]]

LIKELY = 0.8
"""The chance of a verdict that is worth the trials."""
MOST = 10_000
"""Further trials that are looked at; a verdict that needs more is not in reach."""


def further_trials(k: int, n: int, rate: float, fails: "Decides", passes: "Decides") -> int | None:
    """The least number of trials after which a verdict has a chance of 0.8 if they pass at `rate`.

    `k` of `n` trials passed so far. `fails(k, n)` and `passes(k, n)` say elementwise for arrays of totals
    whether that many passes give the verdict: `fails` for few passes, `passes` for many. Numbers above 50
    are looked at in steps of about five per cent. None if 10,000 are not enough.
    """
    import numpy as np
    from scipy.stats import binom

    extra = np.unique(np.geomspace(1, MOST, 180).round().astype(np.int64))
    total = n + extra
    few = _first(lambda count: ~fails(count, total), total) - 1
    many = _first(lambda count: passes(count, total), total)
    chance = binom.cdf(few - k, extra, rate) + binom.sf(np.maximum(many - 1, few) - k, extra, rate)
    likely = np.flatnonzero(chance >= LIKELY)
    return int(extra[likely[0]]) if likely.size else None


def _first(holds: "Callable[[Counts], NDArray[np.bool_]]", total: "Counts") -> "Counts":
    """For each total, the least count in 0..total at which `holds`, and total + 1 where none is; bisection."""
    import numpy as np

    low, high = np.zeros_like(total), total + 1
    while (low < high).any():
        middle = np.minimum((low + high) // 2, total)
        held = holds(middle) & (low < high)
        high = np.where(held, middle, high)
        low = np.where(held | (low >= high), low, middle + 1)
    return low
