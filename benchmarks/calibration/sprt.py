"""What the sequential test does, next to what it promises."""

from dataclasses import replace
from itertools import product
from random import Random
from typing import NamedTuple

import numpy as np

from agentmut.stats.checks import check_rate, is_number
from agentmut.stats.sequential.sprt import LEAST_MARGIN, Boundaries, SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.three_valued import Verdict
from benchmarks.calibration.figures import Figure, Section, simulated_rate

LEVELS = ((0.05, 0.10), (0.01, 0.20), (0.10, 0.02))
"""alpha, beta: unequal both ways, since exchanged boundaries hold wherever the two are equal."""
QUICK = tuple(product((0.5, 0.7, 0.9, 0.95), (0.1, 0.2, 0.3)))
THOROUGH = tuple(
    (threshold, margin)
    for threshold, margin in product((0.5, 0.7, 0.8, 0.9, 0.95, 0.99), (0.05, 0.1, 0.2, 0.3))
)
"""Threshold and margin."""
EXAMPLE = SprtDesign(0.9, 0.1, 0.05, 0.10, None, "wald")
"""Example 3.2 of AgentAssay."""


def cerberus(threshold: float, confidence: float = 0.95, n_max: int | None = 50) -> SprtDesign:
    """Cerberus's configuration: alpha = 1 - confidence, beta = 0.20, margin 0.10, Wald's boundaries.

    The alternative is max(0.01, threshold - 0.10), so the margin shrinks below a threshold of 0.11. beta = 0.20
    is that of the test without end: cut off at 50 trials, a threshold of 0.95 rejects an agent with a rate of
    0.85 in 66.6 % of the runs, not in 80 %. Source: github.com/orban/cerberus and its article.

    Raises `ValueError` for a threshold outside (0.01, 1] or a confidence outside (0.2, 1).
    """
    check_rate("confidence", confidence, 0.2)
    if not (is_number(threshold) and 0.01 + LEAST_MARGIN < threshold <= 1):
        raise ValueError(f"threshold must be in (0.01, 1], got {threshold!r}")
    margin = threshold - max(0.01, threshold - 0.10)
    return SprtDesign(threshold, margin, 1 - confidence, 0.20, n_max, "wald")


class WaldTrials(NamedTuple):
    """Wald's approximations of E[N] for a test without end."""

    at_threshold: float
    """At a rate of theta, Eq. 9."""
    at_alternative: float
    """At a rate of theta - delta, Eq. 10."""


def wald_trials(design: SprtDesign) -> WaldTrials:
    """Wald's approximations of E[N], which take the log-ratio to end exactly on a boundary; n_max is ignored.

    E[N | p] = (P(PASS) a + P(FAIL) b) / (p on_pass + (1 - p) on_failure), with P(FAIL | theta) = (1 - A)/(B - A)
    and P(PASS | theta - delta) = A (B - 1)/(B - A), where A = exp(a), B = exp(b). With Wald's boundaries these
    are alpha and beta, and the means are Eqs. 9 and 10 of AgentAssay. The denominator of Eq. 9 is printed there
    with the opposite sign, which would make the mean negative.

    Raises `ValueError` for theta = 1, where one failure adds infinitely much and the approximation fails.
    """
    if design.threshold == 1:
        raise ValueError("threshold must be below 1 for Wald's approximations, got 1.0")
    a, b = design.lower, design.upper
    low, high = np.exp(a), np.exp(b)
    false_fail, false_pass = (1 - low) / (high - low), low * (high - 1) / (high - low)

    def mean(p: float, fails: float) -> float:
        return float(((1 - fails) * a + fails * b) / (p * design.on_pass + (1 - p) * design.on_failure))

    return WaldTrials(mean(design.threshold, false_fail), mean(design.alternative, 1 - false_pass))


def section(*, thorough: bool) -> Section:
    """Error rates and trials of both kinds of boundaries, and Cerberus's configuration."""
    figures = [
        figure
        for cell in (THOROUGH if thorough else QUICK)
        for levels in LEVELS
        for figure in _errors(cell, levels)
    ]
    figures += [*_above_nominal(), *_trials(), *_against_fixed(), *_cerberus()]
    figures.append(_simulated(40_000 if thorough else 4000))
    how = "Exact, from the chances of every state; one figure is simulated beside it (seed 1)."
    return Section("Sequential probability ratio test", how, tuple(figures))


def _errors(cell: tuple[float, float], levels: tuple[float, float]) -> list[Figure]:
    """Return both error rates, without end and cut off at 50 trials.

    A higher rate fails less and a lower one passes less, so the ends of the hypotheses are their worst cases.
    """
    figures = []
    for strict, n_max in product((True, False), (None, 50)):
        design = SprtDesign(*cell, *levels, n_max, "strict" if strict else "wald")
        alpha, beta = levels
        most = levels if strict else (alpha / (1 - beta), beta / (1 - alpha))
        at = f"theta {cell[0]:g}, margin {cell[1]:g}, alpha {alpha:g}, beta {beta:g}"
        end = "" if n_max is None else f", cut off at {n_max}"
        found = (
            sprt_characteristics(design, design.threshold).failed,
            sprt_characteristics(design, design.alternative).passed,
        )
        figures += [
            Figure(f"{design.boundaries}: {what}, {at}{end}", rate, f"at most {limit:.4g}", high=limit)
            for what, rate, limit in zip(
                ("FAIL at theta", "PASS at theta - margin"), found, most, strict=True
            )
        ]
    return figures


