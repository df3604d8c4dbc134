"""The group that a batch of rows is nearest to, where rows come in blocks; and how often batches are told wrongly.

A row is the effect of its block, the effect of its group, and noise. Effects of groups are fitted by least squares
within blocks, so it makes no difference which blocks a group has more rows of. A batch is centred by the effects of its
blocks. Its squared distance from a group is counted less what the noise of the fitted effects adds to it, so a group is
not nearer for being known from more rows.

The error rate is that of batches which are left out in turn. Without a batch, fewer rows are known than the answer
rests on, which makes errors more frequent: the probit of the error is stretched by the ratio of the standard deviations
of the margin between two groups, both known from the design. Where batches are told no better than by guessing, the
error stays that of guessing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.traces.samples import Array

Whole = NDArray[np.int64]


class GroupFit(NamedTuple):
    """Effects of groups: a row for each, with covariance `noise` times `spread`."""

    effects: Array
    spread: Array
    """[groups, groups]"""


class _Batch(NamedTuple):
    """A batch beside the blocks that its rows are of."""

    mean: Array
    rows: int
    weights: Array
    """The share of the batch in each of these blocks."""
    sums: Array
    """[blocks, groups, columns]: known rows of these blocks, summed."""
    counts: Array
    """[blocks, groups]"""

    @property
    def sizes(self) -> Array:
        """Return the number of known rows of each block."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def mix(self) -> Array:
        """Return the share that each group has in what the batch is centred by."""
        return np.asarray((self.weights / self.sizes) @ self.counts)


def _part(sums: Array, counts: Array) -> tuple[Array, Array]:
    """Return what blocks add to the normal equations of the effects of groups: their matrix and right side."""
    sizes = np.maximum(counts.sum(axis=1), 1)[:, None]
    matrix = np.diag(counts.sum(axis=0)) - counts.T @ (counts / sizes)
    return matrix, sums.sum(axis=0) - counts.T @ (sums.sum(axis=1) / sizes)


@dataclass(frozen=True)
class GroupedRows:
    """Known rows: `groups` and `blocks` number the group and the block of each, from 0."""

    values: Array
    groups: Whole
    blocks: Whole

    @cached_property
    def counts(self) -> Array:
        """Return the number of rows, [blocks, groups]."""
        numbers = np.zeros((self.blocks.max() + 1, self.groups.max() + 1))
        np.add.at(numbers, (self.blocks, self.groups), 1)
        return numbers

    @cached_property
    def sums(self) -> Array:
        """Return the sums of the rows, [blocks, groups, columns]."""
        totals = np.zeros((*self.counts.shape, self.values.shape[1]))
        np.add.at(totals, (self.blocks, self.groups), self.values)
        return totals

    @cached_property
    def _normal(self) -> tuple[Array, Array]:
        return _part(self.sums, self.counts)

    @property
    def comparable(self) -> bool:
        """Return whether blocks with rows of several groups connect all groups."""
        return bool(int(np.linalg.matrix_rank(self._normal[0])) == self.counts.shape[1] - 1)

    @cached_property
    def fit(self) -> GroupFit:
        """Return the effects by all rows."""
        return _solved(*self._normal)

    @cached_property
    def noise(self) -> float:
        """Return the unbiased variance of a row, summed over columns; 0 where no row is left to tell it."""
        sizes = np.maximum(self.counts.sum(axis=1), 1)[:, None]
        within = float((self.values**2).sum() - (self.sums.sum(axis=1) ** 2 / sizes).sum())
        degrees = len(self.values) - np.count_nonzero(self.counts.sum(axis=1)) - (self.counts.shape[1] - 1)
        return (
            max(0.0, within - float((self.fit.effects * self._normal[1]).sum())) / degrees
            if degrees > 0
            else 0.0
        )

    def nearest(self, values: Array, blocks: Whole) -> int:
        """Return the group that these further rows are nearest to; all must be of known blocks."""
        of, weights = _shares(blocks)
        batch = _Batch(values.mean(axis=0), len(values), weights, self.sums[of], self.counts[of])
        return int(np.argmin(_distances(batch, self.fit, self.noise)))

    def left_out(self, rows: Whole) -> "LeftOut | None":
        """Return whether these known rows of one group are told rightly without themselves; None: they cannot be.

        Of a block that has no other row, nothing is known without the row, so such rows are left out only.
        """
        group = int(self.groups[rows[0]])
        of = np.unique(self.blocks[rows])
        sums, counts = self.sums[of].copy(), self.counts[of].copy()
        at = np.searchsorted(of, self.blocks[rows])
        np.subtract.at(sums[:, group], at, self.values[rows])
        np.subtract.at(counts[:, group], at, 1)
        before, after = _part(self.sums[of], self.counts[of]), _part(sums, counts)
        fit = _solved(
            *(whole - old + new for whole, old, new in zip(self._normal, before, after, strict=True))
        )
        informative = rows[counts[at].sum(axis=1) > 0]
        if not len(informative):
            return None
        of_told, weights = _shares(self.blocks[informative])
        place = np.searchsorted(of, of_told)
        batch = _Batch(
            self.values[informative].mean(axis=0), len(informative), weights, sums[place], counts[place]
        )
        full = batch._replace(sums=self.sums[of_told], counts=self.counts[of_told])
        wrong = int(np.argmin(_distances(batch, fit, self.noise))) != group
        return LeftOut(group, wrong, self._stretch((batch, fit), full._replace(rows=len(rows)), group))

    def _stretch(self, without: tuple[_Batch, GroupFit], full: _Batch, group: int) -> tuple[float, float]:
        """Return the variances of the margin without and with the rows, over the other groups."""
        apart = ((self.fit.effects - self.fit.effects[group]) ** 2).sum(axis=1)
        more = _of_pairs(without[1].spread, group) - _of_pairs(self.fit.spread, group)
        others = np.arange(len(apart)) != group
        products = (
            _of_margin(*without, group) * (apart + self.noise * np.maximum(more, 0.0)),
            _of_margin(full, self.fit, group) * apart,
        )
        return float(products[0][others].sum()), float(products[1][others].sum())


