"""Reliability of repeated runs, drift charts and judge corrections, next to what they promise."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from agentmut.nouns.trace import Outcome
from agentmut.stats.reliability.judge_labels import Counts, rectified_bounds, rogan_gladen_bounds
from agentmut.stats.reliability.repeated_runs import Estimator, pass_at_k, pass_hat_k
from agentmut.stats.sequential.drift import Cusum, page_hinkley
from agentmut.stats.sequential.run_length import (
    Draws,
    alarm_chance,
    average_run_length,
    cusum_for,
    page_hinkley_run_length,
    simulated_run_length,
)
from agentmut.stats.verdicts.trial_statistics import pass_rates
from benchmarks.calibration.figures import Figure, Section

Array = NDArray[np.float64]
Bounds = Callable[[Array, Array, int, float], tuple[Counts, Counts]]
Z95 = 1.959963984540054
JUDGED = 1000
"""Trials that the judge labels in the coverage figures."""
JUDGES = ((0.9, 0.95, 0.9), (0.8, 0.9, 0.6), (0.5, 0.7, 0.7), (0.97, 0.99, 0.95), (0.8, 1.0, 0.3))
"""True pass rate, the judge's sensitivity and specificity."""


def section(*, thorough: bool) -> Section:
    """Return bias of pass@k and pass^k, run lengths of drift charts, coverage of judge-corrected rates."""
    sizes = (30, 50, 100) if thorough else (30,)
    figures = [*_bias(), *_run_lengths(20_000 if thorough else 2000), *_known_rate(), *_both_rates()]
    for n in sizes:
        figures += [figure for judge in JUDGES for figure in _judged(n, *judge)]
    figures += _worst(30) if thorough else []
    how = (
        "Bias and coverage: exact sums over all outcomes. Average run lengths: the exact one is the promise, "
        f"the measured one is simulated (seed 1). Judge corrections: {JUDGED} trials labelled by a judge, a "
        "random few of them by a human as well."
    )
    return Section("Reliability, drift and judges", how, tuple(figures))


def _bias() -> Iterator[Figure]:
    """Yield the expected estimate less the true chance."""
    for n, k, p in ((5, 2, 0.8), (10, 5, 0.9), (20, 8, 0.55)):
        for name, estimate, truth, sign in (
            ("pass^k", pass_hat_k, p**k, 1),
            ("pass@k", pass_at_k, 1 - (1 - p) ** k, -1),
        ):
            case = f"of {name}, n = {n}, k = {k}, p = {p}"
            unbiased, plug_in = (
                _expected([estimate(c, n, k, kind) for c in range(n + 1)], p) - truth for kind in Estimator
            )
            yield Figure(f"bias {case}, unbiased", unbiased, "0", -1e-12, 1e-12)
            low, high = (0.0, 1.0) if sign > 0 else (-1.0, 0.0)
            yield Figure(f"bias {case}, plug-in", plug_in, "above 0" if sign > 0 else "below 0", low, high)


def _expected(values: Sequence[float], p: float) -> float:
    return float(binom.pmf(np.arange(len(values)), len(values) - 1, p) @ np.array(values))


def _run_lengths(runs: int) -> Iterator[Figure]:
    rng = np.random.default_rng(1)
    for pass_rate, drop in ((0.9, 0.2), (0.99, 0.1), (0.8, 0.1)):
        plan = cusum_for(pass_rate, drop)
        case = f"CUSUM for {pass_rate:g} - {drop:g}"
        yield Figure(f"{case}: exact run length in control", plan.in_control, "at least 500", 500.0)
        for rate, exact in ((pass_rate, plan.in_control), (pass_rate - drop, plan.after_drop)):
            lengths = cusum_runs(plan.chart, rate, runs, rng)
            yield _length(f"{case}: run length at {rate:g}", exact, float(lengths.mean()), _error(lengths))
    lengths = cusum_runs(cusum_for(0.9, 0.2).chart, 0.9, runs, rng)
    chance = alarm_chance(cusum_for(0.9, 0.2).chart, 0.9, 100)
    early = lengths <= 100
    yield _length("CUSUM for 0.9 - 0.2: false alarm within 100", chance, float(early.mean()), _error(early))
    chart = page_hinkley(0.05, 3, 0.1)
    for rate in (0.9, 0.7):
        found = simulated_run_length(chart, failures(1 - rate), rng, runs=runs)
        case = f"Page-Hinkley, mean 0.1 + 0.05, threshold 3: run length at {rate:g}"
        yield _length(case, page_hinkley_run_length(chart, rate), found.mean, found.error)


def _known_rate() -> Iterator[Figure]:
    """Yield what a chart does where the pass rate it was planned for is off by three points."""
    chart = cusum_for(0.9, 0.2).chart
    yield Figure(
        "CUSUM planned for 0.9: run length at 0.87",
        average_run_length(chart, 0.87),
        "falls to about 204: the planned rate is taken as known",
        203,
        206,
    )


def _length(what: str, exact: float, measured: float, error: float) -> Figure:
    return Figure(what, measured, f"{exact:.4g} (exact)", exact, exact, error)


