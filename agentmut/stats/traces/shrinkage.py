"""A covariance matrix that is invertible even with few traces and many features."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agentmut.stats.traces.samples import Array, check_sample


class Shrunk(NamedTuple):
    """A shrunk covariance matrix."""

    covariance: Array
    """d x d; denominator N."""
    shrinkage: float
    """Weight of the target, in [0, 1]."""


def ledoit_wolf(sample: ArrayLike) -> Shrunk:
    """Return (1 - s) S + s m I: the covariance S, drawn towards its mean variance m = tr(S)/d on the diagonal.

    s = min(b^2/d^2, 1) minimises the expected squared error: d^2 = |S - m I|^2, b^2 = the mean over rows of
    |x x' - S|^2, divided by N; |.| is the Frobenius norm. s = 1 where S is m I already. Positive definite
    where s > 0 and some column varies; s = 0 where all rows have the same x x', as two points do. Source:
    O. Ledoit, M. Wolf, J. Multivariate Analysis 88 (2004) 365-411.

    Raises `ValueError` for no rows, no columns, NaN or infinity.
    """
    values = check_sample("sample", sample)
    n, d = values.shape
    if d == 0:
        raise ValueError(f"sample must have at least one column, got shape {values.shape}")
    centred = values - values.mean(axis=0)
    covariance = centred.T @ centred / n
    target = np.trace(covariance) / d * np.eye(d)
    distance = float(((covariance - target) ** 2).sum())
    error = float(((centred**2).sum(axis=1) ** 2).mean() - (covariance**2).sum()) / n
    shrinkage = min(max(error, 0.0) / distance, 1.0) if distance > 0 else 1.0
    return Shrunk((1 - shrinkage) * covariance + shrinkage * target, shrinkage)
