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
    baseline = baseline.reshape(f0.shape)
    book = _book(drawn.tolist(), n0, design, table_of, ratios_of)
    worse = 1 - np.asarray(rates) + np.asarray(drops)
    n, f = np.zeros_like(f0), np.zeros_like(f0)
    live = ~book.untestable[baseline]
    logs = np.tile(-LEFT_OUT * (~live).sum(axis=1), (len(SHARED_LOSSES), 1))
    trials, top = np.zeros(runs, dtype=int), np.zeros(runs)
    killed, at = np.zeros(runs, dtype=bool), np.arange(runs)
    while True:
        at = at[live[at].any(axis=1) & ~killed[at]]
        if not len(at):
            return Mutants(trials, killed, top)
        scores = np.where(live[at], book.evidence[baseline[at], n[at], f[at]], -np.inf)
        if log_threshold < math.inf:
            scores = _spread(scores, np.where(live[at], n[at], design.n_max), _pooled(logs[:, at]))
        j = (scores + rng.random(scores.shape) * TIE).argmax(axis=1)
        b, before = baseline[at, j], (n[at, j], f[at, j])
        n[at, j] += 1
        f[at, j] += rng.random(len(at)) < worse[j]
        trials[at] += 1
        now = (n[at, j], f[at, j])
        logs[:, at] += [r[b, *now] - r[b, *before] for r in book.pooled]
        pool = _pooled(logs[:, at])
        top[at] = np.maximum(top[at], pool)
        kill = now[1] >= book.kill_at[b, now[0]]
        killed[at] = kill | (pool >= log_threshold)
        live[at, j] = ~(kill | (now[1] <= book.survive_at[b, now[0]]) | (now[0] == design.n_max))


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
