"""Coverage of the mutation score's interval, and of Wilson's on killed / total for comparison."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.kill.characteristics import TableOf
from agentmut.stats.kill.rule import DEFAULT_DESIGN, decision_table
from agentmut.stats.score.mutation_score import Group, Rates, score_interval, table_rates
from benchmarks.calibration.false_kills import kill_probability, survive_probability
from benchmarks.calibration.figures import Figure, Section, simulated_rate

MIXES: tuple[Mapping[float, int], ...] = (
    {0.0: 40},
    {0.0: 20, 0.2: 20},
    {0.0: 10, 0.1: 10, 0.4: 20},
    {0.2: 50},
    {0.0: 100, 0.1: 50, 0.2: 50, 0.4: 50},
)
"""Drop -> number of mutants."""
SETTINGS = tuple(
    (p, n0, mix) for p in (0.95, 0.9, 0.8, 0.5) for n0, mix in zip((100,) * 5, MIXES, strict=True)
)


class Coverage(NamedTuple):
    """How often intervals of level 0.95 held what they speak of."""

    score: tuple[float, float]
    """Rate and standard error: both ends of the mutation score's."""
    low: tuple[float, float]
    """Its lower end alone."""
    high: tuple[float, float]
    """Its upper end alone."""
    wilson: tuple[float, float]
    """Wilson's on killed / total, of the share of mutants with a real drop."""


def coverage(p: float, n0: int, mix: Mapping[float, int], runs: int, table_of: TableOf) -> Coverage:
    """Simulated campaigns, each with one baseline that its mutants share (seed 11)."""
    rng, total = np.random.default_rng(11), sum(mix.values())
    chances, rates = (
        cache(lambda f0, drop: _chances(f0, n0, p, drop, table_of)),
        cache(lambda f0: table_rates(table_of(f0, n0, DEFAULT_DESIGN))),
    )
    worse = sum(number for drop, number in mix.items() if drop > 0) / total
    much_worse = sum(number for drop, number in mix.items() if drop >= DEFAULT_DESIGN.delta) / total
    low, high, held_by_wilson = [], [], []
    for f0 in rng.binomial(n0, 1 - p, runs).tolist():
        counts = sum(rng.multinomial(number, chances(f0, drop)) for drop, number in mix.items())
        killed, survived, undecided = np.asarray(counts).tolist()
        score = _score(killed, survived, undecided, rates(f0))
        low.append(score[0] <= worse)
        high.append(score[1] >= much_worse)
        plain = wilson(killed, total)
        held_by_wilson.append(plain.low <= worse and plain.high >= much_worse)
    held = [a and b for a, b in zip(low, high, strict=True)]
    return Coverage(*map(simulated_rate, (held, low, high, held_by_wilson)))


def section(*, thorough: bool) -> Section:
    """Twenty settings; two of them in the quick pass."""
    table_of, runs = cache(decision_table), 2000 if thorough else 200
    settings = SETTINGS if thorough else SETTINGS[6:8]
    figures = [f for p, n0, mix in settings for f in _figures(p, n0, mix, runs, table_of)]
    how = (
        "Simulated (seed 11): mutants with known drops on one scenario, n0 = 100; the lower end must not exceed the "
        "share with any drop, the upper end not fall below the share with a drop of 0.2 or more. Each end has level "
        "0.975. Where half of the mutants are unchanged and half have dropped by exactly 0.2 both ends can fail, and "
        "the two together have covered 0.958 to 0.975 (2,000 campaigns each)."
    )
    return Section("Mutation score", how, tuple(figures))


def _figures(p: float, n0: int, mix: Mapping[float, int], runs: int, table_of: TableOf) -> Iterator[Figure]:
    found = coverage(p, n0, mix, runs, table_of)
    what = f"p = {p}, drops " + ", ".join(f"{drop:g} x {number}" for drop, number in mix.items())
    rate, error = found.score
    promise = "0.95; at least 0.975 in settings where one end alone can fail"
    yield Figure(f"coverage, {what}", rate, promise, low=0.95, error=error)
    for end, (rate, error) in (("lower", found.low), ("upper", found.high)):
        yield Figure(f"{end} end, {what}", rate, "at least 0.975", low=0.975, error=error)
    rate, error = found.wilson
    yield Figure(f"Wilson's, {what}", rate, "none; falls to 0.15", 0.0, 1.0, error)


def _chances(f0: int, n0: int, p: float, drop: float, table_of: TableOf) -> list[float]:
    """Killed, survived, undecided, given the baseline."""
    table = table_of(f0, n0, DEFAULT_DESIGN)
    rate = min(1.0, 1 - p + drop)
    killed, survived = kill_probability(table, rate), survive_probability(table, rate)
    return [killed, survived, max(0.0, 1 - killed - survived)]


def _score(killed: int, survived: int, undecided: int, rates: Rates) -> tuple[float, float]:
    score = score_interval([Group(killed, survived, undecided, rates)])
    assert score is not None
    return score.interval.low, score.interval.high
