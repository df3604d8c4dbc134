"""An exact test over strata that each have a rate of their own: are there more marked ones among the later trials?"""

from collections.abc import Iterable, Sequence
from math import comb
from typing import NamedTuple


class Share(NamedTuple):
    """One stratum: how many of its trials are of the kind that is tested, and how many are marked, there and in all."""

    trials: int
    marked: int
    inside: int
    marked_inside: int


def tail(strata: Iterable[Share]) -> float:
    """Return the chance of at least so many marked trials inside, given each stratum's trials and marked ones.

    Within a stratum trials are taken as exchangeable, so given how many are marked, those inside are hypergeometric,
    whatever the stratum's rate is. The sum over strata is exact, by convolution: the conditional test of a common
    odds ratio (Gart, Biometrika 57 (1970) 471-475), one-sided.

    >>> tail([Share(trials=4, marked=2, inside=2, marked_inside=2)])
    0.16666666666666666
    """
    chances, observed = [1.0], 0
    for trials, marked, inside, found in strata:
        least, most = max(0, inside + marked - trials), min(inside, marked)
        observed += found - least
        law = [comb(marked, x) * comb(trials - marked, inside - x) for x in range(least, most + 1)]
        chances = _convolved(chances, [ways / comb(trials, inside) for ways in law])
    return min(1.0, sum(chances[observed:]))


def _convolved(first: Sequence[float], second: Sequence[float]) -> list[float]:
    total = [0.0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            total[i + j] += a * b
    return total
