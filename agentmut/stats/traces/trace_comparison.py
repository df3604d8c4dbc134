"""Compare two samples of traces feature by feature and as a whole: has the behaviour changed?"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.tests.significance import Alternative, Significance
from agentmut.stats.traces.energy import energies
from agentmut.stats.traces.permutation import labellings, p_values, smallest_p
from agentmut.stats.traces.samples import Array, Pooled, normal_scores, pool, spread_scores
from agentmut.stats.traces.shrinkage import ledoit_wolf

METHOD = "smallest of three p-values, permutation"
PARTS = ("largest rank statistic of one feature", "Ledoit-Wolf T2 of ranks", "energy distance of ranks")


class Aspect(StrEnum):
    """What about a feature has changed."""

    LOCATION = "location"
    """Its values are larger or smaller."""
    SCALE = "scale"
    """Its values spread more or less around the pooled median."""


class Moved(NamedTuple):
    """The feature that moved most.

    >>> print(Moved(3, Aspect.LOCATION, -4.2, 0.002))
    column 3: location down, z = -4.20, p = 0.002 (over all columns)
    """

    column: int
    """Its index among the columns of the samples."""
    aspect: Aspect
    z: float
    """Mean score of the candidate, in standard deviations of its permutation distribution; negative: down."""
    p_value: float
    """Corrected for having looked at every column and both aspects."""

    def __str__(self) -> str:
        way = "down" if self.z < 0 else "up"
        return (
            f"column {self.column}: {self.aspect} {way}, z = {self.z:.2f}, "
            f"p = {self.p_value:.3g} (over all columns)"
        )


class TraceComparison(NamedTuple):
    """Whether two samples of traces differ, and in what. A large p-value is no evidence that they are equal."""

    test: Significance
    """The combined test; its statistic is the smallest p-value of the three parts."""
    parts: tuple[Significance, ...]
    """One for each of `PARTS`, by the same permutations; not corrected for being three."""
    moved: Moved | None
    """None where no column varies."""

    @property
    def strongest(self) -> Significance:
        """Return the part with the smallest p-value."""
        return min(self.parts, key=lambda part: part.p_value)

    def __str__(self) -> str:
        return f"{self.test}; {'no feature varies' if self.moved is None else self.moved}"


def compare_traces(
    baseline: ArrayLike, candidate: ArrayLike, rng: Generator, permutations: int = 999
) -> TraceComparison:
    """Test whether the candidate's traces come from another distribution than the baseline's.

    `baseline` is n0 x d, `candidate` n x d: numeric features, and for changes of order the columns of
    `bigram_counts`. Columns become normal scores of their pooled mid-ranks; constant ones are dropped.
    Three statistics are computed for the observed labels and for `permutations` random ones:

    * the largest |z| over columns of the candidate's mean score, for location and for scale
      (`spread_scores`); z is standardised by its exact permutation variance, and orders the labellings
      as the two-sample t of the scores does
    * T2 = D' C^-1 D, D the difference of mean scores, C the pooled total covariance after Ledoit-Wolf
      shrinkage; it does not depend on the labels, so it is inverted once
    * the energy distance of the scores

    Each gets a permutation p-value; the smallest of the three is compared with the same minimum of
    every other labelling. So the result is exact at every sample size if traces are exchangeable: for features
    of any kind, with ties, heavy tails and correlation. p lies in [1/(permutations + 1), 1].
    p = 1 if no column varies. Features must not depend on what the trial was chosen for: see `looks`.

    Raises `ValueError` for an empty sample, NaN, infinity, different numbers of columns, permutations < 1.
    """
    pooled = pool(baseline, candidate)
    if not pooled.values.shape[1]:  # every labelling gives 0, so none needs be drawn
        return _alike(pooled.n0 + pooled.n)
    labels = labellings(pooled.n0, pooled.n, permutations, rng)
    scores = normal_scores(pooled.values)
    z, columns, aspects = _columns(pooled, scores, labels)
    largest = np.abs(z).max(axis=1, initial=0.0)
    statistics = np.stack([largest, _t2(scores, labels), energies(scores, labels)], axis=1)
    ranked = p_values(statistics)
    size = pooled.n0 + pooled.n
    parts = tuple(
        Significance(float(p), Alternative.TWO_SIDED, f"{name}, permutation", size, float(value))
        for name, p, value in zip(PARTS, ranked[0], statistics[0], strict=True)
    )
    test = Significance(smallest_p(ranked), Alternative.TWO_SIDED, METHOD, size, float(ranked[0].min()))
    return TraceComparison(test, parts, _moved(z[0], columns, aspects, parts[0].p_value))


def _alike(size: int) -> TraceComparison:
    """Return the comparison of `size` traces that agree in every column."""
    parts = tuple(
        Significance(1.0, Alternative.TWO_SIDED, f"{name}, permutation", size, 0.0) for name in PARTS
    )
    return TraceComparison(Significance(1.0, Alternative.TWO_SIDED, METHOD, size, 1.0), parts, None)


def _columns(
    pooled: Pooled, scores: Array, labels: Array
) -> tuple[Array, NDArray[np.intp], tuple[Aspect, ...]]:
    """Return standardised mean scores, lines x (columns and aspects), with the column and aspect of each."""
    both = np.concatenate([scores, spread_scores(pooled.values)], axis=1)
    centred = both - both.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    varying = squares > 1e-12
    size = pooled.n0 + pooled.n
    deviation = np.sqrt(squares[varying] * pooled.n0 * pooled.n / (size * (size - 1)))
    z = labels @ centred[:, varying] / deviation
    aspects = np.repeat([Aspect.LOCATION, Aspect.SCALE], scores.shape[1])[varying]
    return z, np.tile(pooled.columns, 2)[varying], tuple(Aspect(a) for a in aspects)


def _t2(scores: Array, labels: Array) -> Array:
    """Return T2 for each line of labels; 0 if there is no column."""
    if scores.shape[1] == 0:
        return np.zeros(len(labels))
    n = float(labels[0].sum())
    n0 = len(scores) - n
    # sum over candidates of the centred scores = (n0 n / N) (mean of candidates - mean of baseline)
    sums = labels @ (scores - scores.mean(axis=0))
    # the shrinkage can be 0 with columns that depend on each other; directions without variance have no sums either
    inverse = np.linalg.pinv(ledoit_wolf(scores).covariance, rcond=1e-10, hermitian=True)
    return np.asarray((sums @ inverse * sums).sum(axis=1) * len(scores) / (n0 * n))


def _moved(z: Array, columns: NDArray[np.intp], aspects: tuple[Aspect, ...], p: float) -> Moved | None:
    if not len(z):
        return None
    most = int(np.abs(z).argmax())
    return Moved(int(columns[most]), aspects[most], float(z[most]), p)
