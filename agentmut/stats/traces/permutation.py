"""Permutation tests: the p-value of a statistic if it does not matter which rows are the candidate's."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from agentmut.stats.checks import check_count
from agentmut.stats.traces.samples import Array


class Stage(NamedTuple):
    """A number of permutations at which a test may end, since its p-value is far from any level of interest."""

    permutations: int
    beyond: float
    """The test ends here where its p-value is larger than this."""


def staged(
    labelled: Callable[[int], Array],
    permutations: int,
    stages: Sequence[Stage],
    statistics: Callable[[Array], Array],
) -> Array:
    """Return the statistics of as many labellings as a test needs: the observed one and at most `permutations`.

    `labelled` draws that many further labellings, after the observed one. The p-value is that of the last stage that
    was reached. It is valid at every level t because `beyond` falls from stage to stage: a result of at most t means
    that the first stage whose `beyond` is below t had a p-value of at most t, and that stage is a permutation test
    like any other. (J. Besag, P. Clifford, Biometrika 78 (1991) 301-304, stop by hits instead.)
    Raises `ValueError` for stages whose sizes do not grow or whose `beyond` does not fall.
    """
    if any(b.permutations <= a.permutations or b.beyond >= a.beyond for a, b in pairwise(stages)):
        raise ValueError(f"stages must have ever more permutations and ever smaller p-values, got {stages}")
    sizes = [each for each in stages if each.permutations < permutations]
    last = Stage(permutations, 1.0)
    first, *further = (*sizes, last)
    values = statistics(labelled(first.permutations))
    beyond = first.beyond
    for stage in further:
        if smallest_p(p_values(values)) > beyond:
            break
        # the observed labelling is there already
        new = labelled(stage.permutations + 1 - len(values))[1:]
        values, beyond = np.concatenate([values, statistics(new)]), stage.beyond
    return values


def labellings(n0: int, n: int, permutations: int, rng: Generator) -> Array:
    """Return (permutations + 1) x (n0 + n) of 0 and 1: which rows count as the candidate's, n in each line.

    Line 0 is the observed labelling, the others are drawn at random, with replacement.
    Raises `ValueError` for a sample of size 0 or no permutation.
    """
    n0, n = check_count("n0", n0, 1), check_count("n", n, 1)
    permutations = check_count("permutations", permutations, 1)
    labels = np.zeros((permutations + 1, n0 + n))
    labels[:, n0:] = 1.0
    labels[1:] = rng.permuted(labels[1:], axis=1)
    return labels


def row_sums(labels: Array, values: Array) -> Array:
    """Return for each line of `labels` the sum of the rows of `values` that it labels 1.

    Labels are sparse, and a product of dense matrices would wake threads that take more processor time than it does.
    """
    from scipy.sparse import csr_array

    return np.asarray(csr_array(labels) @ values)


def p_values(statistics: Array) -> Array:
    """Return for each line the share of lines whose statistic is at least as large; one for each column, if several.

    Line 0 is the observed labelling, so its p-value is (hits + 1) / (permutations + 1), never below
    1 / (permutations + 1). Statistics that differ by rounding only (1e-9 of the largest) count as equal.
    """
    scale = np.abs(statistics).max(axis=0, initial=0.0)
    rounded = np.round(statistics / np.where(scale > 0, scale, 1.0), 9)
    columns = rounded if rounded.ndim == 2 else rounded[:, None]
    lines = len(columns)
    below = np.stack([np.searchsorted(np.sort(c), c, side="left") for c in columns.T], axis=1)
    return np.asarray((lines - below) / lines).reshape(statistics.shape)


def smallest_p(parts: Array) -> float:
    """Return the p-value of the smallest of several p-values of line 0, from the lines that gave each of them.

    `parts` is lines x parts, as `p_values` gives it. Its lines are exchangeable if nothing changed, so
    the share of lines whose smallest p is at most the observed one is a p-value: no second level of permutation.
    """
    return float(ranks_of_smallest(parts)[0] / len(parts))


def ranks_of_smallest(parts: Array) -> NDArray[np.intp]:
    """Return for each line how many lines have a smallest p that is at most its own, itself included.

    Lines with the same smallest p, as many as there are parts, are told apart by the next smallest: any order of
    lines that does not look at the labels is as exact, and one with ties rejects less often than it may.
    """
    _, which, counts = np.unique(np.sort(parts, axis=1), axis=0, return_inverse=True, return_counts=True)
    return np.cumsum(counts)[which.ravel()]
