"""How far judges agree: Krippendorff's alpha with a bootstrap interval."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_choice, check_count, check_level

Array = NDArray[np.float64]


class Scale(StrEnum):
    """What the numbers of a rating mean, and so how far apart two of them are."""

    NOMINAL = "nominal"
    """Names: any two different values are equally far apart. Pass/fail is nominal."""
    ORDINAL = "ordinal"
    """Ranks: the more ratings lie between two values, the farther apart they are."""
    INTERVAL = "interval"
    """Amounts: the squared difference."""


class Agreement(NamedTuple):
    """Krippendorff's alpha: 1 for perfect agreement, 0 for what chance would give, negative below that.

    >>> print(Agreement(0.743, 0.43, 1.0, 0.95, Scale.NOMINAL, 11, 40, 1000))
    alpha 0.743 [0.430, 1.000] (95% percentile bootstrap over units, nominal, units=11, ratings=40)
    """

    alpha: float | None
    """None where all ratings that can be compared are equal: 0/0, so that agreement and a judge that says the
    same whatever it sees cannot be told apart."""
    low: float
    high: float
    level: float
    scale: Scale
    units: int
    """Units with two ratings or more; the others cannot be compared and are left out."""
    ratings: int
    """Ratings of those units."""
    resamples: int

    def __str__(self) -> str:
        shown = "n/a" if self.alpha is None else f"{self.alpha:.3f}"
        return (
            f"alpha {shown} [{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g}% percentile bootstrap "
            f"over units, {self.scale}, units={self.units}, ratings={self.ratings})"
        )


def krippendorff_alpha(
    ratings: ArrayLike,
    rng: np.random.Generator,
    *,
    scale: Scale = Scale.NOMINAL,
    level: float = 0.95,
    resamples: int = 1000,
) -> Agreement:
    """alpha = 1 - D_o/D_e, observed over expected disagreement, of `ratings` with shape (judges, units).

    NaN or None is a missing rating. For nominal scales give codes (booleans, 0, 1, 2 ...). The interval takes
    percentiles over resamples of whole units, drawn with replacement; a resample without variation counts
    as 0, no evidence of agreement (Krippendorff's convention for resamples, 2006), so that few units that
    differ from the rest give a wide interval, as they should. It is the bootstrap's: with fewer than about
    30 units it tends to be too narrow, with one it has no width. The bounds are widened to contain alpha.

    No variation at all: alpha is None, the interval [-1, 1]. Source: K. Krippendorff, "Computing Krippendorff's
    alpha-reliability" (2011); computed by the package `krippendorff`.

    Raises `ValueError` unless ratings are a finite two-dimensional table (missing ratings apart) with a unit
    that two judges rated, level is in (0, 1) and resamples >= 100.
    """
    level, resamples = check_level(level), check_count("resamples", resamples, 100)
    scale = check_choice("scale", scale, Scale)
    values, counts = _value_counts(ratings)
    values = _unit_range(values) if scale is Scale.INTERVAL else values
    units, total = len(counts), int(counts.sum())
    alpha = _alpha(values, counts, scale)
    if alpha is None:
        return Agreement(None, -1.0, 1.0, level, scale, units, total, resamples)
    picks = rng.integers(0, units, (resamples, units))
    drawn = [_alpha(values, counts[pick], scale) or 0.0 for pick in picks]
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    low, high = min(float(low), alpha), max(float(high), alpha)
    return Agreement(alpha, low, high, level, scale, units, total, resamples)


def _value_counts(ratings: ArrayLike) -> tuple[Array, NDArray[np.int64]]:
    """The values in use, in order, and how many judges gave each to each unit (units, values)."""
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise ValueError(
            f"ratings must be a table of finite numbers (judges, units), NaN where missing, got shape {table.shape}"
        )
    compared = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    if compared.shape[1] == 0:
        raise ValueError("ratings must have a unit that two judges or more rated, got none")
    values = np.unique(compared[~np.isnan(compared)])
    return values, (compared.T[:, :, None] == values).sum(axis=1)


def _unit_range(values: Array) -> Array:
    """The ordered values moved to [0, 1], which leaves alpha as it is: squares of very large ones are infinite."""
    values = values / (np.abs(values).max() or 1.0)
    return np.asarray((values - values[0]) / ((values[-1] - values[0]) or 1.0))


def _alpha(values: Array, counts: NDArray[np.int64], scale: Scale) -> float | None:
    """alpha, None without variation."""
    import krippendorff

    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    return float(
        krippendorff.alpha(value_counts=counts, value_domain=values, level_of_measurement=scale.value)
    )
