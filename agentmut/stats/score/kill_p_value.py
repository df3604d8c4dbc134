"""The p-value of a kill: the smallest level at which the rule's own boundary would still have killed the mutant.

A table kills in few states, and the earlier ones are the more extreme. With P(n) the chance, given the baseline, that
an unchanged mutant is killed by trial n, a kill at n has the least level u with P(n) <= safety_factor(n0, u) u: that
is how the rule itself turns a predictive chance into a level that holds at every true rate.

A mutant has many chances to be killed: every scenario that reaches it, stage by stage where a scenario has several
tables, and the suite as a whole where it has a share. Any of them may come first, whatever decides on the order, so
the chances are added up: a kill at level u there counts sum over all tables of w * (the largest attainable level of
that table <= u w). A table tried with weight w has its levels divided by w; the weights of a scenario sum to 1 at most.
For a mutant that is no worse P(p-value <= u) <= u, on average over baselines, whatever the trials stopped at.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.kill.characteristics import endings
from agentmut.stats.kill.rule import DEFAULT_DESIGN, Decision, KillDesign, KillTable
from agentmut.stats.kill.safety import ALPHAS, safety_factor
from agentmut.stats.kill.sequences import row, unchanged_chances


class KillTest(NamedTuple):
    """One decision table that can kill a mutant, and the place where it has killed the mutant."""

    scenario: str
    table: KillTable
    killed_at: int = 0
    """Trials after which the table killed; 0 where it did not."""
    weight: float = 1.0
    """The share of the scenario's level that this stage has."""


class SuiteTest(NamedTuple):
    """The evidence of all scenarios together, where it has a share of the level; see `kill.suite_share`."""

    level: float
    log_evidence: float = 0.0
    killed: bool = False


NO_SUITE = SuiteTest(0.0)


class KillLevels(NamedTuple):
    """The states in which a table can kill: trials and level of each, both rising."""

    trials: tuple[int, ...]
    levels: tuple[float, ...]

    def at(self, trials: int) -> float:
        """Return the level of a kill after so many trials; `ValueError` where the table cannot kill then."""
        place = bisect_right(self.trials, trials) - 1
        if place < 0 or self.trials[place] != trials:
            raise ValueError(
                f"killed_at must be one of {self.trials}, the table kills nowhere else, got {trials}"
            )
        return self.levels[place]

    def attained(self, level: float) -> float:
        """Return the largest level of a kill that is at most `level`; 0 if there is none."""
        place = bisect_right(self.levels, level)
        return self.levels[place - 1] if place else 0.0


@lru_cache(maxsize=4096)
def kill_levels(table: KillTable) -> KillLevels:
    """Return the states in which the table kills, with the least level at which each would."""
    ends = endings(table).get(Decision.KILLED)
    if ends is None:
        return KillLevels((), ())
    at = np.array([row(int(n)).start for n in ends.n]) + ends.f.astype(int)
    chances = np.cumsum(ends.paths * unchanged_chances(table.f0, table.n0, table.design.n_max)[at])
    levels = [least_level(chance, table.n0, table.design) for chance in chances.tolist()]
    return KillLevels(tuple(int(n) for n in ends.n), tuple(levels))


def least_level(chance: float, n0: int, design: KillDesign = DEFAULT_DESIGN) -> float:
    """Return the least level u with chance <= safety_factor(n0, u) u, exactly: the factor is a step function."""
    usual = design._replace(alpha=DEFAULT_DESIGN.alpha) == DEFAULT_DESIGN
    for start, end in zip(ALPHAS, (*ALPHAS[1:], math.inf), strict=True):
        level = max(start, chance / safety_factor(n0, start, usual=usual))
        if level < end:
            return min(level, 1.0)
    return 1.0


def kill_p_value(tests: Iterable[KillTest], suite: SuiteTest = NO_SUITE, later: float = 0.0) -> float:
    """Return the p-value of a mutant's kill, in (0, 1]; 1 if no table killed it.

    `tests` holds every table that was allowed to kill the mutant, those of untried scenarios included: all of them
    belong to the family. `later` is the share of each scenario's level that stages have which are yet to come: they
    are counted with all of it, so that the p-value holds whenever a campaign stops. Raises `ValueError` for a weight
    outside (0, 1], or a kill in a state where the table cannot kill.

    >>> from agentmut.stats.kill.rule import decision_table, level_for
    >>> table = decision_table(0, 50, KillDesign(level_for(10)))
    >>> f"{kill_p_value([KillTest('a', table, killed_at=2)]):.6f}"
    '0.000363'
    >>> kill_p_value([KillTest("a", table)])
    1.0
    """
    tests = list(tests)
    for test in tests:
        check_rate("weight", test.weight, 0.0, 1.0 + 1e-12)
    kills = [
        kill_levels(t.table).at(check_count("killed_at", t.killed_at)) / t.weight
        for t in tests
        if t.killed_at
    ]
    if suite.killed:
        kills.append(min(suite.level, math.exp(-suite.log_evidence)))
    if not kills:
        return 1.0
    scenarios = len({test.scenario for test in tests})
    return min(1.0, family_level(tests, suite.level, min(kills)) + scenarios * min(kills) * later)


def family_level(tests: Sequence[KillTest], suite_level: float, level: float) -> float:
    """Return how likely an unchanged mutant is killed by some test at `level` or below, at most."""
    scenarios = sum(kill_levels(t.table).attained(level * t.weight * (1 + 1e-12)) for t in tests)
    return min(1.0, scenarios + min(level, suite_level))
