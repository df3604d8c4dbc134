"""An upper bound on missed drops: how many survivors may have dropped by delta all the same.

Every mutant with a drop of delta survives with a small chance MS, so many survivors with a drop would need many
mutants with a drop. Mutants that were killed fast prove nothing of the kind: with such trials they could not have
survived. They are left out, and MS is taken given that there was no fast kill.

With rounds, a kill is fast by the table of the round that made it. Let a scenario have the tables 1..r, coarsest first,
of which r rules the drop out, and let m be a number of trials at which r has not survived yet. A kill by any of these
tables in the first m trials is fast. Draw each scenario's whole sequence of trials beforehand, and let

    N_j = no table of scenario j kills its sequence in the first m_j trials,
    S_j = N_j, and table r of scenario j says SURVIVED.

A survivor was killed by no table, and table r cleared each scenario: S_j holds for all j. A mutant without a fast kill
may have stopped earlier, so that event contains all N_j. Given the rates and the baselines, scenarios are independent.
So at the scenario j* that dropped

    P(survives | no fast kill) <= P(S_j*) prod_(j != j*) P(N_j) / prod_j P(N_j) = P(S_j*) / P(N_j*) = MS.

MS is largest at a drop of exactly delta. Given N_j, the failures f among the first m trials have the weights
paths(f) (psi / (1 - psi))^f, which have monotone likelihood ratio in the failure rate psi, whatever tables took paths
away. Table r is undecided on all these paths, so its chance to survive from there depends on f and psi alone, and falls
in both. (Later than its first survival the ratio can rise, so fast ends before.)

The draws are those of the lower Clopper-Pearson limit, phi ~ Beta(f0, n0 - f0 + 1): with Jeffreys' prior MS is too
small where the original never fails.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.kill.characteristics import (
    Endings,
    chance_of,
    decision_probability,
    endings,
    endings_after,
)
from agentmut.stats.kill.rule import Decision, KillTable
from agentmut.stats.score.kill_p_value import KillTest
from agentmut.stats.score.mutant_evidence import FamilyKey, JudgedMutant, clearing_tables, spread_levels

Array = NDArray[np.float64]
POINTS = 512
"""Draws of the baselines' true failure rates."""
FAST = 0.25
"""Most of the mutants with a drop of delta whose kill may count as fast; more would make MS too large for the rest."""
Tables = tuple[KillTable, ...]
"""The tables of one scenario, coarsest first; the last one rules the drop out."""


class Survivors(NamedTuple):
    """Mutants with the same tables, as far as a drop may have been missed among them."""

    slow: int
    """Killed, but not fast: they could have survived."""
    undecided: int
    survived: int
    missed: Array
    """MS at each draw."""


def missed_bound(mutants: Sequence[JudgedMutant], error: float, resolution: float | None = None) -> int:
    """Return the largest number of survivors that may have dropped by delta, at confidence 1 - error.

    The largest drop up to `resolution` that some table clears is meant, or the smallest without it.
    """
    return most_missed(survivors_of(mutants, resolution), 1 - error)


def missed_rates(mutants: Iterable[JudgedMutant], resolution: float | None = None) -> Array:
    """Return the chance that a mutant with a drop survives, at each draw: the largest of all scenarios.

    The drop is the largest up to `resolution` that some table clears, or the smallest without it.
    """
    families = {mutant.family: mutant for mutant in mutants if mutant.tests}
    names = sorted({test.scenario for mutant in families.values() for test in mutant.tests})
    chances = {
        (name, table): decision_probability(table, Decision.SURVIVED, _worse(table, names.index(name)))
        for mutant in families.values()
        for name, table in clearing_tables(mutant.tests, resolution).items()
    }
    return np.asarray(np.max(list(chances.values()), axis=0)) if chances else np.zeros(POINTS)


def survivors_of(mutants: Iterable[JudgedMutant], resolution: float | None = None) -> list[Survivors]:
    """Return the mutants by family; those without tables are left out."""
    members: dict[FamilyKey, list[JudgedMutant]] = {}
    for mutant in mutants:
        if mutant.tests:
            members.setdefault(mutant.family, []).append(mutant)
    names = sorted({test.scenario for group in members.values() for test in group[0].tests})
    dimension = {name: place for place, name in enumerate(names)}
    return [_survivors(group, dimension, resolution) for group in members.values()]


