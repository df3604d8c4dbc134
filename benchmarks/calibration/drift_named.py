"""In real life: how often an unchanged service is said to have drifted, by the statistic alone, without the engine."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from agentmut.stats import LaterTrials, find_shift
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SCENARIOS, LEVEL = 10, 0.05
LEAD, MOST = 3, 20
"""A confirmation ends once passes lead failures by `LEAD`, or after `MOST` trials."""
SHORTEST, LONGER, LONGEST = 11, 8, 60
"""Trials of a mutant on a scenario: without a failure, more for each failure, and at most."""


class Course(NamedTuple):
    """What a campaign has: the first baseline of a scenario, and the trials after it."""

    name: str
    baseline: int
    sentinels: int
    confirmations: int
    """Runs of further trials on one scenario, which end by what they show."""
    mutants: int = 0
    between: int = 0
    """Trials of mutants between two sentinels."""
    worse: float = 0.0
    """How much more often than the original all mutants fail, on all scenarios."""


COURSES = (
    Course("20 runs of the baseline, 60 sentinels", 20, 60, 0),
    Course("100 runs of the baseline, 150 sentinels", 100, 150, 0),
    Course("20 runs of the baseline, 60 sentinels, 15 confirmations", 20, 60, 15),
    Course("the same, and 12 mutants like the original", 20, 60, 15, 12, 15),
    Course("the same, and 12 mutants that fail .05 more often everywhere", 20, 60, 15, 12, 15, 0.05),
)
RATES = (0.98, 0.9, 0.8)


def section(*, thorough: bool, size: int | None = None) -> Section:
    """Measure how often a steady service has a drift named; quick: one cell. `size`: the campaigns of a cell."""
    campaigns = (size or 200) if thorough else 10
    courses, rates = (COURSES, RATES) if thorough else (COURSES[3:4], RATES[1:2])
    figures = tuple(_figures(courses, rates, campaigns))
    how = (
        f"Coins straight into the test of drift, without the engine: {SCENARIOS} scenarios of one pass rate that never "
        f"changes, {campaigns} campaigns a cell, seeds from 1. A confirmation adds trials of the original on the "
        f"scenario with the luckiest baseline, or the next of them, until passes lead failures by {LEAD}, at most "
        f"{MOST}: where it is and how long depends on outcomes, as in a campaign. A mutant runs on the scenario that "
        f"it failed most: {SHORTEST} trials on each, {LONGER} more for each failure, at most {LONGEST}."
    )
    return Section("In real life: a drift named of a steady service", how, figures)


def _figures(courses: tuple[Course, ...], rates: tuple[float, ...], campaigns: int) -> Iterator[Figure]:
    for course in courses:
        for p in rates:
            rate, error = simulated_rate(names_a_drift(course, p, seed) for seed in range(1, campaigns + 1))
            what = f"steady service named as drifting, p = {p:g}, {course.name}"
            promise, high = ("-", math.inf) if course.worse else (f"at most {LEVEL:g}", LEVEL)
            yield Figure(what, rate, promise, high=high, error=error)


def names_a_drift(course: Course, p: float, seed: int) -> bool:
    """Return whether the test rejects at `LEVEL` for one campaign on a service that passes at `p` throughout."""
    rng = np.random.default_rng(
        [seed, round(1000 * p), course.baseline, course.confirmations, course.mutants]
    )
    failures = rng.binomial(course.baseline, 1 - p, SCENARIOS).tolist()
    baseline = {f"s{j}": (f0, course.baseline) for j, f0 in enumerate(failures)}
    found = find_shift(baseline, _later(course, p, sorted(baseline, key=lambda name: baseline[name]), rng))
    return found is not None and found.p <= LEVEL


def _later(course: Course, p: float, luckiest: list[str], rng: np.random.Generator) -> LaterTrials:
    lanes = [(f"s{j}", f"m{i}" if i else "") for i in range(course.mutants + 1) for j in range(SCENARIOS)]
    failed, run = np.zeros(len(lanes), dtype=int), np.zeros(len(lanes), dtype=int)
    where: list[int] = []
    outcomes: list[bool] = []
    starts = {int(at): i for i, at in enumerate(rng.permutation(course.sentinels)[: course.confirmations])}

    def trial(lane: int) -> bool:
        outcome = bool(rng.random() >= p - (course.worse if lane >= SCENARIOS else 0.0))
        failed[lane], run[lane] = failed[lane] + outcome, run[lane] + 1
        where.append(lane)
        outcomes.append(outcome)
        return outcome

    for k in range(course.sentinels):
        trial(k % SCENARIOS)
        if k in starts:
            _confirm(trial, int(luckiest[starts[k] % 3][1:]))
        for turn in range(course.between):
            first = SCENARIOS * (1 + (k * course.between + turn) % course.mutants)
            live = [j for j in range(first, first + SCENARIOS) if run[j] < _length(int(failed[j]))]
            if live:
                trial(max(live, key=lambda j: (failed[j], -run[j])))
    return LaterTrials(lanes, where, outcomes)


def _length(failures: int) -> int:
    return min(LONGEST, SHORTEST + LONGER * failures)


def _confirm(trial: Callable[[int], bool], lane: int) -> None:
    lead = trials = 0
    while trials < MOST and lead < LEAD:
        lead += -1 if trial(lane) else 1
        trials += 1
