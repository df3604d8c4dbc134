"""Energy distance: how far apart two samples are, in any respect."""

import numpy as np

from agentmut.stats.traces.samples import Array


def energies(values: Array, labels: Array) -> Array:
    """Return the energy distance of the rows labelled 1 from those labelled 0, for each line of `labels`.

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
