"""What so few mutants and faults can show at most: reliability by halves, and correlations corrected for it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.validity.figures import Floats, partial, sizes
from benchmarks.validity.suites import Measured

SPLITS = 100
"""Random halves, over which the correlation of the two halves is averaged."""
WANTED = 0.9
"""A reliability that leaves little to be gained by more mutants or faults."""


class Reliability(NamedTuple):
    """How far a score, and the share of faults found, would come out the same with other mutants and faults.

    Both are between 0 (chance alone) and 1; `rho` is the correlation of the two, as it was seen.
    """

    rho: float
    score: float
    found: float

    @property
    def ceiling(self) -> float:
        """Return the highest correlation that such a score could show, even if it told all: sqrt(score x found)."""
        return float(np.sqrt(self.score * self.found))

    @property
    def corrected(self) -> float:
        """Return the correlation of endless mutants with endless faults (Spearman 1904); NaN where one is chance."""
        return self.rho / self.ceiling if self.ceiling > 0 else float("nan")


def reliability(suites: Sequence[Measured], places: Floats, rng: "np.random.Generator") -> float:
    """Return how well the noticed share of these variants agrees with that of other variants, sizes held constant.

    The variants are halved at random, and the shares of the two halves are correlated as score and faults are; the
    mean over halves is stepped up to all variants by Spearman and Brown's formula, 2 r / (1 + r). At least 0.
    """
    told, given = np.array([suite.noticed for suite in suites], dtype=float)[:, places], sizes(suites)
    found = []
    for _ in range(SPLITS):
        order = rng.permutation(len(places))
        first, second = order[: len(order) // 2], order[len(order) // 2 :]
        found.append(partial(told[:, first].mean(axis=1), told[:, second].mean(axis=1), given))
    if not np.isfinite(found).any():
        return 0.0
    half = max(0.0, float(np.nanmean(found)))
    return 2 * half / (1 + half)


def needed(count: int, now: float, wanted: float = WANTED) -> float:
    """Return how many variants give the wanted reliability, where `count` give that of `now` (Spearman and Brown).

    >>> round(needed(60, 0.75))
    180
    """
    return count * wanted * (1 - now) / (now * (1 - wanted)) if now > 0 else float("inf")
