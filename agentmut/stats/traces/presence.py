"""Exact tests of many features that a run shows or does not: which are lost, and which are new, family-wise.

Given in how many of all runs a feature shows, the number among the candidate's is hypergeometric if both behave alike
(Fisher). A feature that shows in too few or too many runs cannot reach a small p-value, and costs the others nothing
(Tarone, Biometrics 46 (1990) 515-522); one that can reach it costs what it attains, which is less than the level
(Westfall and Wolfinger, American Statistician 51 (1997) 3-8).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from agentmut.stats.checks import check_count
from agentmut.stats.traces.samples import Array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIES = 1 + 1e-9
"""P-values as close as this are the same: they are sums in floating point."""


@dataclass(frozen=True)
class Presences:
    """Features of `n0` runs of a baseline and `n` of a candidate, each tested for loss and for gain.

    `totals`: in how many of all runs each feature shows. Features that show in the very same runs are one test and are
    given once. Which features there are may depend on both samples as one only.

    Said in 54 of 60 runs, and in none of 11:

    >>> print(f"{Presences(60, 11, (54,)).p_value(0, 54):.1e}")
    4.8e-09
    """

    n0: int
    n: int
    totals: tuple[int, ...]

    def __post_init__(self) -> None:
        check_count("n0", self.n0, 1)
        check_count("n", self.n, 1)

    @classmethod
    def from_totals(cls, n0: int, n: int, totals: Iterable[int]) -> "Presences":
        """Return the tests of features with these totals."""
        return cls(n0, n, tuple(totals))

    def p_value(self, shown: int, total: int) -> float:
        """Return the smaller of Fisher's one-sided p-values of a feature that `shown` runs of the candidate show.

        Raises `ValueError` for a count that the total does not allow.
        """
        least, most = max(0, total - self.n0), min(self.n, total)
        if not least <= shown <= most:
            raise ValueError(
                f"of {total} runs that show a feature, between {least} and {most} of the candidate's do, got {shown}"
            )
        fewer, more = _tails(self.n0, self.n)
        return float(min(fewer[total, shown], more[total, shown]))

    def adjusted(self, p: float) -> float:
        """Return the chance, at most, that any feature has a p-value as small as this although none changed.

        The sum over all features, and both directions, of the largest p-value that the feature can have and that is
        no larger: from 0 where no feature can, to 1.
        """
        at_most = _attained(self.n0, self.n, p)
        return min(1.0, sum(times * at_most[total] for total, times in self._counted.items()))

    def fewest_lost(self, level: float) -> int | None:
        """Return in how many runs of the baseline a feature has to show for its entire loss to be noticed at `level`.

        None where the loss of something that all runs show would not be.
        """
        fewer, _ = _tails(self.n0, self.n)
        return _first(self.n0, lambda x: self._noticed(fewer[x, 0], level))

    def fewest_new(self, level: float) -> int | None:
        """Return in how many runs of the candidate something new has to show to be noticed at `level`; None: in no
        number.
        """
        _, more = _tails(self.n0, self.n)
        return _first(self.n, lambda x: self._noticed(more[x, x], level))

    def _noticed(self, p: float, level: float) -> bool:
        """Return whether one more feature, with this p-value, would be noticed: it costs at most p for each side."""
        return self.adjusted(p) + 2 * p <= level

    @cached_property
    def _counted(self) -> Mapping[int, int]:
        return Counter(self.totals)


def _first(most: int, noticed: Callable[[int], bool]) -> int | None:
    """Return the first count from 1 to `most` that is noticed; None if none is. What is noticed once is from then on:
    the p-value of a loss or a gain falls with its count.
    """
    first = bisect_left(range(1, most + 1), True, key=noticed) + 1
    return first if first <= most else None


@lru_cache(maxsize=4096)  # each scenario of each survivor asks about the same few p-values
def _attained(n0: int, n: int, p: float) -> tuple[float, ...]:
    """Return, by total, the chance that a feature has a p-value of at most `p`, by loss or by gain."""
    import numpy as np

    possible = _possible(n0, n)
    fewer, more = (np.where(possible & (tail <= p * TIES), tail, 0.0).max(axis=1) for tail in _tails(n0, n))
    return tuple((fewer + more).tolist())


def _possible(n0: int, n: int) -> "NDArray[np.bool_]":
    """Return, a row for each total, how many runs of the candidate can show the feature."""
    import numpy as np

    total, shown = np.arange(n0 + n + 1)[:, None], np.arange(n + 1)[None, :]
    return np.asarray((shown >= total - n0) & (shown <= total))


@lru_cache(maxsize=64)
def _tails(n0: int, n: int) -> tuple[Array, Array]:
    """Return P(X <= x) and P(X >= x), a row for each total, for X runs of the candidate among those that show it."""
    import numpy as np
    from scipy.stats import hypergeom

    total, shown = np.arange(n0 + n + 1)[:, None], np.arange(n + 1)[None, :]
    chance = np.asarray(hypergeom.pmf(shown, n0 + n, total, n))
    return np.cumsum(chance, axis=1), np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
