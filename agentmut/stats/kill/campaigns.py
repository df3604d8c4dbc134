"""Simulate a campaign: many mutants at once on several scenarios, in arrays over the mutants."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.kill.allocation import LOSSES, TIE
from agentmut.stats.kill.rule import KillDesign, KillTable, decision_table
from agentmut.stats.kill.sequences import log_ratios, row
from agentmut.stats.kill.suite_share import BEHIND, LEFT_OUT, SHARED_LOSSES, pooled_ratios

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
TableOf = Callable[[int, int, KillDesign], KillTable]
RatiosOf = Callable[[int, int, int], tuple[Array, ...]]
"""Returns evidence by f0, n0 and n_max; see `evidence_squares`."""


class Mutants(NamedTuple):
    """The results, with one entry for each simulated mutant. Each mutant has a separate baseline."""

    trials: Whole
    killed: NDArray[np.bool_]
    """Whether a scenario killed the mutant, or the pooled evidence if it may."""
    pooled: Array
    """The largest logarithm of the pooled evidence that was reached."""


class _Book(NamedTuple):
    """Decisions and evidence of every drawn baseline, indexed [baseline, n] or [baseline, n, f]."""

    kill_at: Whole
    survive_at: Whole
    untestable: NDArray[np.bool_]
    evidence: Array
    pooled: tuple[Array, ...]


def evidence_squares(f0: int, n0: int, n_max: int) -> tuple[Array, ...]:
    """Return logarithms of the evidence after a baseline, indexed [n, f]: of one scenario, then of each shared loss."""
    flat = (log_ratios(f0, n0, n_max, LOSSES), *(pooled_ratios(f0, n0, n_max, u) for u in SHARED_LOSSES))
    return tuple(_square(each, n_max) for each in flat)


def simulate(
    rates: Sequence[float],
    drops: Sequence[float],
    design: KillDesign,
    runs: int,
    rng: np.random.Generator,
    *,
    n0: int = 100,
    log_threshold: float = math.inf,
    table_of: TableOf = decision_table,
    ratios_of: RatiosOf = evidence_squares,
) -> Mutants:
    """Simulate `runs` mutants that lose `drops[j]` of the pass rate `rates[j]`; `design` is that of one scenario.

    Trials go to the scenario with the most evidence, ties at random. The pooled evidence kills once its
    logarithm reaches `log_threshold`; where that is finite, trials are spread as `suite_share.spread` says. Caching
    `table_of` and `ratios_of` share their work over calls.
    """
    f0 = rng.binomial(n0, 1 - np.asarray(rates), (runs, len(rates)))
    drawn, baseline = np.unique(f0, return_inverse=True)
    book = _book(drawn.tolist(), n0, design, table_of, ratios_of)
    worse = 1 - np.asarray(rates) + np.asarray(drops)
    arms = _Arms(book, baseline.reshape(f0.shape), design, log_threshold)
    at = np.arange(runs)
    while len(at := arms.undecided(at)):
        scenario = (arms.scores(at) + rng.random((len(at), len(rates))) * TIE).argmax(axis=1)
        arms.add_trials(at, scenario, rng.random(len(at)) < worse[scenario])
    return Mutants(arms.trials, arms.killed, arms.top)


class _Arms:
    """Many mutants under test: arrays with a row for each mutant and a column for each scenario."""

    def __init__(self, book: _Book, baseline: Whole, design: KillDesign, log_threshold: float) -> None:
        runs = len(baseline)
        self._book, self._baseline = book, baseline
        self._n_max, self._log_threshold = design.n_max, log_threshold
        self._n, self._f = np.zeros_like(baseline), np.zeros_like(baseline)
        self._live = ~book.untestable[baseline]
        self._logs = np.tile(-LEFT_OUT * (~self._live).sum(axis=1), (len(SHARED_LOSSES), 1))
        self.trials, self.top = np.zeros(runs, dtype=int), np.zeros(runs)
        self.killed = np.zeros(runs, dtype=bool)

    def undecided(self, at: Whole) -> Whole:
        """Return which of these mutants have not been killed and have a scenario to try."""
        return at[self._live[at].any(axis=1) & ~self.killed[at]]

    def scores(self, at: Whole) -> Array:
        """Return the evidence of each scenario of these mutants; -inf for scenarios that take no further trial."""
        live = self._live[at]
        scores = np.where(live, self._book.evidence[self._baseline[at], self._n[at], self._f[at]], -np.inf)
        if self._log_threshold == math.inf:
            return scores
        return _spread(scores, np.where(live, self._n[at], self._n_max), _pooled(self._logs[:, at]))

    def add_trials(self, at: Whole, scenario: Whole, failed: NDArray[np.bool_]) -> None:
        """Add one trial to a scenario of each of these mutants, and decide what it decides."""
        b, before = self._baseline[at, scenario], (self._n[at, scenario], self._f[at, scenario])
        self._n[at, scenario] += 1
        self._f[at, scenario] += failed
        self.trials[at] += 1
        n, f = self._n[at, scenario], self._f[at, scenario]
        self._logs[:, at] += [r[b, n, f] - r[b, *before] for r in self._book.pooled]
        pool = _pooled(self._logs[:, at])
        self.top[at] = np.maximum(self.top[at], pool)
        kill = f >= self._book.kill_at[b, n]
        self.killed[at] = kill | (pool >= self._log_threshold)
        self._live[at, scenario] = ~(kill | (f <= self._book.survive_at[b, n]) | (n == self._n_max))


def _pooled(logs: Array) -> Array:
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(len(logs)))


def _spread(scores: Array, n: Whole, pooled: Array) -> Array:
    """Apply `suite_share.spread` to many mutants: only the scenarios with the fewest trials keep their scores."""
    spread = pooled > scores.max(axis=1) - BEHIND
    others = n > n.min(axis=1, keepdims=True)
    return np.where(spread[:, None] & others, -np.inf, scores)


def _book(drawn: Sequence[int], n0: int, design: KillDesign, table_of: TableOf, ratios_of: RatiosOf) -> _Book:
    tables = [table_of(f0, n0, design) for f0 in drawn]
    evidence, *pooled = (
        np.stack(x) for x in zip(*(ratios_of(f0, n0, design.n_max) for f0 in drawn), strict=True)
    )
    return _Book(
        np.array([table.kill_at for table in tables]),
        np.array([table.survive_at for table in tables]),
        np.array([table.untestable for table in tables]),
        evidence,
        tuple(pooled),
    )


def _square(flat: Array, n_max: int) -> Array:
    square = np.zeros((n_max + 1, n_max + 1))
    for n in range(n_max + 1):
        square[n, : n + 1] = flat[row(n)]
    return square
