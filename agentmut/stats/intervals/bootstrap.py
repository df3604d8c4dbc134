"""Bootstrap intervals, for statistics without a formula. Resampling is scipy's."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_count, check_level, check_name
from agentmut.stats.intervals.proportion import Interval

Array = NDArray[np.float64]
Statistic = Callable[..., Any]
"""A function of one array for each sample; with `vectorized` also of an `axis`, along which it reduces."""
Method = Literal["bca", "percentile"]
LARGEST_BCA = 20_000
"""Most values of a sample for bca, which looks at the sample without each of them: time grows with the square."""
BATCH = 4_000_000
"""Numbers drawn at a time, which bounds the memory."""


def bootstrap(
    samples: ArrayLike | Sequence[ArrayLike],
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    method: Method = "bca",
    resamples: int = 9999,
    vectorized: bool = False,
    paired: bool = False,
) -> Interval:
    """Return an interval for a statistic of one sample, or of several: `statistic(*samples)`.

    `samples` is one row of numbers or a sequence of rows. Rows are drawn from independently, each with
    replacement; with `paired` they have one length and are drawn from by position. `percentile` takes the
    (1-level)/2 and (1+level)/2 quantiles of the statistic over the resamples; `bca` moves these for bias and
    skewness (Efron, JASA 82 (1987) 171-185). With `vectorized` the statistic is called once for many resamples, as
    `statistic(*rows, axis=-1)`. The generator alone decides the result.

    Both are asymptotic and fall short of `level` in small samples: for the mean of exponential values, 95 %
    intervals cover about 0.86 (percentile) and 0.87 (bca) at n = 10, 0.92 at n = 30.

    Degenerate cases. A sample of one value: (-inf, inf), for nothing is known of how it varies. A statistic that
    is the same on every resample, as with equal values: no width, which says that the sample does not vary, not
    that the population doesn't. `bca` that cannot be computed (no resample above or below the estimate, or a
    statistic that no single value changes), or would take too long (above 20,000 values in a sample, where the two
    hardly differ): the percentile interval, and `method` says so.

    Raises `ValueError` for an empty sample, values that are not finite, samples that are not rows, paired samples
    of unequal length, fewer than 2 resamples, a level outside (0, 1), an unknown method, an rng that is
    no Generator, and a statistic that is
    not a finite number on the sample or on a resample.
    """
    rows = _rows(samples, paired)
    level, resamples = check_level(level), check_count("resamples", resamples, 2)
    check_name("method", method, get_args(Method))
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng must be a numpy.random.Generator, got {rng!r}")
    options = {"axis": -1} if vectorized else {}
    estimate = _finite(statistic(*rows, **options), "the sample")
    n = len(rows[0]) if paired else sum(map(len, rows))
    name = f"{method} bootstrap, {resamples} resamples"
    if min(map(len, rows)) == 1:
        return Interval(estimate, -math.inf, math.inf, level, n, name)

    drawn = _resampled(rows, statistic, "percentile", level, rng, resamples, vectorized, paired)
    _finite(drawn.bootstrap_distribution, "a resample")
    values = np.asarray(drawn.bootstrap_distribution)
    if np.ptp(values) <= 1e-12 * float(np.max(np.abs(values))):
        return Interval(estimate, estimate, estimate, level, n, name)
    if method == "bca" and max(map(len, rows)) > LARGEST_BCA:
        name = f"percentile bootstrap (bca beyond {LARGEST_BCA} values takes too long), {resamples} resamples"
    elif method == "bca":
        moved = _resampled(rows, statistic, "BCa", level, rng, 0, vectorized, paired, drawn)
        low, high = map(float, moved.confidence_interval)
        if low <= high:  # not if either is NaN
            return Interval(estimate, low, high, level, n, name)
        name = f"percentile bootstrap (bca undefined), {resamples} resamples"
    low, high = map(float, drawn.confidence_interval)
    return Interval(estimate, low, high, level, n, name)


def _resampled(
    rows: list[Array],
    statistic: Statistic,
    method: Literal["percentile", "BCa"],
    level: float,
    rng: np.random.Generator,
    resamples: int,
    vectorized: bool,
    paired: bool,
    drawn: Any = None,
) -> Any:
    from scipy import stats

    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # a degenerate distribution is dealt with by the caller
        return stats.bootstrap(
            rows,
            statistic,
            n_resamples=resamples,
            batch=max(1, BATCH // sum(map(len, rows))),
            vectorized=vectorized,
            paired=paired,
            axis=-1,
            confidence_level=level,
            method=method,
            bootstrap_result=drawn,
            random_state=rng,
        )


def _rows(samples: ArrayLike | Sequence[ArrayLike], paired: bool) -> list[Array]:
    first: Any = samples[0] if isinstance(samples, Sequence) and len(samples) else samples
    several = np.ndim(first) > (0 if first is not samples else 1)
    items: Any = samples if several else [samples]
    rows = [np.asarray(row, dtype=np.float64) for row in items]
    for row in rows:
        if row.ndim != 1 or row.size == 0:
            raise ValueError(f"a sample must be one row of at least one number, got the shape {row.shape}")
        if not np.isfinite(row).all():
            raise ValueError("samples must be finite numbers, got NaN or infinity")
    if paired and len({row.size for row in rows}) > 1:
        raise ValueError(f"paired samples must have one length, got {[row.size for row in rows]}")
    return rows


def _finite(values: Any, where: str) -> float:
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"statistic must be a finite number, got NaN or infinity on {where}")
    return float(found.ravel()[0])
