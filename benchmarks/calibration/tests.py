"""Tests: how often they reject what is true, how often they find what is there, and what was planned."""

import math
from collections.abc import Callable, Iterable

from agentmut.stats.tests.paired import LEAST_FOR_NORMAL, mcnemar_test
from agentmut.stats.tests.proportions import TwoSampleTest, binomial_test
from agentmut.stats.tests.significance import Alternative, Significance
from benchmarks.calibration.exact_power import (
    binomial_power,
    trials_one_sided,
    trials_two_sided,
    two_sample_power,
)
from benchmarks.calibration.figures import Figure, Section
from benchmarks.calibration.two_samples import rejected, supremum

LEVELS = (0.05, 0.01)
ERRORS = ((0.05, 0.10), (0.01, 0.20), (0.10, 0.02))
"""(alpha, beta); the last two tell a swapped pair from a right one."""
Z_SUPREMA = {
    (100, 30, 0.05, Alternative.LESS): 0.1103,
    (100, 30, 0.01, Alternative.LESS): 0.0235,
    (100, 30, 0.05, Alternative.TWO_SIDED): 0.0501,
    (100, 30, 0.01, Alternative.TWO_SIDED): 0.0177,
    (50, 50, 0.05, Alternative.LESS): 0.0599,
    (50, 50, 0.01, Alternative.LESS): 0.0105,
    (50, 50, 0.05, Alternative.TWO_SIDED): 0.0569,
    (50, 50, 0.01, Alternative.TWO_SIDED): 0.0120,
}
"""What the Z test is known to reach instead of its level: the largest chance over all common rates."""
POWER_BELOW_PLAN = {TwoSampleTest.Z: 0.005, TwoSampleTest.BOSCHLOO: 0.015, TwoSampleTest.FISHER: 0.045}
"""How far below the planned power a test may stay with the n of Eq. 6 at 0.9 against 0.8."""


def section(*, thorough: bool) -> Section:
    """Type I errors and power of the tests, and the plans that they were made for."""
    sizes = ((100, 30), (50, 50), (20, 20), (200, 200)) if thorough else ((100, 30), (50, 50))
    figures = [
        *_binomial(),
        *_powers_called(),
        *_type_1(sizes),
        *_power_of_eq_6(),
        *_power_of_eq_1(),
        *_mcnemar(300 if thorough else 80),
    ]
    how = (
        "Exact, by summing over every outcome; a type I error is the largest over all common rates, for McNemar's "
        "test over all numbers of discordant pairs."
    )
    return Section("Tests and sample sizes", how, tuple(figures))


def _binomial() -> list[Figure]:
    worst = {
        alpha: max(
            binomial_power(n, p0, p0, alpha=alpha, alternative=side).type_1
            for n in (10, 30, 50, 100)
            for p0 in (0.5, 0.8, 0.9, 0.99)
            for side in Alternative
        )
        for alpha in LEVELS
    }
    return [_at_most(f"type I error, exact binomial, alpha = {a:g}", found, a) for a, found in worst.items()]


def _powers_called() -> list[Figure]:
    """Power from the tests' own p-values, outcome by outcome: 0.8363 by hand from P(X <= 40), the others known."""
    less, both = Alternative.LESS, Alternative.TWO_SIDED
    cases: tuple[tuple[str, int, float, Callable[[int], Significance], float], ...] = (
        (
            "exact binomial, 50 trials, 0.9 against 0.75",
            50,
            0.75,
            lambda k: binomial_test(k, 50, 0.9, less),
            0.8363,
        ),
        (
            "McNemar, exact, 20 pairs of which 0.8 fall",
            20,
            0.8,
            lambda b: mcnemar_test(b, 20 - b, both),
            0.8042,
        ),
        (
            "McNemar, corrected, 40 pairs of which 0.7",
            40,
            0.7,
            lambda b: mcnemar_test(b, 40 - b, both),
            0.7033,
        ),
    )
    return [
        Figure(f"power, {name}", found, f"known: {known:g}", known - 1e-4, known + 1e-4)
        for name, n, p, test, known in cases
        for found in [
            sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if test(k).p_value <= 0.05)
        ]
    ]


def _type_1(sizes: Iterable[tuple[int, int]]) -> list[Figure]:
    return [
        _level(test, n1, n2, alpha, side)
        for n1, n2 in sizes
        for test in TwoSampleTest
        for alpha in LEVELS
        for side in (Alternative.LESS, Alternative.TWO_SIDED)
    ]


def _level(test: TwoSampleTest, n1: int, n2: int, alpha: float, side: Alternative) -> Figure:
    what = f"type I error, {test}, {n1} against {n2}, {side}, alpha = {alpha:g}"
    found = supremum(rejected(test, n1, n2, alpha, side)).value
    if test is not TwoSampleTest.Z:
        return _at_most(what, found, alpha)
    known = Z_SUPREMA.get((n1, n2, alpha, side))
    if known is None:
        return Figure(what, found, f"exceeds {alpha:g}, by half at most", high=1.5 * alpha)
    return Figure(what, found, f"reaches {known:g}", known - 1e-4, known + 1e-4)


def _power_of_eq_6() -> list[Figure]:
    figures = []
    for alpha, beta in ERRORS:
        n, plan = trials_one_sided(0.9, 0.8, alpha=alpha, beta=beta), 1 - beta
        for test, short in POWER_BELOW_PLAN.items():
            power = two_sample_power(test, n, n, 0.8, 0.9, alpha=alpha).power
            what = f"power, {test}, n = {n} of Eq. 6 (0.9 against 0.8, alpha = {alpha:g})"
            promised = f"{plan:g} planned; {short:g} below at most"
            figures.append(Figure(what, power, promised, plan - short, plan + 0.01))
    return figures


def _power_of_eq_1() -> list[Figure]:
    """Eq. 1 at the mean rate 0.9: 0.95 against 0.85, where the true variances are a little smaller."""
    figures = []
    for alpha, beta in ERRORS:
        n, plan = trials_two_sided(0.9, 0.1, alpha=alpha, beta=beta), 1 - beta
        power = two_sample_power(
            TwoSampleTest.Z, n, n, 0.85, 0.95, alpha=alpha, alternative=Alternative.TWO_SIDED
        ).power
        what = f"power, Z, two-sided, n = {n} of Eq. 1 (0.95 against 0.85, alpha = {alpha:g})"
        figures.append(Figure(what, power, f"{plan:g} planned; 0.03 above at most", plan, plan + 0.03))
    return figures


def _mcnemar(most_pairs: int) -> list[Figure]:
    figures = []
    for alpha in LEVELS:
        for side in (Alternative.LESS, Alternative.TWO_SIDED):
            for name, pairs in (
                ("exact", range(LEAST_FOR_NORMAL)),
                ("corrected", range(LEAST_FOR_NORMAL, most_pairs + 1)),
            ):
                found = max(mcnemar_type_1(m, alpha, side) for m in pairs)
                what = f"type I error, McNemar, {name}, up to {pairs[-1]} pairs, {side}, alpha = {alpha:g}"
                figures.append(_at_most(what, found, alpha))
    return figures


def mcnemar_type_1(pairs: int, alpha: float, side: Alternative) -> float:
    """Return the chance of p <= alpha, given the number of discordant pairs and no difference."""
    return math.fsum(
        math.comb(pairs, b) / 2**pairs
        for b in range(pairs + 1)
        if mcnemar_test(b, pairs - b, side).p_value <= alpha
    )


def _at_most(what: str, found: float, alpha: float) -> Figure:
    return Figure(what, found, f"at most {alpha:g}", high=alpha)
