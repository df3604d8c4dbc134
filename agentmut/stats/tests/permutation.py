"""Permutation tests: any statistic, judged against its values under other labels of the same data.

Two samples: if both come from one distribution, every split of the pooled values into samples of their sizes was as
likely as the observed one. Pairs: if the two versions do not differ, either value of a pair was as likely to be
the first. Up to `resamples` such relabellings are enumerated and the p-value is exact; where there are
more, that many are drawn and p = (hits + 1) / (resamples + 1), which holds its level too.

The best p-value that can be had is `least_p`: with few data, or few resamples, no effect is significant.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_count
from agentmut.stats.tests.significance import Alternative, Significance, check_alternative

if TYPE_CHECKING:
    from scipy.stats._resampling import PermutationTestResult

Floats = NDArray[np.float64]
RESAMPLES = 9999
"""Relabellings looked at unless asked otherwise; 0.05 is then met to within 0.002."""
TIE = 1e-9
"""Statistics closer than this share of the largest are equal: the difference is rounding."""
LARGEST_LOGARITHM = 500
"""Relabellings are counted up to exp of this: beyond, they are more than anyone enumerates."""
BATCH = 2_000_000
"""Numbers held at once."""


class Statistic(Protocol):
    """A statistic of two samples, vectorised: reduces `axis` of both and keeps the other axes."""

    def __call__(self, first: Floats, second: Floats, /, *, axis: int) -> Floats:
        """The statistic; the first argument's larger values should make it larger."""
        ...


class DifferenceStatistic(Protocol):
    """A statistic of the differences within pairs, vectorised: reduces `axis`."""

    def __call__(self, differences: Floats, /, *, axis: int) -> Floats:
        """The statistic."""
        ...


def mean_difference(first: Floats, second: Floats, /, *, axis: int) -> Floats:
    """mean(first) - mean(second)."""
    return np.asarray(np.mean(first, axis=axis) - np.mean(second, axis=axis))


def mean(differences: Floats, /, *, axis: int) -> Floats:
    """The mean."""
    return np.asarray(np.mean(differences, axis=axis))


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    alternative: Alternative,
    *,
    rng: np.random.Generator,
    statistic: Statistic = mean_difference,
    resamples: int = RESAMPLES,
) -> Significance:
    """Whether two samples, of n1 and n2 values, come from one distribution.

    There are C(n1 + n2, n1) relabellings. One-sided p: the share of them with a statistic at most (LESS) or at
    least (GREATER) the observed one, itself included; two-sided: twice the smaller, at most 1. The result's
    `statistic` is the observed one. A small p says that the distributions differ in some way that the statistic
    sees; where spreads differ too, the difference of means does not test the means alone. Degenerate:
    constant data give p = 1.

    Raises `ValueError` for a sample of fewer than two values, values or statistics that are not finite numbers,
    an unknown alternative or resamples < 1. Source: E. J. G. Pitman, JRSS Suppl. 4 (1937) 119-130; B. Phipson and
    G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39.

    >>> print(permutation_test([1, 2, 3], [4, 5, 6], Alternative.LESS, rng=np.random.default_rng(1)))
    p = 0.05 (one-sided: less, permutation, all 20 relabellings, n=6)
    """
    x, y = _values("first", first), _values("second", second)
    logarithm = math.lgamma(len(x) + len(y) + 1) - math.lgamma(len(x) + 1) - math.lgamma(len(y) + 1)
    relabellings = math.comb(len(x) + len(y), len(x)) if logarithm < LARGEST_LOGARITHM else math.inf
    return _tested((x, y), "independent", relabellings, statistic, alternative, resamples, rng)


def paired_permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    alternative: Alternative,
    *,
    rng: np.random.Generator,
    statistic: DifferenceStatistic = mean,
    resamples: int = RESAMPLES,
) -> Significance:
    """Whether the differences first[i] - second[i] of n pairs are symmetric about 0.

    The 2^n relabellings flip the signs of differences; the rest is as in `permutation_test`. Degenerate: all
    differences 0 gives p = 1. A pair without a difference doubles the relabellings but not the attainable
    p-values.

    Raises `ValueError` as `permutation_test` does, and for samples of different length.
    Source: R. A. Fisher, The Design of Experiments (1935), section 21.

    >>> print(paired_permutation_test([5, 4, 6], [1, 2, 3], Alternative.GREATER, rng=np.random.default_rng(1)))
    p = 0.125 (one-sided: greater, sign-flip permutation, all 8 relabellings, n=6)
    """
    x, y = _values("first", first), _values("second", second)
    if len(x) != len(y):
        raise ValueError(f"first and second must be of one length, got {len(x)} and {len(y)}")

    def of_pairs(a: Floats, b: Floats, /, *, axis: int) -> Floats:
        return statistic(a - b, axis=axis)

    relabellings = 2 ** len(x) if len(x) < LARGEST_LOGARITHM else math.inf
    if relabellings <= check_count("resamples", resamples, 1):
        return _tested((x, y), "samples", relabellings, of_pairs, alternative, resamples, rng)
    found = float(statistic(x - y, axis=-1))
    return _result(
        found, _flipped(x - y, statistic, resamples, rng), "samples", math.inf, alternative, 2 * len(x)
    )


