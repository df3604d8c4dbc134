"""The exact behaviour of a decision table at a true failure rate, by counting the paths to each ending."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table

Array = NDArray[np.float64]
TableOf = Callable[[int, int, KillDesign], KillTable]
RARE = 1e-10
"""Baselines less likely than this are left out of averages."""


class Endings(NamedTuple):
    """Where the trials can end: one entry for each state, with the number of paths that arrive there undecided."""

    n: Array
    f: Array
    paths: Array


class OperatingCharacteristics(NamedTuple):
    """Chances of each decision and mean number of trials, averaged over the draw of the baseline."""

    killed: float
    survived: float
    undecided: float
    untestable: float
    """Chance that the baseline leaves no room for a drop; such a baseline costs no trial."""
    trials: float
    """Mean trials of the mutant, those of undecided and untestable cases included."""


@lru_cache(maxsize=256)
def endings(table: KillTable) -> Mapping[Decision, Endings]:
    """Return the states in which the table ends the trials, by decision. Empty for an untestable baseline."""
    return endings_after(table, 0, {} if table.untestable else {0: 1.0})


def endings_after(table: KillTable, trials: int, alive: Mapping[int, float]) -> Mapping[Decision, Endings]:
    """Return where the table ends sequences that it leaves undecided after so many trials: `alive`, by failures."""
    ended: dict[Decision, list[tuple[int, int, float]]] = defaultdict(list)
    for n in range(trials + 1, table.design.n_max + 1):
        arrived: dict[int, float] = defaultdict(float)
        for f, paths in alive.items():
            arrived[f] += paths
            arrived[f + 1] += paths
        alive = {}
        for f, paths in arrived.items():
            decision = table.decide(n, f)
            if decision is Decision.CONTINUE:
                alive[f] = paths
            else:
                ended[decision].append((n, f, paths))
    return {decision: Endings(*np.array(states, dtype=float).T) for decision, states in ended.items()}


def chance_of(ends: Endings | None, phi: ArrayLike) -> Array:
    """Return the chance of ending in each state (rows) at each failure rate in `phi` (columns)."""
    from scipy.special import xlog1py, xlogy

    rates = np.atleast_1d(np.asarray(phi, dtype=float))
    if ends is None:
        return np.zeros((0, len(rates)))
    f, passes = ends.f[:, None], (ends.n - ends.f)[:, None]
    chances: Array = np.exp(np.log(ends.paths)[:, None] + xlogy(f, rates) + xlog1py(passes, -rates))
    return chances


def decision_probability(table: KillTable, decision: Decision, phi: ArrayLike) -> Array:
    """Return P(decision), given this baseline, at each true failure rate of the mutant in `phi`."""
    return np.asarray(chance_of(endings(table).get(decision), phi).sum(axis=0))


def mean_trials(table: KillTable, phi: float) -> float:
    """Return the mean number of trials of a mutant that fails at rate `phi`, given this baseline; 0 if untestable."""
    return sum(float(chance_of(ends, phi)[:, 0] @ ends.n) for ends in endings(table).values())


def operating_characteristics(
    n0: int, design: KillDesign, p: float, drop: float = 0.0, table_of: TableOf = decision_table
) -> OperatingCharacteristics:
    """Return exact characteristics at true pass rate `p` of the original and max(0, p - drop) of the mutant.

    Averages over f0 ~ Binomial(n0, 1 - p). The four chances sum to 1 within 1e-7. Needs a table for every
    likely f0, a few seconds at n0 = 100: pass a caching `table_of(f0, n0, design)` to share them.

    Raises `ValueError` for p or drop outside [0, 1].
    """
    phi = 1 - check_rate("p", p, closed=True)
    psi = min(1.0, phi + check_rate("drop", drop, closed=True))
    weights = baseline_weights(check_count("n0", n0, 1), np.array([phi]))[:, 0]
    total = np.zeros(5)
    for f0 in np.flatnonzero(weights > RARE).tolist():
        total += weights[f0] * _given_baseline(table_of(f0, n0, design), psi)
    return OperatingCharacteristics(*total.tolist())


def _given_baseline(table: KillTable, psi: float) -> Array:
    ends, trials, chances = endings(table), 0.0, []
    for decision in (Decision.KILLED, Decision.SURVIVED, Decision.UNDECIDED):
        by_state = chance_of(ends.get(decision), psi)[:, 0]
        chances.append(float(by_state.sum()))
        trials += float(by_state @ ends[decision].n) if decision in ends else 0.0
    return np.array([*chances, float(table.untestable), trials])


def baseline_weights(n0: int, phi: Array) -> Array:
    """Return P(f0 failures in n0 trials): rows f0 = 0..n0, columns `phi`."""
    from scipy.special import gammaln, xlog1py, xlogy

    f0 = np.arange(n0 + 1)[:, None]
    log_paths = gammaln(n0 + 1) - gammaln(f0 + 1) - gammaln(n0 - f0 + 1)
    weights: Array = np.exp(log_paths + xlogy(f0, phi) + xlog1py(n0 - f0, -phi))
    return weights
