"""The level of a scenario: alpha over all scenarios that reach a mutant, or over those that luck made testable."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.stats import binom

from agentmut.stats.kill.characteristics import TableOf, baseline_weights, decision_probability
from agentmut.stats.kill.rule import Decision, KillDesign, decision_table, is_untestable, level_for
from benchmarks.calibration.figures import Figure, Section

ALPHA, N0 = 0.05, 50
LOW: tuple[tuple[int, float, float], ...] = ((3, 0.20, 0.088), (10, 0.17, 0.173), (30, 0.15, 0.292))
"""Scenarios, the pass rate of all of them, and the false kills of the family with alpha over the testable ones."""


def section(*, thorough: bool) -> Section:
    """Return families of scenarios with one low pass rate, for both divisions of alpha; quick: the first of them."""
    table_of = cache(decision_table)
    figures = []
    for scenarios, p, known in LOW if thorough else LOW[:1]:
        where = f"{scenarios} scenarios at pass rate {p:g}"
        rate = family_false_kills(scenarios, p, table_of)
        figures.append(
            Figure(f"false kills, alpha over all reached, {where}", rate, f"at most {ALPHA:g}", high=ALPHA)
        )
        lucky = family_false_kills(scenarios, p, table_of, over_testable=True)
        what = f"false kills, alpha over the testable only, {where}"
        figures.append(Figure(what, lucky, f"{known:g}", known - 5e-4, known + 5e-4))
    how = (
        f"Exact: n0 = {N0}, alpha {ALPHA:g}. At a low pass rate only the scenarios with a lucky baseline are testable. "
        "Campaigns share alpha over all scenarios that reach a mutant; the other division is printed beside it."
    )
    return Section("Kill rule: scenarios that are hardly testable", how, tuple(figures))


def family_false_kills(
    scenarios: int, p: float, table_of: TableOf = decision_table, *, over_testable: bool = False
) -> float:
    """Return the chance that some scenario kills a mutant without effect; all scenarios have the pass rate `p`.

    A scenario is not tried if its baseline is untestable. The number of testable scenarios is binomial; each kills
    independently of the others, since each has its own baseline and its own boundary.
    """
    testable = _testable(p)
    chance: Callable[[int], float] = cache(lambda k: _false_kill(p, level_for(k, ALPHA), table_of) / testable)
    numbers = np.arange(1, scenarios + 1)
    weights = binom.pmf(numbers, scenarios, testable)
    each = [chance(int(k) if over_testable else scenarios) for k in numbers]
    return float(weights @ (1 - (1 - np.array(each)) ** numbers))


def _testable(p: float) -> float:
    delta = KillDesign().delta
    weights = baseline_weights(N0, np.array([1 - p]))[:, 0]
    return float(sum(w for f0, w in enumerate(weights) if not is_untestable(f0, N0, delta)))


def _false_kill(p: float, level: float, table_of: TableOf) -> float:
    """Return the chance that one scenario is testable and kills."""
    weights = baseline_weights(N0, np.array([1 - p]))[:, 0]
    tables = (table_of(f0, N0, KillDesign(level)) for f0 in range(N0 + 1))
    chances = (float(decision_probability(table, Decision.KILLED, 1 - p)[0]) for table in tables)
    return float(sum(w * chance for w, chance in zip(weights, chances, strict=True)))
