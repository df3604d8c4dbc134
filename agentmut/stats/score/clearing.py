"""A bound on the scenarios that may still have a drop, where a survivor was cleared on a sample of them.

Of the scenarios that reach a mutant the foremost are all tried, and one at random from each of several strata of the
rest. A scenario with a drop of delta is cleared all the same with chance `miss` at most. With D_h of the N_h scenarios
of stratum h having a drop, all strata are cleared with chance prod(1 - (1 - miss) D_h / N_h); a foremost scenario is a
stratum of one. The bound is the most drops that leave this chance at `error` or more, wherever they are.
"""

import math
from collections.abc import Sequence
from itertools import pairwise


def most_with_drop(foremost: int, strata: Sequence[int], miss: float, error: float = 0.05) -> int:
    """Return the most scenarios that may have a drop, at confidence 1 - error, once all that were tried are cleared.

    `strata` are the numbers of scenarios from which one each was drawn. Raises `ValueError` for an empty stratum and
    for chances outside [0, 1).

    >>> most_with_drop(0, [10] * 20, 0.0)  # 0.9 ** 13 * 0.8 ** 7 is 0.053, 0.9 ** 12 * 0.8 ** 8 is 0.047
    27
    """
    if any(size < 1 for size in strata):
        raise ValueError(f"strata must hold one scenario or more each, got {min(strata)}")
    if not (0 <= miss < 1 and 0 < error < 1):
        raise ValueError(f"miss must be in [0, 1) and error in (0, 1), got {miss} and {error}")
    # the logarithm of each factor is concave in D_h, so taking the least loss each time gives the largest product
    losses = sorted(loss for size in (*strata, *[1] * foremost) for loss in _losses(size, miss))
    most, budget = 0, -math.log(error) * (1 + 1e-12)
    while most < len(losses) and losses[most] <= budget:
        budget -= losses[most]
        most += 1
    return most


def _losses(size: int, miss: float) -> list[float]:
    """Return what each further drop in a stratum takes off the logarithm of the chance to clear it, in rising order."""
    logs = [_log(1 - (1 - miss) * dropped / size) for dropped in range(size + 1)]
    return [before - after for before, after in pairwise(logs)]


def _log(chance: float) -> float:
    return math.log(chance) if chance > 1e-15 else -math.inf
