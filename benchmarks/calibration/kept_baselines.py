"""What a baseline that is kept does to many comparisons: the chance of one whose false alarms exceed alpha."""

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.stats import binom

from agentmut.stats.kill.rule import KillDesign, decision_table, level_for
from agentmut.stats.tests.proportions import TwoSampleTest
from agentmut.stats.verdicts.given_baseline import doubt_of, false_kill, lowest_rate, table_given
from agentmut.stats.verdicts.regression import chance_of_fail
from benchmarks.calibration.figures import Figure, Section

ALPHA = 0.05
RATES = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1.0)
SIZES = (50, 100, 200, 500)
LIKELY = 1e-5
"""Baselines that are less likely together count as unfit."""

_tables = cache(decision_table)


def section(*, thorough: bool) -> Section:
    """Return the chance, over baselines, that comparisons with the one that is kept err in more than alpha."""
    sizes, rates = (SIZES, RATES) if thorough else (SIZES[:1], (0.95, 1.0))
    figures = [*_before(), *_given(sizes, rates), *_fixed(sizes, rates)]
    how = (
        "Exact, by dynamic programming over the baselines of an unchanged agent: false alarms given each, and the "
        f"chance of those that exceed the scenario's share of alpha = {ALPHA:g}. `plain` is the rule that holds on "
        "average over baselines. One scenario of ten has an unfit baseline with at most a tenth of the 5 %."
    )
    return Section("In real life: reused baselines", how, tuple(figures))


def _before() -> Iterator[Figure]:
    """Yield the figures that made the promise necessary."""
    for n0, rate, said in ((100, 0.98, 0.187), (50, 0.95, 0.256)):
        plain = false_kill(_tables(0, n0, KillDesign(ALPHA)), rate)
        what = f"false alarms of `plain` at {rate:g} after {n0}/{n0}"
        yield Figure(what, plain, f"{said:g}", low=said - 5e-4, high=said + 5e-4)
        found = false_kill(
            table_given(0, n0, KillDesign(ALPHA), lowest_rate(n0, n0, doubt_of(1)), _tables), rate
        )
        yield Figure(f"the same, given the baseline {n0}/{n0}", found, f"at most {ALPHA:g}", high=ALPHA)


def _given(sizes: tuple[int, ...], rates: tuple[float, ...]) -> Iterator[Figure]:
    for n0 in sizes:
        for rate in rates:
            for scenarios in (1, 10):
                unfit = chance_of_an_unfit_promise(n0, rate, scenarios)
                most = 0.05 / scenarios
                what = f"unfit baselines, n0 = {n0}, rate {rate:g}, {scenarios} scenarios, sequential"
                yield Figure(what, unfit, f"at most {most:g}", high=most)
            plain = chance_of_an_unfit_promise(n0, rate, 1, plain=True)
            yield Figure(
                f"the same with `plain`, one scenario, n0 = {n0}, rate {rate:g}", plain, "not promised"
            )


def _fixed(sizes: tuple[int, ...], rates: tuple[float, ...]) -> Iterator[Figure]:
    for n0 in sizes:
        for rate in rates:
            unfit = unfit_fixed(n0, rate)
            what = f"unfit baselines, n0 = {n0}, rate {rate:g}, fixed, 100 trials, Fisher"
            yield Figure(what, unfit, "at most 0.05", high=0.05)


def chance_of_an_unfit_promise(n0: int, rate: float, scenarios: int, *, plain: bool = False) -> float:
    """Return P(false alarms given the baseline > the scenario's share of alpha) for the sequential comparison."""
    level, unfit = level_for(scenarios, ALPHA), 0.0
    for f0, weight in likely_baselines(n0, rate):
        design = KillDesign(level)
        lowest = lowest_rate(n0 - f0, n0, doubt_of(scenarios))
        table = _tables(f0, n0, design) if plain else table_given(f0, n0, design, lowest, _tables)
        unfit += weight * (false_kill(table, rate) > level)
    return unfit + LIKELY


def unfit_fixed(n0: int, rate: float, trials: int = 100) -> float:
    """Return the same for `trials` trials and Fisher's test, one scenario."""
    unfit = 0.0
    for f0, weight in likely_baselines(n0, rate):
        lowest = lowest_rate(n0 - f0, n0, doubt_of(1))
        found = chance_of_fail(
            n0 - f0, n0, trials, rate, alpha=ALPHA, test=TwoSampleTest.FISHER, lowest=lowest
        )
        unfit += weight * (found > ALPHA)
    return unfit + LIKELY


def likely_baselines(n0: int, rate: float) -> Iterator[tuple[int, float]]:
    """Yield failures of `n0` trials with their chances, without two tails that are less likely than `LIKELY` in all."""
    chances = binom.pmf(np.arange(n0 + 1), n0, 1 - rate)
    below = np.cumsum(chances)
    for f0 in np.flatnonzero((below >= LIKELY / 2) & (below - chances <= 1 - LIKELY / 2)).tolist():
        yield f0, float(chances[f0])
