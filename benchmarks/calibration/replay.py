"""The kill rule on shared seeds, in the coupling model of `kill.replay`."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from agentmut.stats.kill.characteristics import TableOf, operating_characteristics
from agentmut.stats.kill.replay import coupling
from agentmut.stats.kill.rule import DEFAULT_DESIGN, Decision, decision_table
from benchmarks.calibration.figures import Figure, Section, simulated_rate

PROMISED = {0.0: 22.8, 1.0: 4.3}
"""Coupling -> trials at pass rate 0.9 and drop 0.2."""
REPLAYS = 100


def section(*, thorough: bool) -> Section:
    """Trials, power and false kills by coupling; and seeds of unequal difficulty, simulated."""
    table_of = cache(decision_table)
    figures = [f for rho in (0.0, 0.25, 0.5, 0.75, 0.9, 1.0) for f in _at(rho, table_of)]
    figures += [_unequal(bad, 4000 if thorough else 500, table_of) for bad in (0.3, 0.9)]
    how = (
        "Exact by dynamic programming with 100 replays, pass rate 0.9; with chance rho a trial repeats the luck of "
        "its seed. Seeds of unequal difficulty are simulated (seed 8)."
    )
    return Section("Kill rule on shared seeds", how, tuple(figures))


def _at(rho: float, table_of: TableOf) -> Iterator[Figure]:
    model = coupling(0.9, 0.2, rho)
    p = 1 - model.null_rate
    same = operating_characteristics(REPLAYS, DEFAULT_DESIGN, p, 0.0, table_of)
    worse = operating_characteristics(
        REPLAYS, DEFAULT_DESIGN, p, model.failure_rate - model.null_rate, table_of
    )
    low, high = (PROMISED[rho] - 0.1, PROMISED[rho] + 0.1) if rho in PROMISED else (4.2, 22.9)
    yield Figure(f"rho {rho}: false kills", same.killed, "at most 0.05", high=0.05)
    yield Figure(f"rho {rho}: killed at drop 0.2", worse.killed, "at least 0.87", low=0.87)
    words = f"{PROMISED[rho]}" if rho in PROMISED else "between 22.8 and 4.3"
    yield Figure(f"rho {rho}: trials at drop 0.2", worse.trials, words, low, high)


def _unequal(bad: float, runs: int, table_of: TableOf) -> Figure:
    """One seed in ten fails again at rate `bad`, the others at 0.01, for the original and an unchanged mutant."""
    rng = np.random.default_rng(8)
    killed = []
    for _ in range(runs):
        theta = np.where(rng.random(REPLAYS) < 0.1, bad, 0.01)
        table = table_of(int((rng.random(REPLAYS) < theta).sum()), REPLAYS, DEFAULT_DESIGN)
        outcomes = (rng.random(REPLAYS) < theta).tolist()
        killed.append(table.verdict(outcomes).decision is Decision.KILLED)
    rate, error = simulated_rate(killed)
    what = f"one seed in ten fails again at rate {bad}: false kills"
    return Figure(what, rate, "at most 0.05", high=0.05, error=error)
