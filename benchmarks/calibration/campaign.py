"""The default campaign: ten scenarios that share alpha, each trial where the evidence is; and what survives a drop."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from agentmut.stats.kill.campaigns import Mutants, simulate
from agentmut.stats.kill.characteristics import TableOf, operating_characteristics
from agentmut.stats.kill.rule import DEFAULT_DESIGN, KillDesign, decision_table, level_for
from benchmarks.calibration.bound import RATES, kill_ratio
from benchmarks.calibration.figures import Figure, Section, simulated_rate

UNEQUAL = (0.99, 0.98, 0.95, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.4)
NULLS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("ten at 0.9", (0.9,) * 10),
    ("ten from 0.99 to 0.4", UNEQUAL),
    ("ten at 0.5", (0.5,) * 10),
)
"""Name and true pass rates of campaigns in which nothing changed."""
POWERS: tuple[tuple[str, tuple[float, ...], float], ...] = (
    ("one of ten down by 0.2", (0.2, *(0.0,) * 9), 0.76),
    ("one of the three that reach it down by 0.2", (0.2, 0.0, 0.0), 0.85),
)
"""Name, drops at pass rate 0.9, and the share of such mutants that is killed."""
SURVIVORS = {20: 0.129, 30: 0.119, 40: 0.112, 50: 0.108, 100: 0.103}
"""Baseline size -> supremum of P(SURVIVED | drop delta)."""


def section(*, thorough: bool) -> Section:
    """Measure the family's false kills and power, survivors at their worst rate, and ratios to the bound by cell."""
    runs, table_of = 8000 if thorough else 400, cache(decision_table)
    figures = [_false_kill(*null, runs, table_of) for null in (NULLS if thorough else NULLS[:1])]
    figures += [_power(*case, runs, table_of) for case in (POWERS if thorough else POWERS[1:])]
    figures += [_survivors(n0, 48 if thorough else 9) for n0 in (SURVIVORS if thorough else (20,))]
    figures += list(_ratios(table_of)) if thorough else []
    how = (
        "False kills and power are simulated (seed 1): n0 = 100, a new baseline for each mutant, trials to the "
        "scenario with the most evidence, alpha 0.05 over the number of scenarios. Survivors and ratios are exact."
    )
    return Section("Kill rule: the default campaign", how, tuple(figures))


def _campaign(
    rates: Sequence[float], drops: Sequence[float], level: float, runs: int, table_of: TableOf
) -> Mutants:
    return simulate(rates, drops, KillDesign(level), runs, np.random.default_rng(1), table_of=table_of)


def _false_kill(name: str, rates: Sequence[float], runs: int, table_of: TableOf) -> Figure:
    found = _campaign(rates, (0.0,) * len(rates), level_for(len(rates)), runs, table_of)
    rate, error = simulated_rate(found.killed.tolist())
    return Figure(f"false kills of the family, {name}", rate, "at most 0.05", high=0.05, error=error)


def _power(name: str, drops: Sequence[float], known: float, runs: int, table_of: TableOf) -> Figure:
    found = _campaign((0.9,) * len(drops), drops, 0.05 / len(drops), runs, table_of)
    rate, error = simulated_rate(found.killed.tolist())
    return Figure(f"killed, {name}", rate, f"{known:g}", known - 0.01, known + 0.01, error)


def _survivors(n0: int, points: int) -> Figure:
    """Return the largest chance of survival over a grid of pass rates from delta to 1."""
    table_of, delta = cache(decision_table), DEFAULT_DESIGN.delta
    rates = 1 - (1 - delta) * np.sin(np.linspace(0, np.pi / 2, points)) ** 2
    worst = max(
        operating_characteristics(n0, DEFAULT_DESIGN, p, delta, table_of).survived for p in rates.tolist()
    )
    known = SURVIVORS[n0]
    what = f"survivors at a drop of 0.2, the most at any rate, n0 = {n0}"
    return Figure(what, worst, f"{known:g}", known - 0.006, known + 0.0005)


def _ratios(table_of: TableOf) -> Iterator[Figure]:
    for n0 in (50, 200):
        for p in RATES:
            for drop in (0.2, 0.4):
                ratio = kill_ratio(p, drop, n0, DEFAULT_DESIGN, table_of)
                yield Figure(f"trials over the least possible, n0 = {n0}, p = {p}, drop {drop}", ratio, "-")
