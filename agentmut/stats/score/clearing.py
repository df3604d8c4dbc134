"""A bound on the scenarios that may still have a drop, where a survivor was cleared on a sample of them.

Of the scenarios that reach a mutant the foremost are all tried, and one at random from each of several strata of the
rest. A scenario with a drop of delta is cleared all the same with chance `miss` at most. With D_h of the N_h scenarios
of stratum h having a drop, all m strata are cleared with chance prod(1 - (1 - miss) D_h / N_h), which is at most
(1 - (1 - miss) q)^m for the mean q of D_h / N_h, as the logarithm is concave.
"""

from collections.abc import Sequence


def most_with_drop(foremost: int, strata: Sequence[int], miss: float, error: float = 0.05) -> int:
    """Return the most scenarios that may have a drop, at confidence 1 - error, once all that were tried are cleared.

    `strata` are the numbers of scenarios from which one each was drawn. Raises `ValueError` for an empty stratum and
    for chances outside [0, 1).

    >>> most_with_drop(0, [10] * 20, 0.0)  # 1 - 0.05 ** (1 / 20) is 0.139
    27
    """
    if any(size < 1 for size in strata):
        raise ValueError(f"strata must hold one scenario or more each, got {min(strata)}")
    if not (0 <= miss < 1 and 0 < error < 1):
        raise ValueError(f"miss must be in [0, 1) and error in (0, 1), got {miss} and {error}")
    found, hidden = 0, 0
    while hidden <= foremost and miss**hidden >= error:
        found = max(found, hidden + _in_strata(strata, miss, error / miss**hidden if hidden else error))
        hidden += 1
    return found


def _in_strata(strata: Sequence[int], miss: float, error: float) -> int:
    if not strata:
        return 0
    count = len(strata)
    mean: float = (1 - error ** (1 / count)) / (1 - miss)
    return min(sum(strata), int(mean * count * max(strata) + 1e-9))