def _flipped(
    differences: Floats, statistic: DifferenceStatistic, resamples: int, rng: np.random.Generator
) -> Floats:
    """The statistic under random signs; scipy's relabelling of pairs takes seconds for each at a million of them."""
    n = len(differences)
    sizes = [min(resamples - start, max(1, BATCH // n)) for start in range(0, resamples, max(1, BATCH // n))]
    drawn = (
        np.where(rng.integers(0, 2, (size, n), dtype=np.int8), differences, -differences) for size in sizes
    )
    return np.concatenate([np.atleast_1d(statistic(flipped, axis=-1)) for flipped in drawn])


def least_p(relabellings: int, alternative: Alternative, resamples: int = RESAMPLES) -> float:
    """The best attainable p-value; ties in the data can only raise it.

    1/relabellings if they are all enumerated, else 1/(resamples + 1); two-sided twice that, at most 1.
    `relabellings` is C(n1 + n2, n1) for two samples and 2^n for n pairs.

    Raises `ValueError` for a count below 1 or an unknown alternative.

    >>> least_p(math.comb(6, 3), Alternative.TWO_SIDED)
    0.1
    """
    relabellings = check_count("relabellings", relabellings, 1)
    resamples = check_count("resamples", resamples, 1)
    tail = 1 / relabellings if relabellings <= resamples else 1 / (resamples + 1)
    return _p_value(tail, tail, check_alternative(alternative))


def _values(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size < 2 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a sequence of at least two finite numbers, got {_shown(array)}")
    return array


def _shown(array: Floats) -> str:
    if array.ndim == 1 and array.size > 1:
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        return f"{array[at]} at position {at}"
    return f"shape {array.shape}"


def _tested(
    samples: Sequence[Floats],
    kind: Literal["independent", "samples"],
    relabellings: float,
    statistic: Statistic,
    alternative: Alternative,
    resamples: int,
    rng: np.random.Generator,
) -> Significance:
    from scipy.stats import permutation_test as relabel

    side, resamples = check_alternative(alternative), check_count("resamples", resamples, 1)
    n = sum(map(len, samples))
    found: PermutationTestResult = relabel(
        samples,
        statistic,
        permutation_type=kind,
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, BATCH // n),
        rng=rng,
    )
    return _result(float(found.statistic), found.null_distribution, kind, relabellings, side, n)


def _result(
    observed: float, null: Floats, kind: str, relabellings: float, alternative: Alternative, n: int
) -> Significance:
    side, sampled = check_alternative(alternative), relabellings > null.size
    at_most, at_least = _tails(observed, null, sampled)
    drawn = f"{null.size} random" if sampled else f"all {relabellings}"
    method = f"{'sign-flip ' if kind == 'samples' else ''}permutation, {drawn} relabellings"
    return Significance(_p_value(at_most, at_least, side), side, method, n, observed)


def _tails(observed: float, null: Floats, sampled: bool) -> tuple[float, float]:
    """Shares of relabellings at most and at least the observed, which counts as one more if they were drawn.

    Counted here and not by scipy, whose tolerance for ties is a share of the observed value: none at all when
    that is 0, and too little when values of very different size have cancelled.
    """
    if not (math.isfinite(observed) and np.isfinite(null).all()):
        raise ValueError("statistic must be finite under every relabelling, got NaN or infinity")
    slack = TIE * max(abs(observed), float(np.abs(null).max()))
    below, above = np.count_nonzero(null <= observed + slack), np.count_nonzero(null >= observed - slack)
    return (below + sampled) / (null.size + sampled), (above + sampled) / (null.size + sampled)


def _p_value(at_most: float, at_least: float, side: Alternative) -> float:
    if side is Alternative.TWO_SIDED:
        return min(1.0, 2 * min(at_most, at_least))
    return at_most if side is Alternative.LESS else at_least
