"""In real life: how often an unchanged service is said to have drifted, by the statistic alone, without the engine."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from agentmut.stats import find_shift
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SCENARIOS, LEVEL = 10, 0.05
LEAD, MOST = 3, 20
"""A confirmation ends once passes lead failures by `LEAD`, or after `MOST` trials."""


class Course(NamedTuple):
    """What a campaign has of the original: the first baseline of a scenario, and the trials after it."""

    name: str
    baseline: int
    sentinels: int
    confirmations: int
    """Runs of further trials on one scenario, which end by what they show."""


COURSES = (
    Course("20 runs of the baseline, 60 sentinels", 20, 60, 0),
    Course("100 runs of the baseline, 150 sentinels", 100, 150, 0),
    Course("20 runs of the baseline, 60 sentinels, 15 confirmations", 20, 60, 15),
)
RATES = (0.98, 0.9, 0.8)


def section(*, thorough: bool) -> Section:
    """Measure how often a steady service has a drift named; quick: one cell."""
    campaigns = 2000 if thorough else 20
    courses, rates = (COURSES, RATES) if thorough else (COURSES[2:], RATES[1:2])
    figures = tuple(_figures(courses, rates, campaigns))
    how = (
        f"Coins straight into the test of drift, without the engine: {SCENARIOS} scenarios of one pass rate that never "
        f"changes, {campaigns} campaigns a cell, seeds from 1. A confirmation adds trials of the original on one "
        f"scenario until passes lead failures by {LEAD}, at most {MOST}: its length depends on its outcomes, as in a "
        "campaign."
    )
    return Section("In real life: a drift named of a steady service", how, figures)


def _figures(courses: tuple[Course, ...], rates: tuple[float, ...], campaigns: int) -> Iterator[Figure]:
    for course in courses:
        for p in rates:
            rate, error = simulated_rate(names_a_drift(course, p, seed) for seed in range(1, campaigns + 1))
            what = f"steady service named as drifting, p = {p:g}, {course.name}"
            yield Figure(what, rate, f"at most {LEVEL:g}", high=LEVEL, error=error)


def names_a_drift(course: Course, p: float, seed: int) -> bool:
    """Return whether the test rejects at `LEVEL` for one campaign on a service that passes at `p` throughout."""
    rng = np.random.default_rng([seed, round(1000 * p), course.baseline, course.confirmations])
    failures = rng.binomial(course.baseline, 1 - p, SCENARIOS).tolist()
    baseline = {f"s{j}": (f0, course.baseline) for j, f0 in enumerate(failures)}
    found = find_shift(baseline, _later(course, p, rng), np.random.default_rng(seed))
    return found is not None and found.p <= LEVEL


def _later(course: Course, p: float, rng: np.random.Generator) -> list[tuple[str, bool]]:
    later: list[tuple[str, bool]] = []
    starts = set(rng.choice(course.sentinels, course.confirmations, replace=False).tolist())
    for k in range(course.sentinels):
        later.append((f"s{k % SCENARIOS}", bool(rng.random() >= p)))
        if k in starts:
            later += _confirmation(f"s{int(rng.integers(SCENARIOS))}", p, rng)
    return later


def _confirmation(scenario: str, p: float, rng: np.random.Generator) -> list[tuple[str, bool]]:
    outcomes: list[bool] = []
    while len(outcomes) < MOST and outcomes.count(False) - outcomes.count(True) < LEAD:
        outcomes.append(bool(rng.random() >= p))
    return [(scenario, failed) for failed in outcomes]
