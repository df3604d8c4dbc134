"""Energy distance: how far apart two samples are, in any respect."""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from agentmut.stats.tests.significance import Alternative, Significance
from agentmut.stats.traces.permutation import labellings, p_values
from agentmut.stats.traces.samples import Array, check_samples, pool, standardised


def energy_distance(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|, Euclidean, of the two samples as distributions; 0 or more.

    0 only if the samples are the same distribution. In the units of the features, which are taken as they
    are. For one column it is the square of what `scipy.stats.energy_distance` returns.
    Source: G. Szekely, M. Rizzo, J. Statistical Planning and Inference 143 (2013) 1249-1272.

    Raises `ValueError` for an empty sample, NaN, infinity, or different numbers of columns.
    """
    first, second = check_samples(baseline, candidate)
    labels = np.repeat([0.0, 1.0], [len(first), len(second)])[None, :]
    return float(energies(np.concatenate([first, second]), labels)[0])


def energy_test(
    baseline: ArrayLike, candidate: ArrayLike, rng: Generator, permutations: int = 999
) -> Significance:
    """Permutation test of equal distributions by the energy distance of the standardised features.

    Columns get pooled mean 0 and standard deviation 1; constant ones are dropped. Finds changes of any
    kind, given enough traces. The smallest p is 1/(permutations + 1); p = 1 if no column varies.

    Raises `ValueError` as `energy_distance` does, or for permutations < 1.
    """
    pooled = pool(baseline, candidate)
    labels = labellings(pooled.n0, pooled.n, permutations, rng)
    found = energies(standardised(pooled.values), labels)
    size = pooled.n0 + pooled.n
    return Significance(
        float(p_values(found)[0]),
        Alternative.TWO_SIDED,
        "energy distance, permutation",
        size,
        float(found[0]),
    )


def energies(values: Array, labels: Array) -> Array:
    """The energy distance of the rows labelled 1 from those labelled 0, for each line of `labels`.

    All lines must have equally many ones. Distances between rows are computed once; a line costs one
    product with their matrix.
    """
    distance = _distances(values)
    n = float(labels[0].sum())
    n0 = labels.shape[1] - n
    from_candidates = labels @ distance
    within = (from_candidates * labels).sum(axis=1)
    total = from_candidates.sum(axis=1)
    between, rest = total - within, distance.sum() - 2 * total + within
    return np.asarray(np.maximum(2 * between / (n0 * n) - rest / n0**2 - within / n**2, 0.0))


def _distances(values: Array) -> Array:
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(values)) if values.shape[1] else np.zeros((len(values),) * 2))
