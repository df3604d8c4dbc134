"""Tests that a candidate's pass rate is worse by less than a margin.

All tests here take the baseline's passes first. The hypothesis to reject is p_c <= p_b - delta, so a small
p-value is evidence that the candidate is not worse by delta or more. A large p-value is evidence of nothing.
"""

import math
from enum import StrEnum
from typing import TYPE_CHECKING

from agentmut.stats.checks import check_choice, check_count, check_rate
from agentmut.stats.intervals.proportion import wilson_bounds
from agentmut.stats.tests.proportions import normal_p
from agentmut.stats.tests.significance import Alternative, Significance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

LARGEST_TABLE = 1_000_000
"""Most pairs of counts, (n_c + 1)(n_b + 1), that the exact test enumerates: some seconds."""
LARGEST_SAMPLE = 5000
"""Most trials of one sample in the exact test: more would fall between the rates that it looks at."""
RATES = 256
"""True rates at which the exact test looks for the least favourable one, before it looks closer."""
AT_ONCE = 1000
"""Trials of both samples up to which all these rates are looked at in one go, in some megabytes."""
LARGEST_Z = 8.0
"""Where the Newcombe test ends: its p-values are not below 6e-16."""


class MarginTest(StrEnum):
    """How evidence against a drop by the margin is measured."""

    EXACT = "exact"
    """Tables ordered by the score statistic; their chance at the least favourable pair of rates that are
    delta apart. Keeps its level exactly."""
    SCORE = "score"
    """Farrington and Manning's score statistic against the normal distribution. For any size. Its error
    exceeds a level of .05 by up to .02 and one of .2 by up to .06 at 30 to 100 trials."""
    NEWCOMBE = "newcombe"
    """Agrees with Newcombe's interval for the difference: significant at a level exactly if the one-sided
    limit excludes the margin. Errors similar to those of the score test."""


def noninferiority_test(
    k_b: int, n_b: int, k_c: int, n_c: int, delta: float, method: MarginTest = MarginTest.EXACT
) -> Significance:
    """Test p_c <= p_b - delta, one-sided, against p_c > p_b - delta.

    `k_b` passes in `n_b` trials of the baseline, `k_c` in `n_c` of the candidate. The statistic is
    (k_c/n_c - k_b/n_b + delta) / sqrt(q(1-q)/n_c + r(1-r)/n_b), where q = r - delta and r are the most
    likely rates under the hypothesis that they differ by just delta; for NEWCOMBE it is the normal quantile
    at which the limit touches the margin. Never 0/0, as q and r cannot both be 0 or 1. A baseline that
    passes less often than delta makes any candidate non-inferior: the test says so, and means nothing.
    Sources: C. P. Farrington and G. Manning, Stat. Med. 9 (1990) 1447-1454; I. S. F. Chan, Stat. Med. 17
    (1998) 1403-1413; R. G. Newcombe, Stat. Med. 17 (1998) 873-890.

    Raises `ValueError` for an empty sample, k > n, a delta outside (0, 1), and for EXACT when
    (n_b + 1)(n_c + 1) is above one million or a sample above 5000: use SCORE there.
    """
    return _margin_test(k_b, n_b, k_c, n_c, delta, method, Alternative.GREATER)


def exact_is_affordable(n_b: int, n_c: int) -> bool:
    """Return whether the exact test takes at most some seconds and 100 MB for samples of these sizes."""
    return (n_b + 1) * (n_c + 1) <= LARGEST_TABLE and max(n_b, n_c) <= LARGEST_SAMPLE


def _margin_test(
    k_b: int, n_b: int, k_c: int, n_c: int, delta: float, method: MarginTest, side: Alternative
) -> Significance:
    method, delta = check_choice("method", method, MarginTest), check_rate("delta", delta)
    n_b, n_c = check_count("n_b", n_b, 1), check_count("n_c", n_c, 1)
    k_b, k_c = check_count("k_b", k_b, 0, n_b), check_count("k_c", k_c, 0, n_c)
    statistic, p = _TESTS[method](k_b, n_b, k_c, n_c, delta, side)
    what = "non-inferiority" if side is Alternative.GREATER else "inferiority"
    return Significance(p, side, f"{method} {what} by {delta:g}", n_b + n_c, statistic)