class LeftOut(NamedTuple):
    """A batch of known rows that is told without itself."""

    group: int
    wrong: bool
    variances: tuple[float, float]
    """Of its margin: without these rows among the known ones, and with all known rows."""


def _solved(matrix: Array, right: Array) -> GroupFit:
    spread = np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
    return GroupFit(np.asarray(spread @ right, dtype=np.float64), spread)


def _shares(blocks: Whole) -> tuple[Whole, Array]:
    """Return the blocks that occur, and the share of each."""
    of, counts = np.unique(blocks, return_counts=True)
    return of, counts / len(blocks)


def _distances(batch: _Batch, fit: GroupFit, noise: float) -> Array:
    """Return the squared distance from each group, less what the noise of the effects adds."""
    rest = batch.mean - (batch.weights / batch.sizes) @ batch.sums.sum(axis=1)
    toward = batch.mix - np.eye(len(fit.effects))
    added = np.einsum("gi,ij,gj->g", toward, fit.spread, toward)
    return np.asarray(((rest + toward @ fit.effects) ** 2).sum(axis=1) - noise * added)


def _of_pairs(spread: Array, group: int) -> Array:
    """Return the variance of the difference between each group's effect and that of `group`, in units of the noise."""
    return np.asarray(np.diag(spread) + spread[group, group] - 2 * spread[group])


def _of_margin(batch: _Batch, fit: GroupFit, group: int) -> Array:
    """Return the variance of a batch about the middle of each group and `group`, in units of the noise."""
    unit = np.eye(len(fit.effects))
    toward = batch.mix - (unit + unit[group]) / 2
    own = 1 / batch.rows + float((batch.weights**2 / batch.sizes).sum())
    return np.asarray(own + np.einsum("gi,ij,gj->g", toward, fit.spread, toward))


def error_rates(rows: GroupedRows, batches: Sequence[Whole]) -> dict[int, float]:
    """Return for each group the chance that a batch of its rows is told wrongly, from known batches left out in turn.

    Each batch has numbers of rows of one group. A group none of whose batches can be told is not in the answer.
    """
    batches_judged = [found for batch in batches if (found := rows.left_out(batch)) is not None]
    sums = (
        np.array([each.variances for each in batches_judged]).sum(axis=0) if batches_judged else np.zeros(2)
    )
    stretch = float(np.sqrt(sums[0] / sums[1])) if sums[1] > 0 else 1.0
    wrong: dict[int, list[bool]] = {}
    for each in batches_judged:
        wrong.setdefault(each.group, []).append(each.wrong)
    guess = 1 - 1 / rows.counts.shape[1]
    return {
        group: _stretched(sum(each) / len(each), max(1.0, stretch), guess) for group, each in wrong.items()
    }


def _stretched(error: float, by: float, guess: float) -> float:
    """Return the error with its probit moved away from that of guessing by this factor."""
    if error in (0.0, 1.0):
        return error
    normal = NormalDist()
    middle = normal.inv_cdf(guess)
    return normal.cdf(middle + by * (normal.inv_cdf(error) - middle))
