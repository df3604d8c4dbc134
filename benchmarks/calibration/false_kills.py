"""Chances of a kill and of survival for one baseline, and false-kill rates over all baselines: exact."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_rate
from agentmut.stats.kill.characteristics import (
    Endings,
    TableOf,
    baseline_weights,
    chance_of,
    decision_probability,
    endings,
)
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table

Array = NDArray[np.float64]


class Supremum(NamedTuple):
    """The largest value of a probability over all true failure rates, and the rate where it is attained."""

    value: float
    phi: float


def kill_probability(table: KillTable, phi: float) -> float:
    """P(KILLED), given this baseline, when the mutant fails at rate `phi` in [0, 1]; 0 where untestable."""
    return float(decision_probability(table, Decision.KILLED, check_rate("phi", phi, closed=True))[0])


def survive_probability(table: KillTable, psi: float) -> float:
    """P(SURVIVED), given this baseline, when the mutant fails at rate `psi` in [0, 1]; 0 where untestable."""
    return float(decision_probability(table, Decision.SURVIVED, check_rate("psi", psi, closed=True))[0])


def false_kill_supremum(n0: int, design: KillDesign, table_of: TableOf = decision_table) -> Supremum:
    """Return the largest false-kill rate over all true failure rates, to about 1e-6.

    The rate is a polynomial in phi; its maximum is searched on 400 points equally spaced in
    arcsin(sqrt(phi)), then on 200 points around the best.
    """
    killed = _killing(n0, design, table_of)
    low, high = 0.0, np.pi / 2
    for points in (401, 201):
        angles = np.linspace(low, high, points)
        rates = _false_kills(killed, np.sin(angles) ** 2)
        best, step = int(rates.argmax()), angles[1] - angles[0]
        low, high = max(0.0, angles[best] - step), min(np.pi / 2, angles[best] + step)
    return Supremum(float(rates[best]), float(np.sin(angles[best]) ** 2))


def false_kill_rates(
    n0: int, design: KillDesign, phi: ArrayLike, table_of: TableOf = decision_table
) -> Array:
    """Return the exact false-kill rate at each true failure rate in `phi`, averaged over the draw of the baseline."""
    return _false_kills(_killing(n0, design, table_of), np.atleast_1d(np.asarray(phi, dtype=float)))


def _killing(n0: int, design: KillDesign, table_of: TableOf) -> list[Endings | None]:
    return [endings(table_of(f0, n0, design)).get(Decision.KILLED) for f0 in range(n0 + 1)]


def _false_kills(killed: list[Endings | None], phi: Array) -> Array:
    weights = baseline_weights(len(killed) - 1, phi)
    rates: Array = sum(
        (w * chance_of(ends, phi).sum(axis=0) for w, ends in zip(weights, killed, strict=True)),
        np.zeros(len(phi)),
    )
    return rates