class FastKills(NamedTuple):
    """The first trials of a scenario, in which a kill by any of its tables is fast."""

    until: int
    """The last of these trials: no survival was possible yet, and not too many kills at a drop of delta. 0: none."""
    alive: Endings
    """The sequences of `until` trials that no table has killed, by their failures."""
    survived: Endings | None
    """Where the last table rules the drop out after such a sequence."""


def fast_until(*tables: KillTable) -> int:
    """Return the last trial at which a kill on a scenario is fast; 0 for none. `tables` are coarsest first."""
    return _fast(tables).until


def _survivors(
    group: Sequence[JudgedMutant], dimension: Mapping[str, int], resolution: float | None
) -> Survivors:
    tables = _tables_up_to(group[0].tests, resolution)
    missed = [_missed_rates(each, dimension[name]) for name, each in tables.items()]
    slow = sum(m.decision is Decision.KILLED and not _is_fast(m, tables) for m in group)
    undecided = sum(m.decision is Decision.UNDECIDED for m in group)
    survived = sum(m.decision is Decision.SURVIVED for m in group)
    return Survivors(slow, undecided, survived, np.max(missed, axis=0) if missed else np.zeros(POINTS))


def _tables_up_to(tests: tuple[KillTest, ...], resolution: float | None) -> Mapping[str, Tables]:
    """Return by scenario the table whose survival is claimed, behind those of larger drops."""
    tables = {}
    for name, last in clearing_tables(tests, resolution).items():
        drops = {t.table.design.delta: t.table for t in tests if t.scenario == name}
        tables[name] = (*(drops[d] for d in sorted(drops, reverse=True) if d > last.design.delta), last)
    return tables


def _is_fast(mutant: JudgedMutant, tables: Mapping[str, Tables]) -> bool:
    return any(
        test.table in tables[test.scenario] and test.killed_at <= fast_until(*tables[test.scenario])
        for test in mutant.tests
        if test.killed_at and test.scenario in tables
    )


@lru_cache(maxsize=2048)
def _missed_rates(tables: Tables, dimension: int) -> Array:
    """Return P(SURVIVED | no fast kill) at a drop of delta, at each draw."""
    fast, worse = _fast(tables), _worse(tables[-1], dimension)
    survived, alive = (chance_of(each, worse).sum(axis=0) for each in (fast.survived, fast.alive))
    rates: Array = np.minimum(survived / np.maximum(alive, 1e-300), 1.0)
    rates.setflags(write=False)
    return rates


@lru_cache(maxsize=2048)
def _fast(tables: Tables) -> FastKills:
    """Go on trial by trial while no survival is possible and at most `FAST` of the mutants with a drop are killed."""
    last, worse = tables[-1], _worse(tables[-1], 0)
    ends, until, killed = endings(last).get(Decision.SURVIVED), 0, 0.0
    first = int(ends.n.min()) if ends else last.design.n_max + 1
    paths: Mapping[_Path, float] = {_Path(0, _testable(tables)): 1.0}
    while until + 1 < first and not last.untestable:
        later, kills = _with_trial(paths, until + 1, tables)
        killed += float(chance_of(kills, worse).mean(axis=1).sum())
        if killed > FAST:
            break
        paths, until = later, until + 1
    alive: defaultdict[int, float] = defaultdict(float)
    for path, number in paths.items():
        alive[path.failures] += number
    states = np.array([(until, f, number) for f, number in alive.items()], dtype=float).T
    return FastKills(until, Endings(*states), endings_after(last, until, alive).get(Decision.SURVIVED))


class _Path(NamedTuple):
    """Sequences of trials with the same failures, and with the same tables undecided."""

    failures: int
    undecided: tuple[int, ...]
    """Positions of the tables."""


def _testable(tables: Tables) -> tuple[int, ...]:
    return tuple(place for place, table in enumerate(tables) if not table.untestable)


def _with_trial(
    paths: Mapping[_Path, float], n: int, tables: Tables
) -> tuple[Mapping[_Path, float], Endings | None]:
    """Return the sequences after their `n`-th trial that no table kills, and those that a table kills just then."""
    alive: defaultdict[_Path, float] = defaultdict(float)
    kills: list[tuple[int, int, float]] = []
    for (before, undecided), number in paths.items():
        for failures in (before, before + 1):
            decisions = {place: tables[place].decide(n, failures) for place in undecided}
            if Decision.KILLED in decisions.values():
                kills.append((n, failures, number))
            else:
                on = tuple(place for place, decision in decisions.items() if decision is Decision.CONTINUE)
                alive[_Path(failures, on)] += number
    return alive, Endings(*np.array(kills, dtype=float).T) if kills else None


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
