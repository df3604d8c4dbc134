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
EACH = 50
"""Numbers of further trials up to here are all looked at."""
MOST = 10_000
"""Further trials that are looked at; a verdict that needs more is not in reach."""


def further_trials(
    k: int,
    n: int,
    rate: float,
    fails: "Decides",
    passes: "Decides",
    surely_passes: Callable[[int, int], bool] | None = None,
) -> int | None:
    """Return the least number of trials after which a verdict has a chance of 0.8 if they pass at `rate`.

    `k` of `n` trials passed so far. `fails(k, n)` and `passes(k, n)` say elementwise for arrays of totals
    whether that many passes give the verdict: `fails` for few passes, `passes` for many. Numbers above 50
    are looked at in steps of about five per cent. None if 10,000 are not enough.

    Where `passes` is an approximation, `surely_passes(k, n)` is the rule itself, for one pair of totals: a number is
    proposed only if its chance by that rule is 0.8 too.
    """
    import numpy as np
    from scipy.stats import binom

    steps = np.geomspace(1, MOST, 180).round().astype(np.int64)
    extra = np.union1d(np.arange(1, EACH + 1), steps)
    total = n + extra
    few = _first(lambda count: ~fails(count, total), total) - 1
    many = _first(lambda count: passes(count, total), total)

    def chance(least: "Counts", at: slice | int = slice(None)) -> "NDArray[np.float64]":
        failed, passed = few[at] - k, np.maximum(least - 1, few[at]) - k
        found = binom.cdf(failed, extra[at], rate) + binom.sf(passed, extra[at], rate)
        return np.asarray(found, dtype=np.float64)

    for i in np.flatnonzero(chance(many) >= LIKELY).tolist():
        if surely_passes is None:
            return int(extra[i])
        least = _least(surely_passes, int(many[i]), int(total[i]))
        if chance(np.asarray(least), i) >= LIKELY:
            return int(extra[i])
    return None


def _least(holds: Callable[[int, int], bool], near: int, total: int) -> int:
    """Return the least count at which `holds`, total + 1 if there is none, in single steps from a count `near` it."""
    while near > 0 and holds(near - 1, total):
        near -= 1
    while near <= total and not holds(near, total):
        near += 1
    return near


def _first(holds: "Callable[[Counts], NDArray[np.bool_]]", total: "Counts") -> "Counts":
    """Return for each total the least count in 0..total at which `holds`, total + 1 if there is none; by bisection."""
    import numpy as np

    low, high = np.zeros_like(total), total + 1
    while (low < high).any():
        middle = np.minimum((low + high) // 2, total)
        held = holds(middle) & (low < high)
        high = np.where(held, middle, high)
        low = np.where(held | (low >= high), low, middle + 1)
    return low
