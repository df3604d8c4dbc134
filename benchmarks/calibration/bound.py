"""How close the kill rule comes to the fewest trials that any test could need."""

import math
from collections.abc import Iterator
from functools import cache
from statistics import fmean

from agentmut.stats.kill.characteristics import TableOf, operating_characteristics
from agentmut.stats.kill.rule import DEFAULT_DESIGN, KillDesign, decision_table
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.least_trials import kill_bound, survival_bound

RATES = (0.99, 0.95, 0.9, 0.8)
"""True pass rates of the original that the targets speak of."""


def kill_ratio(p: float, drop: float, n0: int, design: KillDesign, table_of: TableOf) -> float:
    """E[N] over its bound where the pass rate falls from p by `drop`."""
    found = operating_characteristics(n0, design, p, drop, table_of)
    return found.trials / kill_bound(1 - p, 1 - p + drop, n0, found.killed, design.alpha).trials


def survival_ratio(p: float, n0: int, design: KillDesign, table_of: TableOf) -> float:
    """E[N] over its bound where nothing changed."""
    found = operating_characteristics(n0, design, p, 0.0, table_of)
    return found.trials / survival_bound(1 - p, design.delta, n0, found.survived, design.beta).trials


def section(*, thorough: bool) -> Section:
    """Ratios at n0 = 100; other baselines only in the thorough pass."""
    table_of = cache(decision_table)
    figures = list(_at_a_hundred(table_of))
    if thorough:
        for n0 in (50, 200):
            ratios = [kill_ratio(p, d, n0, DEFAULT_DESIGN, table_of) for p in RATES for d in (0.2, 0.4)]
            figures.append(Figure(f"geometric mean, n0 = {n0}", _geometric(ratios), "at least 1", low=1.0))
    how = (
        "Exact: expected trials by dynamic programming, averaged over the baseline, over the largest lower bound. "
        "p is the original's pass rate."
    )
    return Section("Kill rule: trials over the least possible", how, tuple(figures))


def _at_a_hundred(table_of: TableOf) -> Iterator[Figure]:
    ratios = {
        (p, drop): kill_ratio(p, drop, 100, DEFAULT_DESIGN, table_of) for p in RATES for drop in (0.2, 0.4)
    }
    for (p, drop), ratio in ratios.items():
        yield Figure(f"p = {p}, drop {drop}", ratio, "1 to 1.35", 1.0, 1.35)
    yield Figure("geometric mean of these", _geometric(list(ratios.values())), "at most 1.25", 1.0, 1.25)
    for p in RATES:
        ratio = survival_ratio(p, 100, DEFAULT_DESIGN, table_of)
        yield Figure(f"p = {p}, equivalent", ratio, "1 to 1.15", 1.0, 1.15)


def _geometric(ratios: list[float]) -> float:
    return math.exp(fmean(map(math.log, ratios)))
