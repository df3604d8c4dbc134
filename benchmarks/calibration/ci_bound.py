"""How well the trials of a kill can tell the chance of a red CI job at best, and what runs after the kill would cost.

`python -m benchmarks.calibration.ci_bound` prints the least errors, and stores them with `--write`. One of ten
scenarios has a drop and kills. An estimate may be any function of the baseline and of the place where the rule kills,
with values from 0 to 1: these two are all that the trials tell of the rate (they are sufficient). Its mean errors are
linear in its values, so a linear programme finds the estimate whose largest mean error, over all pass rates and drops,
is least. No estimate has a smaller one: where that error is above 0.02, a goal of 0.02 cannot be met without further
runs.

Runs after the kill are not chosen by the kill, so a job of R such runs has no error. It may stop as soon as its colour
is known: a scenario that fails often costs hardly more than two runs.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from agentmut.stats.kill.rule import KillDesign, KillTable, decision_table, level_for
from benchmarks.calibration.__main__ import report
from benchmarks.calibration.ci_killed import BASELINE, SCENARIOS, green, kill_chances
from benchmarks.calibration.figures import Figure, Section

Array = NDArray[np.float64]
RATES = (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6)
DROPS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
FROM = ((0.99, 0.05), (0.98, 0.05), (0.95, 0.05), (0.99, 0.1), (0.99, 0.2))
"""The highest pass rate, and the smallest drop: the rows."""
FAILING = (0.15, 0.3, 0.5, 0.8)
NEEDED = {1: 1, 10: 9}
"""Passes that a job of so many runs needs, at a threshold of .9."""


class Cell(NamedTuple):
    """A pass rate with a drop on one scenario."""

    chances: Array
    """The chance of each baseline with each place, given a kill."""
    failing: float
    others: float
    """Failure rate of a run on the other scenarios."""


def least_error(cells: Sequence[Cell], runs: int) -> float:
    """Return the least possible value of the largest mean error over the cells; in [0, 1/2]."""
    others = np.array([float(green(cell.others, runs)) ** (SCENARIOS - 1) for cell in cells])
    means = np.array([cell.chances for cell in cells]) * others[:, None]
    truths = np.array([float(green(cell.failing, runs)) for cell in cells]) * others
    slack = np.ones((len(cells), 1))
    above = np.block([[means, -slack], [-means, -slack]])  # |means @ estimate - truths| <= slack
    values = means.shape[1]
    found = linprog(
        np.r_[np.zeros(values), 1.0],
        A_ub=above,
        b_ub=np.r_[truths, -truths],
        bounds=[(0, 1)] * values + [(0, None)],
    )
    if found.x is None:
        raise ArithmeticError(found.message)
    return float(found.x[-1])


def cells_of(rates: Sequence[float], drops: Sequence[float], tables: Mapping[int, KillTable]) -> list[Cell]:
    """Return the cells of all rates and drops that leave a pass rate; `tables` are by failures of the baseline."""
    return [_cell(p, drop, tables) for p in rates for drop in drops if drop <= p]


def _cell(p: float, drop: float, tables: Mapping[int, KillTable]) -> Cell:
    failing = 1 - p + drop
    each = [binom.pmf(f0, BASELINE, 1 - p) * kill_chances(table, failing) for f0, table in tables.items()]
    chances = np.concatenate(each)
    return Cell(chances / chances.sum(), failing, 1 - p)


@cache
def tables_of(most: int) -> dict[int, KillTable]:
    """Return the tables of the baselines with at most so many failures that can kill."""
    design = KillDesign(level_for(SCENARIOS))
    found = {f0: decision_table(f0, BASELINE, design) for f0 in range(most + 1)}
    return {f0: table for f0, table in found.items() if not table.untestable}


def runs_after(failing: float, runs: int) -> float:
    """Return the mean number of runs until the colour of a job is known.

    >>> runs_after(0.0, 10), runs_after(1.0, 10), runs_after(0.5, 1)
    (9.0, 2.0, 1.0)
    """
    needed = NEEDED[runs]
    allowed, mean, alive = runs - needed, 0.0, {(0, 0): 1.0}
    while alive:
        mean += math.fsum(alive.values())
        following: dict[tuple[int, int], float] = {}
        for (passes, failures), chance in alive.items():
            for state, share in (((passes + 1, failures), 1 - failing), ((passes, failures + 1), failing)):
                if state[0] < needed and state[1] <= allowed:
                    following[state] = following.get(state, 0.0) + chance * share
        alive = following
    return mean


def section() -> Section:
    """Return the least errors, and the price of runs after the kill."""
    how = (
        f"Exact. One of {SCENARIOS} scenarios has a drop and kills; baselines of {BASELINE} trials. An estimate may be "
        "any function of the baseline and of the place where the rule kills. A linear programme finds the estimate "
        "whose largest mean error over all pass rates and drops is least. Runs after the kill are not chosen by the "
        "kill and have no error; agentmut makes them (`suite.ci_after_kill`)."
    )
    return Section("Red CI runs: the least error that any estimate has", how, tuple(_figures()))


def _figures() -> Iterator[Figure]:
    for highest, smallest in FROM:
        rates = [p for p in RATES if p <= highest]
        cells = cells_of(rates, [drop for drop in DROPS if drop >= smallest], tables_of(40))
        for runs in NEEDED:
            where = f"pass rates {rates[-1]:g} to {highest:g}, drops from {smallest:g}, R = {runs}"
            yield Figure(f"least possible error, {where}", round(least_error(cells, runs), 3), "-")
    for failing in FAILING:
        for runs in NEEDED:
            what = f"mean runs after the kill, failure rate {failing:g}, R = {runs}"
            yield Figure(what, round(runs_after(failing, runs), 1), "-")


if __name__ == "__main__":
    report(section(), "python -m benchmarks.calibration.ci_bound", write="--write" in sys.argv[1:])
