"""(p, delta, k)-satisfaction of a contract, from a PASS verdict (Proposition 3.4 of the AgentAssay paper).

An agent (p, delta, k)-satisfies a contract if over k observations in a row the rate of runs that satisfy it is p or
more, and drifts by less than delta. The paper leaves the drift open; here it is how far the rate of the k runs falls
below the true rate. Observations are runs: a PASS says nothing about the steps within one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agentmut.stats.checks import check_count, check_level


class Guarantee(NamedTuple):
    """What a lower bound of the true rate says about k further runs."""

    lower: float
    """The true rate is at least this, with the confidence of the bound."""
    k: int
    delta: float
    chance: float
    rate: float
    """p': k further runs satisfy the contract at this rate or more with a chance of at least `chance`."""
    drift: float
    """The chance that they fall delta or more below the true rate is at most this."""


class Windows(NamedTuple):
    """All stretches of k runs in a row among those observed."""

    lowest: float
    """The smallest rate of one."""
    drop: float
    """The distance of that rate below the rate of all runs."""


def guarantee(lower: float, k: int, delta: float, chance: float = 0.95) -> Guarantee:
    """Return the (p', delta, k)-satisfaction that a true rate of `lower` or more implies.

    p' = c/k with the largest c such that P(Binomial(k, lower) >= c) >= chance, and drift = max over p >= lower of
    P(Binomial(k, p) <= k (p - delta)): exact, where the paper's appendix uses Hoeffding's inequality, which gives
    p' = lower - sqrt(log(1/(1 - chance)) / (2k)) at best and exp(-2 k delta^2). p' falls short of the bound by
    O(1/sqrt(k)): the O(1/sqrt(n)) of the proposition is the part that `lower` has already paid.

    Runs must be independent, with one unchanging rate, before and after the verdict. Both statements are about a
    stretch of k runs that is fixed beforehand, not about the worst of many. Together with a bound of confidence
    1 - alpha each holds with 1 - alpha - (1 - chance) at least.

    Raises `ValueError` for a bound outside [0, 1], k below 1, delta or chance outside (0, 1).

    >>> guarantee(0.9, 20, 0.25).rate
    0.8
    """
    from scipy.stats import binom

    if not 0 <= lower <= 1:
        raise ValueError(f"lower must be a rate, got {lower!r}")
    k, chance = check_count("k", k, 1), check_level(chance)
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}")
    passes = float(binom.ppf(1 - chance, k, lower)) if lower > 0 else 0.0
    counts = np.arange(k + 1)
    rates = counts / k + delta  # the least true rate that so few passes are delta below
    possible = rates <= 1 + 1e-12
    least = np.minimum(np.maximum(rates[possible], lower), 1.0)
    drift = float(np.max(binom.cdf(counts[possible], k, least), initial=0.0))
    return Guarantee(lower, k, delta, chance, max(passes, 0.0) / k, drift)


def windows(satisfied: Sequence[bool], k: int) -> Windows | None:
    """Return the stretches of k runs among those observed, in order; None if there are fewer than k.

    They describe: the smallest of many rates is smaller than one that was chosen beforehand.

    >>> windows([True, True, False, True], 2)
    Windows(lowest=0.5, drop=0.25)
    """
    k = check_count("k", k, 1)
    if len(satisfied) < k:
        return None
    sums = np.cumsum([0, *satisfied])
    lowest = float(np.min(sums[k:] - sums[:-k])) / k
    return Windows(lowest, float(sums[-1]) / len(satisfied) - lowest)
