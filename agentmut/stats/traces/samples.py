"""Two samples as one matrix: checked, freed of constant columns, standardised or turned into normal scores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
LARGEST = 1e70
"""Greatest size of a feature: its fourth power, summed over traces, is still a number."""


class PooledSamples(NamedTuple):
    """Both samples in one matrix, the baseline's rows first; columns that never vary are left out."""

    values: Array
    """(n0 + n) x k."""
    columns: NDArray[np.intp]
    """For each of the k columns, its index in the samples."""
    n0: int
    n: int


def check_sample(name: str, sample: ArrayLike, least: int = 1) -> Array:
    """Return `sample` as a float matrix with at least `least` rows; a flat sequence is one column.

    Raises `ValueError` naming the sample for another number of dimensions, too few rows, text, rows of
    different length, NaN, infinity, or numbers beyond `LARGEST`.
    """
    values = _numbers(name, sample)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise ValueError(f"{name} must be a matrix of traces by features, got shape {values.shape}")
    if len(values) < least:
        raise ValueError(f"{name} must have at least {least} rows, got shape {values.shape}")
    if not (np.abs(values) <= LARGEST).all():
        worst = values[~(np.abs(values) <= LARGEST)][0]
        raise ValueError(f"{name} must hold numbers from -{LARGEST:g} to {LARGEST:g}, got {worst}")
    return values


def _numbers(name: str, sample: ArrayLike) -> Array:
    """Return `sample` as floats; refuse text that reads as a number, since "12" is a string of two letters."""
    try:
        if np.asarray(sample).dtype.kind in "SU" or _any_text(sample):
            raise ValueError(f"{name} must hold numbers, got text")
        return np.asarray(sample, dtype=np.float64)
    except OverflowError:
        raise ValueError(
            f"{name} must hold numbers from -{LARGEST:g} to {LARGEST:g}, got a larger one"
        ) from None
    except TypeError:
        raise ValueError(f"{name} must hold numbers, got other objects") from None


def _any_text(sample: ArrayLike) -> bool:
    values = np.asarray(sample)
    return values.dtype == object and any(isinstance(x, str | bytes) for x in values.flat)


def check_samples(baseline: ArrayLike, candidate: ArrayLike, least: int = 1) -> tuple[Array, Array]:
    """Return both samples as matrices; `ValueError` for a bad sample or different numbers of columns."""
    first, second = check_sample("baseline", baseline, least), check_sample("candidate", candidate, least)
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            "baseline and candidate must have the same features, "
            f"got {first.shape[1]} and {second.shape[1]} columns"
        )
    return first, second


def pool(baseline: ArrayLike, candidate: ArrayLike, least: int = 1) -> PooledSamples:
    """Return the samples in one matrix, without the columns that are equal in all rows; k = 0 if none varies.

    Raises `ValueError` as `check_samples` does.
    """
    first, second = check_samples(baseline, candidate, least)
    both = np.concatenate([first, second])
    columns = np.flatnonzero((both != both[:1]).any(axis=0))
    return PooledSamples(both[:, columns], columns, len(first), len(second))


def standardised(values: Array) -> Array:
    """Return columns with mean 0 and standard deviation 1 (denominator N). No column may be constant.

    Each column is first divided by its largest absolute value, so that no square vanishes.
    """
    scaled = values / np.abs(values).max(axis=0, initial=0.0)
    centred = scaled - scaled.mean(axis=0)
    return np.asarray(centred / centred.std(axis=0))


def normal_scores(values: Array) -> Array:
    """Return van der Waerden scores for each column: the standard normal quantile of mid-rank / (N + 1).

    Depends on the order of the values only, so heavy tails and units do not matter. Ties share a score.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri(rankdata(values, axis=0) / (len(values) + 1)))


def spread_scores(values: Array) -> Array:
    """Return normal scores of how far each value's mid-rank is from the middle rank, for each column.

    The mean score of a sample rises when it spreads more than the other, and does not move with
    a small shift. Constant where a column has two values that are equally frequent.
    """
    from scipy.stats import rankdata

    return normal_scores(np.abs(2 * rankdata(values, axis=0) - (len(values) + 1)))
