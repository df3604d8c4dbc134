"""The exact behaviour of a sequential test at a true pass rate, from the chances of every state (n, failures)."""

import math
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.three_valued import Verdict

FORGOTTEN = 1e-12
"""A test without end is followed until the chance that it still runs is below this."""
LONGEST = 200_000
"""Trials after which following a test without end is given up."""


class SprtCharacteristics(NamedTuple):
    """Chances of each verdict and the number of trials."""

    passed: float
    failed: float
    inconclusive: float
    """Chance of n_max trials without a decision; 0 without n_max."""
    trials: float
    """Mean number of trials, E[N]."""
    median: int
    """Least n by which at least half of the tests have ended."""


class Stop(NamedTuple):
    """The chances of PASS and of FAIL at exactly trial n, and of still running after it."""

    n: int
    passed: float
    failed: float
    alive: float


def sprt_characteristics(design: SprtDesign, p: float) -> SprtCharacteristics:
    """Return exact characteristics at true pass rate `p` in [0, 1], to about 1e-12 (the mean: 1e-8).

    Without n_max the test is followed until it has ended. Costs some tens of microseconds a trial at a margin of 0.1,
    and more the smaller the margin, as more numbers of failures are then undecided.

    Raises `ValueError` for p outside [0, 1], and where more than about 200,000 trials would have to be followed (a
    tiny margin without a small n_max); `ArithmeticError` if a test without n_max has not ended by then after all.
    """
    looks = min(
        _looks(design, check_rate("p", p, closed=True)), math.inf if design.n_max is None else design.n_max
    )
    if looks > LONGEST:
        raise ValueError(
            f"margin and n_max must let the test end within {LONGEST} trials, got {design.margin!r} and "
            f"{design.n_max!r}, about {looks:.2g} trials at p = {p!r}"
        )
    last = LONGEST if design.n_max is None else design.n_max
    passed = failed = trials = 0.0
    alive, median = 1.0, 0
    for stop in stops(design, p):
        trials, passed, failed, alive = trials + alive, passed + stop.passed, failed + stop.failed, stop.alive
        median = median or stop.n * (alive <= 0.5 or stop.n == last)
        if alive < FORGOTTEN or stop.n == last:
            break
    if design.n_max is None and alive >= FORGOTTEN:
        raise ArithmeticError(f"at p = {p!r} the test needs more than {LONGEST} trials: give it an n_max")
    return SprtCharacteristics(passed, failed, 0.0 if design.n_max is None else alive, trials, median)


def _looks(design: SprtDesign, p: float) -> float:
    """Estimate by Brownian motion how many trials pass until the test still runs with chance `FORGOTTEN`.

    For a drift m, a variance v and a distance d between the boundaries that chance decays at a rate of
    m^2/(2v) + pi^2 v/(2 d^2) a trial; without variance the boundary is reached in a straight line. Close for small
    margins, where it matters.
    """
    if design.threshold == 1:
        return design.lower / design.on_pass  # passes only, up to PASS
    drift = p * design.on_pass + (1 - p) * design.on_failure
    variance = p * (1 - p) * (design.on_failure - design.on_pass) ** 2
    if variance == 0:
        return (design.lower if drift < 0 else design.upper) / drift
    distance = design.upper - design.lower
    decay = drift**2 / (2 * variance) + math.pi**2 * variance / (2 * distance**2)
    line = max(design.lower / drift, design.upper / drift) if drift else 0.0
    return max(line, -math.log(FORGOTTEN) / decay)


def stops(design: SprtDesign, p: float, n: int = 0, failures: int = 0) -> Iterator[Stop]:
    """Yield the chances of ending at trial n + 1, n + 2, ... after `n` undecided trials; n_max is ignored.

    The chance of every number of failures at which the test still runs is carried along; there are about
    (b - a)/(on_failure - on_pass) of them, whatever n.
    """
    check_rate("p", p, closed=True)
    check_count("failures", failures, 0, check_count("n", n))
    alive, least = np.ones(1), failures
    for trial in count(n + 1):
        arrived = np.zeros(len(alive) + 1)
        arrived[:-1] = alive * p
        arrived[1:] += alive * (1 - p)
        low, high = _undecided(design, trial, least, len(arrived))
        alive = arrived[low:high]
        yield Stop(trial, float(arrived[:low].sum()), float(arrived[high:].sum()), float(alive.sum()))
        least += low


def _undecided(design: SprtDesign, n: int, least: int, size: int) -> tuple[int, int]:
    """Return which of the states with `least`, `least` + 1, ... failures go on, as a slice."""
    low, high = 0, size
    while low < high and design.crossed(n, least + low) is Verdict.PASS:
        low += 1
    while high > low and design.crossed(n, least + high - 1) is Verdict.FAIL:
        high -= 1
    return low, high