def _error(values: Array | NDArray[np.bool_]) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def failures(rate: float) -> Draws:
    """Draws of 1 for a failure, at `rate`, and 0 for a pass."""
    return lambda rng, size: (rng.random(size) < rate).astype(np.float64)


def cusum_runs(chart: Cusum, pass_rate: float, runs: int, rng: np.random.Generator) -> Array:
    """Return simulated run lengths of a CUSUM, until every run has alarmed."""
    level, lengths, trial = np.zeros(runs), [np.zeros(0)], 0
    while level.size:
        trial += 1
        failed = rng.random(level.size) >= pass_rate
        level = np.maximum(level + np.where(failed, chart.up, -chart.down), 0)
        alarmed = level >= chart.threshold
        lengths.append(np.full(int(alarmed.sum()), float(trial)))
        level = level[~alarmed]
    return np.concatenate(lengths)


def _both_rates() -> Iterator[Figure]:
    """10 passes, 5 failures, 2 timeouts at work, 5 trials that never tried the agent."""
    counts = {Outcome.PASS: 10, Outcome.FAIL: 5, Outcome.TIMEOUT: 2, Outcome.INFRASTRUCTURE: 3}
    rates = pass_rates({**counts, Outcome.PRE_VALIDATION: 1, Outcome.EMPTY_RUN: 1})
    for name, interval, n in zip(
        ("per protocol", "intention to treat", "in time"), rates, (17, 22, 15), strict=True
    ):
        assert interval.estimate is not None
        yield Figure(f"10 passes of 22 trials, {name}", interval.estimate, f"10/{n}", 10 / n, 10 / n)


def _judged(n: int, p: float, sensitivity: float, specificity: float) -> Iterator[Figure]:
    case = f"{n} labels, pass rate {p:g}, sensitivity {sensitivity:g}, specificity {specificity:g}"
    judge = (p, sensitivity, specificity)
    found = coverage(rectified_bounds, n, *judge)
    yield Figure(f"coverage, rectified, {case}", found, "at least 0.935 at level 0.95", 0.935)
    found = coverage(rogan_gladen_bounds, n, *judge)
    known = specificity == 0.3
    promise = "falls to 0.88 - 0.92 with a judge this lenient" if known else "at least 0.935 at level 0.95"
    yield Figure(f"coverage, Rogan-Gladen, {case}", found, promise, 0.875 if known else 0.935)


def _worst(n: int) -> list[Figure]:
    """Return the least coverage over a grid of pass rates, sensitivities and specificities."""
    grid = list(product((0.5, 0.8, 0.9, 0.98), (0.5, 0.7, 0.9, 0.97, 1.0), (0.0, 0.3, 0.5, 0.8, 0.95, 1.0)))
    worst = min(coverage(rectified_bounds, n, *judge) for judge in grid)
    usable = [judge for judge in grid if judge[1] + judge[2] > 1]
    lowest = min(coverage(rogan_gladen_bounds, n, *judge) for judge in usable)
    return [
        Figure(f"least coverage, rectified, {n} labels, {len(grid)} cases", worst, "at least 0.935", 0.935),
        Figure(
            f"least coverage, Rogan-Gladen, {n} labels, {len(usable)} cases", lowest, "falls to 0.88", 0.875
        ),
    ]


def coverage(
    bounds: Bounds, n: int, p: float, sensitivity: float, specificity: float, total: int = JUDGED
) -> float:
    """Return the chance that bounds at level 0.95 hold `p`, with `n` human labels in `total`; exact to 1e-6.

    Sums over the tables of human and judge labels, and over the judge's passes among the other trials.
    """
    cells = (p * sensitivity, (1 - p) * (1 - specificity), p * (1 - sensitivity), (1 - p) * specificity)
    passes = cells[0] + cells[1]
    tables, chances = _tables(n, cells)
    rest = np.arange(total - n + 1)
    weights = binom.pmf(rest, total - n, passes)
    rest, weights = rest[weights > 1e-10], weights[weights > 1e-10]
    covered = 0.0
    for start in range(0, len(chances), 2000):
        block = tables[:, start : start + 2000, None]
        low, high = bounds(block, block[0] + block[1] + rest, total, Z95)
        holds = (np.asarray(low) <= p) & (p <= np.asarray(high))
        covered += float(chances[start : start + 2000] @ (holds @ weights))
    return covered


def _tables(n: int, cells: Sequence[float]) -> tuple[Array, Array]:
    """Return all tables of n in four cells with a chance that matters, and their multinomial chances."""
    bars = np.array(list(combinations(range(n + 3), 3)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + 3)])
    tables = np.diff(edges, axis=1) - 1
    logs = np.array([math.log(cell) if cell else -1e9 for cell in cells])
    factorials = np.array([math.lgamma(i + 1) for i in range(n + 1)])
    chances = np.exp(factorials[n] - factorials[tables].sum(axis=1) + tables @ logs)
    keep = chances > 1e-12
    return tables[keep].T.astype(np.float64), chances[keep]
