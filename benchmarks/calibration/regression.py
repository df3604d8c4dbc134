"""What the verdicts on regressions and the corrections for several scenarios do, next to what they promise."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from agentmut.stats.tests.multiplicity import Correction, adjust
from agentmut.stats.tests.noninferiority import MarginTest, noninferiority_test
from agentmut.stats.tests.proportions import TwoSampleTest
from benchmarks.calibration.figures import Figure, Section, simulated_rate
from benchmarks.calibration.two_samples import rejected

Flags = NDArray[np.bool_]
Array = NDArray[np.float64]

SIZES = ((50, 50), (100, 30), (100, 100))
"""Trials of the baseline and of the candidate."""
LEVELS = ((0.05, 0.1), (0.01, 0.2), (0.1, 0.02))
"""alpha and beta, twice far from equal."""
DELTA = 0.2
Z_ERRORS = {(50, 50): 1.25, (100, 30): 2.5, (100, 100): 1.3}
"""How far the Z test exceeds its level, as a factor, at worst: it is approximate."""


def chance(region: Flags, p_b: Array, p_c: Array) -> Array:
    """Return the chance of a set of tables, `region[k_b, k_c]`, at each pair of true rates."""
    n_b, n_c = region.shape[0] - 1, region.shape[1] - 1
    baseline = binom.pmf(np.arange(n_b + 1)[:, None], n_b, p_b)
    candidate = binom.pmf(np.arange(n_c + 1)[:, None], n_c, p_c)
    found: Array = np.einsum("ig,ig->g", baseline, region.astype(float) @ candidate)
    return found


def staircase(holds: Callable[[int, int], bool], n_b: int, n_c: int) -> Flags:
    """`holds(k_b, k_c)` for all tables, if it holds for few k_c and, with more k_b, for no fewer.

    Walks along the boundary, so that the procedure itself is asked about n_b + n_c times.
    """
    region, k_c = np.zeros((n_b + 1, n_c + 1), dtype=bool), 0
    for k_b in range(n_b + 1):
        while k_c <= n_c and holds(k_b, k_c):
            k_c += 1
        region[k_b, :k_c] = True
    return region


@cache
def fails(n_b: int, n_c: int, alpha: float, test: TwoSampleTest) -> Flags:
    """Return the tables in which the regression verdict is FAIL."""
    return rejected(test, n_c, n_b, alpha).T


@cache
def not_worse(n_b: int, n_c: int, beta: float, delta: float, method: MarginTest) -> Flags:
    """Return the tables in which a drop by delta is rejected at level beta."""

    def open_(k_b: int, k_c: int) -> bool:
        return noninferiority_test(k_b, n_b, k_c, n_c, delta, method).p_value > beta

    return ~staircase(open_, n_b, n_c)


def section(*, thorough: bool) -> Section:
    """Fixed-sample verdicts, their tests, and corrections for several scenarios."""
    sizes = SIZES if thorough else SIZES[:1]
    figures = [
        *_false_fails(sizes),
        *_false_passes(sizes),
        *_margin_tests(sizes, thorough=thorough),
        *_extra_rule(),
        *_suites(20_000 if thorough else 1000),
    ]
    how = (
        "Exact, by summing over all tables of both samples at true rates 0.002 apart (false PASS and margins: "
        "along p_c = p_b - delta); false discoveries and suites with some regressions are simulated (seed 1)."
    )
    return Section("Regression", how, tuple(figures))


def _false_fails(sizes: Sequence[tuple[int, int]]) -> Iterator[Figure]:
    same = np.linspace(0, 1, 501)
    for (n_b, n_c), (alpha, _), test in product(sizes, LEVELS, TwoSampleTest):
        label = f"{test}, {n_b}/{n_c}, alpha = {alpha:g}"
        region = fails(n_b, n_c, alpha, test)
        most = alpha * Z_ERRORS[n_b, n_c] if test is TwoSampleTest.Z else alpha
        words = f"approximate: at most {most:.3g} here" if test is TwoSampleTest.Z else f"at most {alpha:g}"
        yield Figure(f"false FAIL, {label}", float(chance(region, same, same).max()), words, high=most)
        if alpha == 0.05:
            power = float(chance(region, np.array([0.9]), np.array([0.9 - DELTA]))[0])
            yield Figure(f"FAIL at .9 -> .7, {label}", power, "not promised; above 0.5", low=0.5)


def _false_passes(sizes: Sequence[tuple[int, int]]) -> Iterator[Figure]:
    rates = np.linspace(DELTA, 1, 401)
    for (n_b, n_c), (alpha, beta) in product(sizes, LEVELS):
        region = not_worse(n_b, n_c, beta, DELTA, MarginTest.EXACT) & ~fails(
            n_b, n_c, alpha, TwoSampleTest.FISHER
        )
        label = f"{n_b}/{n_c}, alpha = {alpha:g}, beta = {beta:g}"
        wrong = float(chance(region, rates, rates - DELTA).max())
        yield Figure(f"false PASS at a drop of {DELTA}, {label}", wrong, f"at most {beta:g}", high=beta)
        right = float(chance(region, np.array([0.9]), np.array([0.9]))[0])
        yield Figure(f"PASS at .9 -> .9, {label}", right, "not promised; above 0.4", low=0.4)


def _margin_tests(sizes: Sequence[tuple[int, int]], *, thorough: bool) -> Iterator[Figure]:
    known = {MarginTest.EXACT: 0.0, MarginTest.SCORE: 0.06, MarginTest.NEWCOMBE: 0.09}
    for (n_b, n_c), level, delta, method in product(sizes, (0.02, 0.05, 0.1, 0.2), (0.1, DELTA), MarginTest):
        if method is MarginTest.EXACT and not (thorough or (delta == DELTA and level != 0.05)):
            continue  # seconds of work, unless found above
        rates = np.linspace(delta, 1, 401)
        size = float(chance(not_worse(n_b, n_c, level, delta, method), rates, rates - delta).max())
        most = level + known[method] * min(1.0, level / 0.2 + 0.1)
        words = (
            f"at most {level:g}" if method is MarginTest.EXACT else f"approximate: at most {most:.3g} here"
        )
        yield Figure(f"margin {delta:g} at {level:g}, {method}, {n_b}/{n_c}", size, words, high=most)


def _extra_rule() -> Iterator[Figure]:
    """Demanding abs(difference) >= delta, at a true drop of delta: no sample size helps."""
    for n in (100, 300):
        k = np.arange(n + 1)
        p = _fisher_table(n)
        large = k[:, None] - k >= DELTA * n - 1e-9
        rates = np.array([0.9]), np.array([0.9 - DELTA])
        plain, both = (float(chance(region, *rates)[0]) for region in (p <= 0.05, (p <= 0.05) & large))
        yield Figure(f"FAIL at .9 -> .7, {n}/{n}, Fisher alone", plain, "at least 0.95", low=0.95)
        yield Figure(
            f"the same, with the extra rule of Eq. 5 (not used), {n}/{n}",
            both,
            "near 1/2",
            low=0.45,
            high=0.6,
        )


def _fisher_table(n: int) -> Array:
    """Fisher's one-sided p-values of all tables [k_b, k_c] with n trials each, which need no test each."""
    k = np.arange(n + 1)
    return np.asarray(hypergeom.cdf(k, 2 * n, k[:, None] + k, n), dtype=np.float64)