def _above_nominal() -> list[Figure]:
    """Wald's boundaries are approximate in both directions: two designs in which an error exceeds its level.

    Strict ones keep it there: put Wald's in their place and these figures fail.
    """
    at, figures = "margin 0.3, alpha 0.2, beta 0.2, no end", []
    kinds: tuple[tuple[Boundaries, str, float, float], ...] = (
        ("wald", "known to exceed 0.2, at most 0.25", 0.2, 0.25),
        ("strict", "at most 0.2", 0.0, 0.2),
    )
    for boundaries, words, low, high in kinds:
        designs = [SprtDesign(theta, 0.3, 0.2, 0.2, None, boundaries) for theta in (0.5, 0.99)]
        fail, passing = sprt_characteristics(designs[0], 0.5), sprt_characteristics(designs[1], 0.69)
        figures += [
            Figure(f"{boundaries}: FAIL at theta, theta 0.5, {at}", fail.failed, words, low, high),
            Figure(
                f"{boundaries}: PASS at theta - margin, theta 0.99, {at}", passing.passed, words, low, high
            ),
        ]
    return figures


def _trials() -> list[Figure]:
    """E[N] exactly, beside Wald's approximations, which leave out how far the ratio overshoots a boundary."""
    wald = wald_trials(EXAMPLE)
    cases = [
        ("E[N] at 0.9, Wald's approximation (Eq. 9)", wald.at_threshold, 54.353),
        ("E[N] at 0.8, Wald's approximation (Eq. 10)", wald.at_alternative, 53.515),
        ("E[N] at 0.9, exact", sprt_characteristics(EXAMPLE, 0.9).trials, 56.877),
        ("E[N] at 0.8, exact", sprt_characteristics(EXAMPLE, 0.8).trials, 59.262),
    ]
    return [
        Figure(
            f"{name}, theta 0.9, alpha 0.05, beta 0.1", found, f"{promise:g}", promise - 5e-4, promise + 5e-4
        )
        for name, found, promise in cases
    ]


def _against_fixed() -> list[Figure]:
    """E[N] with strict boundaries over the least fixed number of trials with the same two levels."""
    figures = []
    for alpha, beta in LEVELS:
        design = SprtDesign(0.9, 0.1, alpha, beta, None)
        fixed = fixed_trials(design)
        for p in (0.9, 0.8):
            share = sprt_characteristics(design, p).trials / fixed
            what = f"E[N] at {p} over the fixed {fixed} trials, theta 0.9, alpha {alpha:g}, beta {beta:g}"
            figures.append(Figure(what, share, "below 0.75", high=0.75))
    return figures


def fixed_trials(design: SprtDesign) -> int:
    """Least n at which a number of passes tells theta from theta - margin at the design's two levels."""
    from scipy.stats import binom

    n = np.arange(1, 10_000)
    most = binom.ppf(design.alpha, n, design.threshold) - 1  # passes that fail: P(X <= most | theta) < alpha
    missed = binom.sf(most, n, design.alternative)
    return int(n[np.argmax(missed <= design.beta)])


def _cerberus() -> list[Figure]:
    high, usual = sprt_characteristics(cerberus(0.95), 0.85), sprt_characteristics(cerberus(0.90), 0.80)
    endless = sprt_characteristics(cerberus(0.90, n_max=None), 0.80)
    good = sprt_characteristics(cerberus(0.90), 0.96)
    cases = [
        ("threshold 0.95, rate 0.85, 50 trials: FAIL", high.failed, 0.6662, "0.666, although beta = 0.20"),
        ("threshold 0.95, rate 0.85, 50 trials: INCONCLUSIVE", high.inconclusive, 0.1650, "0.165"),
        ("threshold 0.95, rate 0.85, 50 trials: PASS", high.passed, 0.1688, "0.169"),
        ("threshold 0.90, rate 0.80, 50 trials: FAIL", usual.failed, 0.4955, "0.496, although beta = 0.20"),
        ("threshold 0.90, rate 0.80, 50 trials: INCONCLUSIVE", usual.inconclusive, 0.3561, "0.356"),
        ("threshold 0.90, rate 0.80, no end: FAIL", endless.failed, 0.8093, "0.809: beta = 0.20 holds here"),
        ("threshold 0.90, rate 0.96: E[N]", good.trials, 19.0947, "19.1; 14 is the least and the median"),
    ]
    return [
        Figure(f"Cerberus, {what}", found, words, value - 1e-4, value + 1e-4)
        for what, found, value, words in cases
    ]


def _simulated(runs: int) -> Figure:
    design, rng = replace(EXAMPLE, n_max=100), Random(1)
    exact = sprt_characteristics(design, 0.8).failed
    verdicts = [design.run([rng.random() < 0.8 for _ in range(100)]).verdict for _ in range(runs)]
    rate, error = simulated_rate(verdict is Verdict.FAIL for verdict in verdicts)
    return Figure("FAIL at 0.8, cut off at 100, trial by trial", rate, f"{exact:.4f}", exact, exact, error)
