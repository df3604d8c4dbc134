"""How promising the next trial of a mutant on a scenario is: the order in which a campaign looks for kills.

The order changes no decision, since each scenario of each mutant has its own boundary. It changes how many kills are
found when the money ends.
"""

import math
from functools import lru_cache
from typing import NamedTuple

LOST = ((0.22, 0.01), (0.32, 0.015), (0.5, 0.025), (0.75, 0.02), (0.97, 0.02))
"""Relative losses of the pass rate, and the chance beforehand that a scenario of a mutant has each of them."""
LEAST = 1.0
"""A kill takes one more trial at least."""
OVERSHOOT = 1.5
"""The rule kills at less evidence than log 1/level by about this, since its boundary is optimal and not Ville's."""


class TrialCounts(NamedTuple):
    """A mutant on one scenario so far: `f` failures in `n` trials, against `f0` in `n0` of the original."""

    f0: int
    n0: int
    n: int
    f: int


@lru_cache(maxsize=65_536)
def kills_per_trial(seen: TrialCounts, log_evidence: float, level: float) -> float:
    """Return about how many kills a further trial brings, between 0 and the chance that there is a drop.

    The sum over losses u of P(u | trials) / max(1, missing evidence / KL(psi_u || phi)). Here phi is
    (f0 + 1/2)/(n0 + 1), psi_u is phi + (1 - phi) u, and the missing evidence is log(1/level) - 1.5 - `log_evidence`.
    `log_evidence` is log m1/m0. The prior gives no loss a chance of 0.91.
    """
    phi = (seen.f0 + 0.5) / (seen.n0 + 1)
    missing = math.log(1 / level) - OVERSHOOT - log_evidence
    rates = [min(1 - 1e-4, phi + (1 - phi) * lost) for lost, _ in LOST]
    logs = [_log_likelihood(rate, seen) for rate in (phi, *rates)]
    top = max(logs)
    priors = (1 - sum(chance for _, chance in LOST), *(chance for _, chance in LOST))
    weights = [prior * math.exp(log - top) for prior, log in zip(priors, logs, strict=True)]
    each = (
        w / max(LEAST, missing / _divergence(psi, phi)) for w, psi in zip(weights[1:], rates, strict=True)
    )
    return sum(each) / sum(weights)


def _log_likelihood(rate: float, seen: TrialCounts) -> float:
    return seen.f * math.log(rate) + (seen.n - seen.f) * math.log(1 - rate)


def _divergence(psi: float, phi: float) -> float:
    return psi * math.log(psi / phi) + (1 - psi) * math.log((1 - psi) / (1 - phi))
