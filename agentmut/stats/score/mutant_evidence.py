"""The evidence on one mutant for a score: its decision, and every table that could have made it."""

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentmut.stats.kill.rule import Decision, KillDesign, KillTable
from agentmut.stats.score.kill_p_value import NO_SUITE, KillTest, SuiteTest, family_level, kill_p_value

Array = NDArray[np.float64]
TestKey = tuple[str, int, int, KillDesign, float]
FamilyKey = tuple[frozenset[TestKey], float]


class KillTests(tuple[KillTest, ...]):
    """The tables of a mutant. The key of its family is computed once, since many scenarios make it long."""

    @cached_property
    def keys(self) -> frozenset[TestKey]:
        """Return the key that distinguishes the tables from those of other mutants."""
        return frozenset(map(test_key, self))


class JudgedMutant(NamedTuple):
    """One mutant: KILLED, SURVIVED or UNDECIDED, and the tables of all scenarios that reach it.

    Only an undecided mutant may have none: one that no scenario could be tried on. Where a scenario has several
    tables, the decision speaks of the drop at which the score is asked for; see `mutation_score`.
    """

    decision: Decision
    tests: tuple[KillTest, ...]
    suite: SuiteTest = NO_SUITE
    known: float | None = None
    """The p-value of the kill where it is known otherwise than from `tests`: valid in this family, or a smaller one
    whose kills come before all others."""
    later: float = 0.0
    """The share of each scenario's level that rounds have which are yet to come."""

    @property
    def p_value(self) -> float:
        """Return the p-value of the kill; the family's largest if the killing state is unknown."""
        if self.decision is not Decision.KILLED:
            return 1.0
        if self.known is not None:
            return self.known
        known = kill_p_value(self.tests, self.suite, self.later)
        return known if known < 1 else family_level(self.tests, self.suite.level, math.inf)

    @property
    def family(self) -> FamilyKey:
        """Return the key of mutants with equal error rates."""
        tests = self.tests
        return tests.keys if isinstance(tests, KillTests) else KillTests(tests).keys, self.suite.level


def test_key(test: KillTest) -> TestKey:
    """Return the key of a table; it names the scenario, whose true rate is one unknown for all tables."""
    return (test.scenario, test.table.f0, test.table.n0, test.table.design, test.weight)


def clearing_tables(tests: tuple[KillTest, ...], resolution: float | None = None) -> Mapping[str, KillTable]:
    """Return the table of each scenario whose survival is claimed: that of the largest drop up to `resolution`.

    Without a resolution it is the table of the smallest drop. A scenario whose tables are all coarser is left out:
    it cannot have been cleared.
    """
    tables: dict[str, KillTable] = {}
    for test in sorted(tests, key=lambda t: t.table.design.delta, reverse=resolution is None):
        if resolution is None or test.table.design.delta <= resolution * (1 + 1e-9):
            tables[test.scenario] = test.table
    return tables


@lru_cache(maxsize=2048)
def spread_levels(dimension: int, points: int) -> Array:
    """Return `points` levels in (0, 1) for one scenario: midpoints of equal cells in dimension 0, else shifted.

    In dimension d > 0 they are multiples of the root of the d-th prime modulo 1, so that draws of different
    dimensions are spread as if independent.
    """
    levels: Array = (np.arange(points) + 0.5) / points
    if dimension > 0:
        shifted = np.mod(0.5 + np.arange(1, points + 1) * math.sqrt(_prime(dimension)), 1.0)
        levels = np.asarray(levels[shifted.argsort().argsort()])
    levels.setflags(write=False)
    return levels


def _prime(index: int) -> int:
    """Return the `index`-th prime, from 2."""
    most = 12 + math.ceil(index * math.log(index * math.log(index + 2) + 3))  # Rosser's bound is below
    sieve = np.ones(most + 1, dtype=bool)
    sieve[:2] = False
    for n in range(2, math.isqrt(most) + 1):
        sieve[n * n :: n] &= not sieve[n]
    return int(np.flatnonzero(sieve)[index - 1])
