"""The chances of 0 to n successes, for many rates at once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def binomials(n: int, rates: Floats) -> Floats:
    """Return in row i the chances of 0..n successes at rates[i], shape (len(rates), n + 1). Rates are in [0, 1].

    By logarithms, since scipy.stats.binom.pmf overflows at rates of 1e-308 and takes ten times as long.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    k, p = np.arange(n + 1), rates[:, None]
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p)))