def score_statistic(
    k_b: "ArrayLike", n_b: "ArrayLike", k_c: "ArrayLike", n_c: "ArrayLike", delta: float
) -> "Array":
    """Return Farrington and Manning's statistic, elementwise; counts are broadcast and n must be positive.

    The restricted estimate is the root in [0, 1 - delta] of the likelihood equation, a cubic in p_c.
    """
    import numpy as np

    k_b, n_b, k_c, n_c = (np.asarray(count, dtype=np.float64) for count in (k_b, n_b, k_c, n_c))
    n, k = n_b + n_c, k_b + k_c
    c2 = ((n_b + 2 * n_c) * delta - n - k) / n
    c1 = ((n_c * delta - n - 2 * k_c) * delta + k) / n
    c0 = k_c * delta * (1 - delta) / n
    bend = c2**3 / 27 - c1 * c2 / 6 + c0 / 2
    spread = np.copysign(np.sqrt(np.maximum(c2**2 / 9 - c1 / 3, 0.0)), bend)
    cosine = np.divide(bend, spread**3, out=np.zeros(np.shape(bend)), where=spread != 0)
    angle = (np.pi + np.arccos(np.clip(cosine, -1, 1))) / 3
    q = np.clip(2 * spread * np.cos(angle) - c2 / 3, 0, 1 - delta)
    r = q + delta
    statistic: Array = (k_c / n_c - k_b / n_b + delta) / np.sqrt(q * (1 - q) / n_c + r * (1 - r) / n_b)
    return statistic


def _score(k_b: int, n_b: int, k_c: int, n_c: int, delta: float, side: Alternative) -> tuple[float, float]:
    z = float(score_statistic(k_b, n_b, k_c, n_c, delta))
    return z, normal_p(z, side)


def _exact(k_b: int, n_b: int, k_c: int, n_c: int, delta: float, side: Alternative) -> tuple[float, float]:
    import numpy as np

    if not exact_is_affordable(n_b, n_c):
        raise ValueError(
            f"(n_b + 1)(n_c + 1) must be at most {LARGEST_TABLE} and n_b, n_c at most {LARGEST_SAMPLE} for the "
            f"exact test, got n_b={n_b}, n_c={n_c}: use {MarginTest.SCORE!r}"
        )
    table = score_statistic(np.arange(n_b + 1), n_b, np.arange(n_c + 1)[:, None], n_c, delta)
    observed = float(table[k_c, k_b])
    extreme = table >= observed - 1e-9 if side is Alternative.GREATER else table <= observed + 1e-9
    return observed, _largest_chance(extreme, delta)


def _largest_chance(region: "NDArray[np.bool_]", delta: float) -> float:
    """Return the supremum over p of the chance of `region`, indexed [k_c, k_b], at p_b = p and p_c = p - delta."""
    import numpy as np

    from agentmut.stats.binomial import binomials

    n_c, n_b, extreme = region.shape[0] - 1, region.shape[1] - 1, region.astype(np.float64)

    def chances(rates: "Array") -> "Array":
        rates = np.minimum(rates, 1)
        candidate, baseline = binomials(n_c, np.maximum(rates - delta, 0)), binomials(n_b, rates)
        found: Array = np.einsum("gi,gi->g", candidate, baseline @ extreme.T)
        return found

    coarse = delta + (1 - delta) * np.sin(np.linspace(0, np.pi / 2, RATES)) ** 2
    parts = 16 if n_b + n_c > AT_ONCE else 1
    top = int(np.concatenate([chances(part) for part in np.split(coarse, parts)]).argmax())
    closer = np.linspace(coarse[max(top - 1, 0)], coarse[min(top + 1, RATES - 1)], 33)
    return min(1.0, float(chances(closer).max()))


def _newcombe(k_b: int, n_b: int, k_c: int, n_c: int, delta: float, side: Alternative) -> tuple[float, float]:
    """Return the normal quantile at which the limit touches -delta; the upper limit if the estimate is below it."""
    from scipy.optimize import brentq

    difference, sign = k_c / n_c - k_b / n_b, 1.0
    if difference < -delta:
        k_c, n_c, k_b, n_b, sign = k_b, n_b, k_c, n_c, -1.0

    def beyond(z: float) -> float:
        """Return how far the margin is outside the limit that belongs to z."""
        down, up = wilson_bounds(k_c, n_c, z)[0], wilson_bounds(k_b, n_b, z)[1]
        return abs(difference + delta) - math.hypot(k_c / n_c - down, up - k_b / n_b)

    smallest = 1e-6
    if beyond(smallest) <= 0:
        z = 0.0
    else:
        z = LARGEST_Z if beyond(LARGEST_Z) >= 0 else float(brentq(beyond, smallest, LARGEST_Z))
    return sign * z, normal_p(sign * z, side)


_TESTS = {MarginTest.EXACT: _exact, MarginTest.SCORE: _score, MarginTest.NEWCOMBE: _newcombe}
