"""A part of alpha for all scenarios together: what it finds sooner, what it costs, and that it stays valid."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from agentmut.stats.kill.campaigns import simulate
from agentmut.stats.kill.characteristics import TableOf
from agentmut.stats.kill.rule import KillDesign, decision_table, level_for
from agentmut.stats.kill.suite_share import log_threshold
from benchmarks.calibration.figures import Figure, Section, simulated_rate

ALPHA = 0.05


class _Case(NamedTuple):
    """Ten scenarios that lose `drops`, and the trials that a mutant should take without and with half a share."""

    name: str
    drops: tuple[float, ...]
    alone: tuple[float, float]
    shared: tuple[float, float]


COSTS = (
    _Case("all ten down by 0.2", (0.2,) * 10, (43, 53), (0, 37)),
    _Case("all ten down by 0.1", (0.1,) * 10, (200, 250), (0, 150)),
    _Case("one down by 0.4", (0.4, *(0.0,) * 9), (0, 50), (0, 54)),
    _Case("two down by 0.4", (0.4, 0.4, *(0.0,) * 8), (0, 31), (0, 36)),
    _Case("none", (0.0,) * 10, (0, 222), (0, 222)),
)
NULLS: tuple[tuple[str, tuple[float, ...], int], ...] = (
    ("ten at 0.9", (0.9,) * 10, 100),
    ("ten at 0.7", (0.7,) * 10, 100),
    ("ten from 0.99 to 0.4", (0.99, 0.98, 0.95, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.4), 100),
    ("ten at 0.9", (0.9,) * 10, 20),
    ("thirty at 0.3, many untestable", (0.3,) * 30, 50),
    ("thirty at 0.25, many untestable", (0.25,) * 30, 20),
)
"""Name, true pass rates and baseline size of campaigns in which nothing changed."""


def section(*, thorough: bool) -> Section:
    """Return costs without and with half of alpha for the suite; false kills for equal and unequal scenarios."""
    runs, table_of = 4000 if thorough else 300, cache(decision_table)
    costs, nulls = (COSTS, NULLS) if thorough else (COSTS[:1], NULLS[:1])
    figures = [figure for case in costs for figure in _cost(case, runs, table_of)]
    figures += [figure for null in nulls for figure in _false_kills(*null, runs, table_of)]
    how = (
        "Simulated (seed 1), a new baseline for each mutant; costs at pass rate 0.9 and n0 = 100, ten scenarios that "
        "share 0.05, or 0.025 each for them and for the suite."
    )
    return Section("Kill rule: a share for the suite", how, tuple(figures))


def _cost(case: _Case, runs: int, table_of: TableOf) -> Iterator[Figure]:
    for share, (low, high) in ((0.0, case.alone), (0.5, case.shared)):
        design, threshold = _levels(10, share)
        rng = np.random.default_rng(1)
        found = simulate(
            (0.9,) * 10, case.drops, design, runs, rng, log_threshold=threshold, table_of=table_of
        )
        error = float(found.trials.std() / runs**0.5)
        words = f"at most {high}" if not low else f"{low} to {high}"
        what = f"trials, {case.name}, share {share}"
        yield Figure(what, float(found.trials.mean()), words, low, high, error)


def _false_kills(
    name: str, rates: Sequence[float], n0: int, runs: int, table_of: TableOf
) -> Iterator[Figure]:
    design, threshold = _levels(len(rates), 0.5)
    rng, none = np.random.default_rng(1), (0.0,) * len(rates)
    found = simulate(rates, none, design, runs, rng, n0=n0, log_threshold=threshold, table_of=table_of)
    for what, hits, level in (
        ("false kills", found.killed, ALPHA),
        ("by the suite", found.pooled >= threshold, ALPHA / 2),
    ):
        rate, error = simulated_rate(hits.tolist())
        yield Figure(f"{what}, {name}, n0 = {n0}", rate, f"at most {level:g}", high=level, error=error)


def _levels(scenarios: int, share: float) -> tuple[KillDesign, float]:
    """Return the design of one scenario, and the logarithm at which the pooled evidence kills."""
    design = KillDesign(level_for(scenarios, ALPHA * (1 - share)))
    return design, log_threshold(ALPHA * share) if share else float("inf")
