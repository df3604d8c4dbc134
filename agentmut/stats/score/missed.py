"""An upper bound on missed drops: how many survivors may have dropped by delta all the same.

Every mutant with a drop of delta survives with a small chance MS, so many survivors with a drop would need many
mutants with a drop. Mutants that were killed fast prove nothing of the kind: with such trials they could not have
survived. They are left out, and MS is taken given that there was no fast kill: P(SURVIVED) / P(no fast kill), at
the scenario that dropped, is the largest that it can be at a drop of exactly delta. (Among the paths that are alive
while no survival is possible yet, the number of failures has monotone likelihood ratio in the failure rate, and
survival falls in both. Later than that the ratio can rise, so fast ends before the first survival.)

The draws are those of the lower Clopper-Pearson limit, phi ~ Beta(f0, n0 - f0 + 1): with Jeffreys' prior MS is too
small where the original never fails.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.kill.characteristics import chance_of, decision_probability, endings
from agentmut.stats.kill.rule import Decision, KillTable
from agentmut.stats.score.judged import FamilyKey, Judged, clearing_tables, spread_levels

Array = NDArray[np.float64]
POINTS = 512
"""Draws of the baselines' true failure rates."""
FAST = 0.25
"""Most of the mutants with a drop of delta whose kill may count as fast; more would make MS too large for the rest."""


class Survivors(NamedTuple):
    """Mutants with the same tables, as far as a drop may have been missed among them."""

    slow: int
    """Killed, but not fast: they could have survived."""
    undecided: int
    survived: int
    missed: Array
    """MS at each draw."""


def missed_bound(mutants: Sequence[Judged], error: float, resolution: float | None = None) -> int:
    """Return the largest number of survivors that may have dropped by delta, at confidence 1 - error.

    The largest drop up to `resolution` that some table clears is meant, or the smallest without it.
    """
    return most_missed(survivors_of(mutants, resolution), 1 - error)


def missed_rates(mutants: Iterable[Judged], resolution: float | None = None) -> Array:
    """Return the chance that a mutant with a drop survives, at each draw: the largest of all scenarios.

    The drop is the largest up to `resolution` that some table clears, or the smallest without it.
    """
    families = {mutant.family: mutant for mutant in mutants if mutant.tests}
    names = sorted({test.scenario for mutant in families.values() for test in mutant.tests})
    found = {
        (name, table): decision_probability(table, Decision.SURVIVED, _worse(table, names.index(name)))
        for mutant in families.values()
        for name, table in clearing_tables(mutant.tests, resolution).items()
    }
    return np.asarray(np.max(list(found.values()), axis=0)) if found else np.zeros(POINTS)


def survivors_of(mutants: Iterable[Judged], resolution: float | None = None) -> list[Survivors]:
    """Return the mutants by family; those without tables are left out."""
    members: dict[FamilyKey, list[Judged]] = {}
    for mutant in mutants:
        if mutant.tests:
            members.setdefault(mutant.family, []).append(mutant)
    names = sorted({test.scenario for group in members.values() for test in group[0].tests})
    dimension = {name: place for place, name in enumerate(names)}
    return [_survivors(group, dimension, resolution) for group in members.values()]


def fast_until(table: KillTable) -> int:
    """Return the last trial at which a kill is fast: before any survival, and early for a drop of delta; 0 for none."""
    return _fast(table)[0]


def _survivors(group: Sequence[Judged], dimension: Mapping[str, int], resolution: float | None) -> Survivors:
    tables = clearing_tables(group[0].tests, resolution)
    missed = [_missed_rates(table, dimension[name]) for name, table in tables.items()]
    slow = sum(m.decision is Decision.KILLED and not _is_fast(m, tables) for m in group)
    undecided = sum(m.decision is Decision.UNDECIDED for m in group)
    survived = sum(m.decision is Decision.SURVIVED for m in group)
    return Survivors(slow, undecided, survived, np.max(missed, axis=0) if missed else np.zeros(POINTS))


def _is_fast(mutant: Judged, tables: Mapping[str, KillTable]) -> bool:
    return any(
        0 < test.killed_at <= fast_until(test.table)
        for test in mutant.tests
        if tables.get(test.scenario) == test.table
    )


@lru_cache(maxsize=2048)
def _missed_rates(table: KillTable, dimension: int) -> Array:
    """Return P(SURVIVED | no fast kill) at a drop of delta, at each draw."""
    worse = _worse(table, dimension)
    survived = decision_probability(table, Decision.SURVIVED, worse)
    fast = _killed_by(table, worse)[: _fast(table)[1]].sum(axis=0)
    rates: Array = np.minimum(survived / np.maximum(1 - fast, 1e-300), 1.0)
    rates.setflags(write=False)
    return rates


@lru_cache(maxsize=2048)
def _fast(table: KillTable) -> tuple[int, int]:
    """Return the last trial at which a kill is fast, and how many killing states lie at or before it."""
    ends = endings(table)
    if Decision.KILLED not in ends:
        return 0, 0
    first = ends[Decision.SURVIVED].n.min() if Decision.SURVIVED in ends else np.inf
    killed = np.cumsum(_killed_by(table, _worse(table, 0)).mean(axis=1))
    states = int(((ends[Decision.KILLED].n < first) & (killed <= FAST)).sum())
    return (int(ends[Decision.KILLED].n[states - 1]) if states else 0), states


def _killed_by(table: KillTable, rates: Array) -> Array:
    return chance_of(endings(table).get(Decision.KILLED), rates)


def _worse(table: KillTable, dimension: int) -> Array:
    """Return the failure rates after a drop of delta, at draws of the lower Clopper-Pearson limit."""
    from scipy.special import betaincinv

    levels = spread_levels(dimension, POINTS)
    phi = betaincinv(table.f0, table.n0 - table.f0 + 1, levels) if table.f0 else np.zeros(POINTS)
    return np.minimum(phi + table.design.delta, 0.999)


def most_missed(groups: Sequence[Survivors], confidence: float) -> int:
    """Return the least M that is no less than what it bounds: from none, the number is raised until it stays.

    M is believable as long as M misses among the slow kills, the undecided and M mutants more are: one more is
    tried each time. (With M itself, nothing killed would mean that nothing had dropped, whatever MS is.)
    """
    known = [(g.slow + g.undecided, g.missed) for g in groups]
    survived = sum(g.survived for g in groups)
    worst = np.max([g.missed for g in groups if g.survived] or [np.zeros(POINTS)], axis=0)
    bound = 0
    while bound < survived:
        higher = _quantile(_mixed([*known, (bound + 1, worst)]), confidence)
        if higher <= bound:
            return bound
        bound = higher
    return survived


def _mixed(parts: Sequence[tuple[int, Array]]) -> tuple[int, Array]:
    """Return the number of mutants and their mean rate at each draw: it spreads more than unequal rates do."""
    number = sum(n for n, _ in parts)
    mean: Array = sum((n * rate for n, rate in parts), np.zeros(POINTS)) / max(number, 1)
    return number, np.minimum(mean, 1.0)


def _quantile(binomial: tuple[int, Array], confidence: float) -> int:
    """Return the least x at which the mixture's distribution function reaches `confidence`."""
    from scipy.special import bdtr

    number, rate = binomial
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if bdtr(middle, number, rate).mean() >= confidence:
            high = middle
        else:
            low = middle + 1
    return low