def _suites(runs: int) -> Iterator[Figure]:
    """Ten scenarios of 100/100 trials at 0.9, Fisher's test; m0 of them unchanged, the others down by 0.2."""
    n, m, alpha = 100, 10, 0.05
    p_value = _fisher_table(n)
    for correction in (Correction.BONFERRONI, Correction.HOLM):
        # Without any regression either correction rejects something exactly if the least p is <= alpha / m.
        one = float(chance(p_value <= alpha / m, np.array([0.9]), np.array([0.9]))[0])
        words = f"at most {alpha:g}"
        yield Figure(f"false FAIL of ten scenarios, {correction}", 1 - (1 - one) ** m, words, high=alpha)
    uncorrected = float(chance(p_value <= alpha, np.array([0.9]), np.array([0.9]))[0])
    yield Figure(
        "the same without a correction", 1 - (1 - uncorrected) ** m, "not kept: above 0.15", low=0.15
    )
    rng = np.random.default_rng(1)
    for correction in Correction:
        false, share = _simulated_family(p_value, correction, rng, runs)
        label = f"five of ten scenarios down by 0.2, {correction}"
        if correction in (Correction.BONFERRONI, Correction.HOLM):
            rate, error = simulated_rate(false)
            yield Figure(f"any false FAIL, {label}", rate, f"at most {alpha:g}", high=alpha, error=error)
        else:
            error = float(np.std(share) / runs**0.5)
            mean = float(np.mean(share))
            yield Figure(
                f"false share of FAILs, {label}", mean, f"at most {alpha:g}", high=alpha, error=error
            )


def _simulated_family(
    p_value: Array, correction: Correction, rng: np.random.Generator, runs: int
) -> tuple[list[bool], list[float]]:
    """For each run: was any unchanged scenario rejected, and which share of the rejections were such."""
    n = len(p_value) - 1
    unchanged = np.arange(10) < 5
    k_b = rng.binomial(n, 0.9, (runs, 10))
    k_c = rng.binomial(n, np.where(unchanged, 0.9, 0.9 - DELTA), (runs, 10))
    rejected = np.array([adjust(p, 0.05, correction).rejected for p in p_value[k_b, k_c].tolist()])
    false = (rejected & unchanged).sum(axis=1)
    return (false > 0).tolist(), (false / np.maximum(rejected.sum(axis=1), 1)).tolist()
