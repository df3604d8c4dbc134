"""Energy distance: how far apart two samples are, in any respect."""

import numpy as np

from agentmut.stats.traces.permutation import row_sums
from agentmut.stats.traces.samples import Array


def energies(distance: Array, labels: Array, from_candidates: Array | None = None) -> Array:
    """Return the energy distance of the rows labelled 1 from those labelled 0, for each line of `labels`.

    `distance` is that of each row from each other. All lines must have equally many ones. `from_candidates` is
    `row_sums(labels, distance)`, where that is known already; it costs the rows of the matrix that a line labels.
    """
    n = float(labels[0].sum())
    n0 = labels.shape[1] - n
    if from_candidates is None:
        from_candidates = row_sums(labels, distance)
    within = (from_candidates * labels).sum(axis=1)
    total = from_candidates.sum(axis=1)
    between, rest = total - within, distance.sum() - 2 * total + within
    return np.asarray(np.maximum(2 * between / (n0 * n) - rest / n0**2 - within / n**2, 0.0))


def distances(values: Array) -> Array:
    """Return the Euclidean distance of each row from each other."""
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(values)) if values.shape[1] else np.zeros((len(values),) * 2))
