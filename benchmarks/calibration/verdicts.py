"""What the fixed-n verdict and the previews do, next to what they promise."""

import math
from collections.abc import Callable
from functools import cache
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from agentmut.stats.kill.rule import DEFAULT_DESIGN, Decision, decision_table
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.preview import (
    Preview,
    preview_fixed,
    preview_regression,
    preview_sprt,
    preview_suite,
)
from agentmut.stats.verdicts.scenario_verdict import FixedMethod, critical, fixed_verdict, p_values
from benchmarks.calibration.figures import Figure, Section, simulated_rate

THRESHOLDS = (0.5, 0.8, 0.85, 0.9, 0.95, 0.99)
WILSON_FAILS = {0.5: 0.0625, 0.8: 0.2, 0.85: 0.15, 0.9: 0.1, 0.95: 0.1426, 0.99: 0.1571}
"""Threshold -> largest chance of a false FAIL with Wilson's interval at alpha = 0.05."""
Ending = tuple[Verdict, int]
"""A verdict and the trials it took."""


class Worst(NamedTuple):
    """The largest error rates over the numbers of trials."""

    fail: float
    """The bound of P(FAIL) at a rate of the threshold: higher rates fail less."""
    passing: float
    """The bound of P(PASS) just below the threshold, in the limit: lower rates pass less."""


def section(*, thorough: bool) -> Section:
    """Return both errors of both methods, the chance that `needed` promises, and previews against simulated runs."""
    most, runs = (2000, 20_000) if thorough else (300, 1000)
    figures = [
        f for threshold in THRESHOLDS for alpha in (0.05, 0.01, 0.1) for f in _exact(threshold, alpha, most)
    ]
    figures += [f for threshold in THRESHOLDS for f in _wilson(threshold, most)]
    figures += [_needed(k, n) for k, n in ((47, 50), (45, 50), (38, 50))]
    figures += _previews(runs)
    how = (
        f"Exact sums over the binomial, the largest over 1 to {most} trials; previews against runs (seed 1)."
    )
    return Section("Verdicts on one scenario, and previews", how, tuple(figures))


def worst_errors(threshold: float, alpha: float, method: FixedMethod, most: int) -> Worst:
    """Return the largest chances of both errors over n = 1..most."""
    n = np.arange(1, most + 1)
    bound = critical(n, threshold, alpha, method)
    fails, passes = binom.cdf(bound.fail_at, n, threshold), binom.sf(bound.pass_at - 1, n, threshold)
    return Worst(float(np.max(fails)), float(np.max(passes)))


def _exact(threshold: float, alpha: float, most: int) -> list[Figure]:
    worst, at = (
        worst_errors(threshold, alpha, "clopper-pearson", most),
        f"theta {threshold:g}, alpha {alpha:g}",
    )
    promise = f"at most alpha/2 = {alpha / 2:g}"
    return [
        Figure(f"clopper-pearson: FAIL at theta, {at}", worst.fail, promise, high=alpha / 2),
        Figure(f"clopper-pearson: PASS below theta, {at}", worst.passing, promise, high=alpha / 2),
    ]


def _wilson(threshold: float, most: int) -> list[Figure]:
    worst, at, known = (
        worst_errors(threshold, 0.05, "wilson", most),
        f"theta {threshold:g}",
        WILSON_FAILS[threshold],
    )
    both = "known to reach 0.0625 at theta 0.5, 0.029 above"
    highest = 0.0625 if threshold == 0.5 else 0.029
    return [
        Figure(
            f"wilson: FAIL at theta, {at}",
            worst.fail,
            f"known to reach {known:g}",
            known - 1e-4,
            known + 1e-4,
        ),
        Figure(f"wilson: PASS below theta, {at}", worst.passing, both, high=highest),
    ]


def _needed(k: int, n: int) -> Figure:
    """Return the chance of a verdict after the proposed trials, summed over what they may show."""
    more = fixed_verdict(k, n, 0.85).needed or 0
    found = np.arange(more + 1)
    p = p_values(k + found, n + more, 0.85, "clopper-pearson")
    chance = float(binom.pmf(found, more, k / n) @ ((p.fail <= 0.05) | (p.passing <= 0.05)))
    what = f"chance of a verdict on {k} of {n} after the {more} further trials proposed, theta 0.85"
    return Figure(what, chance, "at least 0.8, by little", 0.8, 0.85)


def _previews(runs: int) -> list[Figure]:
    rng, design, judged = Random(1), SprtDesign(0.9), cache(fixed_verdict)

    def fixed() -> Ending:
        return judged(_passes(rng, 50, 0.95), 50, 0.85).verdict, 50

    def sequential(rate: float) -> Ending:
        ended = design.run(rng.random() < rate for _ in range(100))
        return ended.verdict or Verdict.INCONCLUSIVE, ended.n

    table_of = cache(decision_table)

    def regression() -> Ending:
        table = table_of(50 - _passes(rng, 50, 0.9), 50, DEFAULT_DESIGN)
        ended = table.verdict(rng.random() >= 0.7 for _ in range(100))
        by_decision = {Decision.KILLED: Verdict.FAIL, Decision.SURVIVED: Verdict.PASS}
        return by_decision.get(ended.decision, Verdict.INCONCLUSIVE), ended.n

    def suite() -> Ending:
        endings = [sequential(rate) for rate in (0.97, 0.95, 0.85)]
        verdicts = [verdict for verdict, _ in endings]
        whole = next((v for v in (Verdict.FAIL, Verdict.INCONCLUSIVE) if v in verdicts), Verdict.PASS)
        return whole, sum(n for _, n in endings)

    parts = {str(rate): preview_sprt(rate, design) for rate in (0.97, 0.95, 0.85)}
    return [
        *_beside("fixed n", preview_fixed(0.95, 50, 0.85), fixed, runs),
        *_beside("SPRT at 0.85", parts["0.85"], lambda: sequential(0.85), runs),
        *_beside("kill rule", preview_regression(0.9, 0.2, 50, table_of=table_of), regression, runs),
        *_beside("suite of three", preview_suite(parts), suite, runs),
    ]


def _beside(name: str, preview: Preview, run: Callable[[], Ending], runs: int) -> list[Figure]:
    endings = [run() for _ in range(runs)]
    trials = [n for _, n in endings]
    found = {
        "P(PASS)": (preview.passed, *simulated_rate(v is Verdict.PASS for v, _ in endings)),
        "P(FAIL)": (preview.failed, *simulated_rate(v is Verdict.FAIL for v, _ in endings)),
        "E[N]": (preview.trials, fmean(trials), stdev(trials) / math.sqrt(runs)),
    }
    return [
        Figure(f"preview of {name}: {what}", rate, f"{said:.4g}", said - 1e-9, said + 1e-9, error)
        for what, (said, rate, error) in found.items()
    ]


def _passes(rng: Random, n: int, rate: float) -> int:
    return sum(rng.random() < rate for _ in range(n))
