"""Compare two samples of traces feature by feature and as a whole: has the behaviour changed?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.tests.significance import Alternative, Significance
from agentmut.stats.traces.energy import distances, energies
from agentmut.stats.traces.permutation import Stage, labellings, p_values, row_sums, smallest_p, staged
from agentmut.stats.traces.samples import Array, PooledSamples, normal_scores, pool, spread_scores
from agentmut.stats.traces.shrinkage import ledoit_wolf

METHOD = "smallest of three p-values, permutation"
PARTS = ("largest rank statistic of one feature", "Ledoit-Wolf T2 of ranks", "energy distance of ranks")

WELL_CONDITIONED = 1e-6
"""A shrinkage above it leaves no direction without variance, so that Cholesky's factor serves."""


class Aspect(StrEnum):
    """What about a feature has changed."""

    LOCATION = "location"
    """Its values are larger or smaller."""
    SCALE = "scale"
    """Its values spread more or less around the pooled median."""


class MovedFeature(NamedTuple):
    """The feature that moved most.

    >>> print(MovedFeature(3, Aspect.LOCATION, -4.2, 0.002))
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
    moved: MovedFeature | None
    """None where no column varies."""

    def __str__(self) -> str:
        return f"{self.test}; {'no feature varies' if self.moved is None else self.moved}"


def compare_traces(
    baseline: ArrayLike,
    candidate: ArrayLike,
    rng: Generator,
    permutations: int = 999,
    stages: Sequence[Stage] = (),
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
    With `stages` the test ends at the first one whose p-value is clearly too large (`staged`); it stays exact.
    p = 1 if no column varies. Features must not depend on what the trial was chosen for: see `looks`.

    Raises `ValueError` for an empty sample, NaN, infinity, different numbers of columns, permutations < 1.
    """
    pooled = pool(baseline, candidate)
    if not pooled.values.shape[1]:  # every labelling gives 0, so none needs be drawn
        return comparison_of(pooled, None, np.zeros((1, len(PARTS))), 1.0)
    prepared = StandardisedPool.from_samples(pooled, [Block(pooled.n0, pooled.n)])
    draw = partial(labellings, pooled.n0, pooled.n, rng=rng)
    statistics = staged(draw, permutations, stages, prepared.statistics)
    return comparison_of(pooled, prepared, statistics, smallest_p(p_values(statistics)))


def comparison_of(
    pooled: PooledSamples, prepared: "StandardisedPool | None", statistics: Array, p_value: float
) -> TraceComparison:
    """Return the comparison of two samples from the statistics of all labellings, lines x `PARTS`, and its p-value.

    Without anything prepared no column varies.
    """
    ranked, size = p_values(statistics), pooled.n0 + pooled.n
    parts = tuple(
        Significance(float(p), Alternative.TWO_SIDED, f"{name}, permutation", size, float(value))
        for name, p, value in zip(PARTS, ranked[0], statistics[0], strict=True)
    )
    test = Significance(p_value, Alternative.TWO_SIDED, METHOD, size, float(ranked[0].min()))
    moved = None if prepared is None else prepared.moved(pooled.n0, parts[0].p_value)
    return TraceComparison(test, parts, moved)


class Block(NamedTuple):
    """Rows whose labels are permuted among each other: so many of the baseline, and so many of the candidate."""

    n0: int
    n: int


@dataclass(frozen=True)
class StandardisedPool:
    """What the statistics of every labelling of two samples are made of; each is a product with the labels."""

    columns: NDArray[np.intp]
    """The column of each standardised score; a column is there once for each aspect in which it varies."""
    aspects: tuple[Aspect, ...]
    standardised: Array
    """Rows x `columns`: a labelling's sums are the z of its columns."""
    whitened: Array
    """Rows x directions: a labelling's sums, squared and added up, are its T2."""
    distance: Array

    @classmethod
    def from_samples(cls, pooled: PooledSamples, blocks: Sequence[Block]) -> "StandardisedPool":
        """Prepare samples whose rows are, on either side, those of the first block, then those of the second, ...

        Scores are those of all rows together, centred within blocks. The sum over a block's candidates has, over its
        labellings, n0 n / (N (N - 1)) times the block's sum of squares as its variance, N = n0 + n.
        """
        at = rows_of(blocks)
        scores = normal_scores(pooled.values)
        both = np.concatenate([scores, spread_scores(pooled.values)], axis=1)
        centred, variance = both.copy(), np.zeros(both.shape[1])
        for block, rows in zip(blocks, at, strict=True):
            centred[rows] -= both[rows].mean(axis=0)
            size = block.n0 + block.n
            variance += (centred[rows] ** 2).sum(axis=0) * (block.n0 * block.n / (size * (size - 1)))
        varying = variance > 1e-12
        aspects = np.repeat([Aspect.LOCATION, Aspect.SCALE], scores.shape[1])[varying]
        return cls(
            np.tile(pooled.columns, 2)[varying],
            tuple(Aspect(a) for a in aspects),
            centred[:, varying] / np.sqrt(variance[varying]),
            _whitened(centred[:, : scores.shape[1]])
            / np.sqrt(sum(b.n0 * b.n / (b.n0 + b.n) for b in blocks)),
            distances(scores),
        )

    def statistics(self, labels: Array) -> Array:
        """Return lines x `PARTS`."""
        values = [self.standardised, self.whitened, self.distance]
        ends = np.cumsum([each.shape[1] for each in values])[:-1]
        z, whitened, apart = np.split(row_sums(labels, np.concatenate(values, axis=1)), ends, axis=1)
        largest = np.abs(z).max(axis=1, initial=0.0)
        # in one block, the sum over candidates of the centred scores = (n0 n / N) (their mean - the baseline's)
        return np.stack([largest, (whitened**2).sum(axis=1), energies(self.distance, labels, apart)], axis=1)

    def moved(self, n0: int, p: float) -> MovedFeature | None:
        """Return the column that moved most in the observed labelling, which has `n0` rows of the baseline."""
        if not len(self.columns):
            return None
        z = self.standardised[n0:].sum(axis=0)
        most = int(np.abs(z).argmax())
        return MovedFeature(int(self.columns[most]), self.aspects[most], float(z[most]), p)


def rows_of(blocks: Sequence[Block]) -> list[NDArray[np.intp]]:
    """Return the rows of each block in a matrix that has all rows of the baseline first, block by block."""
    before, now, n0 = 0, 0, sum(block.n0 for block in blocks)
    rows = []
    for block in blocks:
        there = np.arange(before, before + block.n0), np.arange(n0 + now, n0 + now + block.n)
        rows.append(np.concatenate(there))
        before, now = before + block.n0, now + block.n
    return rows


def _whitened(scores: Array) -> Array:
    """Return centred scores in directions that the shrunk covariance makes independent, each with variance 1.

    The shrinkage can be 0 with columns that depend on each other; directions without variance have no sums either.
    """
    shrunk = ledoit_wolf(scores)
    if shrunk.shrinkage > WELL_CONDITIONED:
        return np.asarray(np.linalg.solve(np.linalg.cholesky(shrunk.covariance), scores.T).T)
    variances, directions = np.linalg.eigh(shrunk.covariance)
    there = variances > 1e-10 * variances[-1]
    return np.asarray(scores @ (directions[:, there] / np.sqrt(variances[there])))
