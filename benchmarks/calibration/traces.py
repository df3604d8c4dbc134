"""What the comparisons of traces do, next to what they promise."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.traces.bigrams import bigram_counts
from agentmut.stats.traces.hotelling import hotelling_t2
from agentmut.stats.traces.looks import Change, Looks
from agentmut.stats.traces.samples import Array
from agentmut.stats.traces.sequential import compare_at_looks
from agentmut.stats.traces.trace_comparison import compare_traces
from benchmarks.calibration.figures import Figure, Section, simulated_rate

FEATURES = 14
SEED = 7
Draw = Callable[[int, Generator], Array]
Pair = tuple[Array, Array]


class Effort(NamedTuple):
    """How much is simulated."""

    runs: int
    """Pairs of samples for each type I error."""
    permutations: int
    powers: int
    """Pairs of samples for each power, always with 999 permutations."""
    cells: tuple[tuple[str, int, int], ...]
    """Type I errors: kind of features, of `KINDS`; size of the baseline; of the candidate."""


QUICK = Effort(100, 199, 30, (("discrete", 30, 5), ("mixed", 30, 5), ("mixed", 30, 20)))
THOROUGH = Effort(
    2000,
    999,
    1000,
    (
        *product(("independent", "correlated", "heavy-tailed", "discrete", "mixed"), (30,), (5, 20)),
        *product(("mixed",), (100,), (5, 10, 20, 40)),
    ),
)


def independent(n: int, rng: Generator) -> Array:
    """Draw standard normal features."""
    return rng.standard_normal((n, FEATURES))


def correlated(n: int, rng: Generator) -> Array:
    """Draw normal features that share a factor: correlation 0.8."""
    return math.sqrt(0.8) * rng.standard_normal((n, 1)) + math.sqrt(0.2) * independent(n, rng)


def heavy_tailed(n: int, rng: Generator) -> Array:
    """Cauchy features, half of them exponentiated within bounds."""
    drawn = np.clip(rng.standard_cauchy((n, FEATURES)), -50, 50)
    drawn[:, ::2] = np.exp(drawn[:, ::2])
    return np.asarray(drawn)


def discrete(n: int, rng: Generator) -> Array:
    """Small counts and rare flags: most values are tied, some columns often constant."""
    return np.hstack([rng.poisson(1.5, (n, 7)), rng.random((n, 7)) < 0.05]).astype(float)


def mixed(n: int, rng: Generator) -> Array:
    """Correlated features, some rounded to counts, some flags, some heavy-tailed."""
    drawn = correlated(n, rng)
    drawn[:, 3] = np.round(np.abs(drawn[:, 3]))
    drawn[:, 4] = drawn[:, 4] > 1.5
    drawn[:, 5:8] = np.exp(2 * drawn[:, 5:8])
    return drawn


KINDS: dict[str, Draw] = {
    "independent": independent,
    "correlated": correlated,
    "heavy-tailed": heavy_tailed,
    "discrete": discrete,
    "mixed": mixed,
}


def calls(n: int, rng: Generator, shuffled: float) -> list[list[str]]:
    """Return three to six tools in one fixed order, shuffled in this share of the traces: same tools, other order."""
    lengths = rng.integers(3, 7, n)
    orders = (rng.permutation(length) if rng.random() < shuffled else range(length) for length in lengths)
    return [["abcdef"[i] for i in order] for order in orders]


def with_order(features: Draw, n0: int, n: int, rng: Generator, shuffled: float = 0.15) -> Pair:
    """Return traces whose features do not differ; the baseline shuffles 15 % of its sequences, the candidate
    `shuffled`.
    """
    pairs = bigram_counts(calls(n0, rng, 0.15), calls(n, rng, shuffled))
    first, second = features(n0, rng), features(n, rng)
    return np.hstack([first, pairs.baseline]), np.hstack([second, pairs.candidate])


def shifted(n0: int, n: int, rng: Generator) -> Pair:
    """Return one of the features larger by one standard deviation."""
    first, second = independent(n0, rng), independent(n, rng)
    second[:, 0] += 1.0
    return first, second


def spread(n0: int, n: int, rng: Generator) -> Pair:
    """Return two of the features spread three times as wide around the same median."""
    first, second = independent(n0, rng), independent(n, rng)
    second[:, :2] *= 3.0
    return first, second


def decorrelated(n0: int, n: int, rng: Generator) -> Pair:
    """Return the features' correlation falls from 0.8 to 0; each alone is as before."""
    return correlated(n0, rng), independent(n, rng)


def section(*, thorough: bool) -> Section:
    """Type I error and power of the tests on traces, and of combined p-values."""
    effort = THOROUGH if thorough else QUICK
    figures = [
        *_type_one(effort),
        _over_the_looks(effort),
        *_power(effort),
        *_hotelling(effort),
    ]
    how = (
        f"Simulated (seed {SEED}): {effort.runs} pairs of samples with {FEATURES} features each, "
        f"{effort.permutations} permutations; sizes are baseline + candidate."
    )
    return Section("Traces", how, tuple(figures))


def rejections(draw: Callable[[Generator], Pair], effort: Effort, level: float = 0.05) -> tuple[float, float]:
    """Share of drawn pairs that the trace comparison calls different at `level`, with its standard error."""
    rng = np.random.default_rng(SEED)
    found = (compare_traces(*draw(rng), rng, effort.permutations) for _ in range(effort.runs))
    return simulated_rate(result.test.p_value <= level for result in found)


def _type_one(effort: Effort) -> Iterator[Figure]:
    for name, n0, n in effort.cells:
        rate, error = rejections(partial(with_order, KINDS[name], n0, n), effort)
        yield Figure(
            f"type I, {name} features and bigrams, {n0} + {n}", rate, ".04 to .06", 0.04, 0.06, error
        )
    rate, error = rejections(partial(with_order, mixed, 30, 10), effort._replace(permutations=999), 0.01)
    yield Figure("type I at level .01, mixed, 30 + 10", rate, "at most .01", high=0.01, error=error)


def _over_the_looks(effort: Effort) -> Figure:
    """Return looks at a candidate that grows, with a baseline dealt out to them: type I of the whole."""
    found = (_changed_at_looks(mixed, 50, 0.15, number) for number in range(effort.runs // 2))
    rate, error = simulated_rate(found)
    what = "type I over the looks at 5, 10, 20, 40, mixed, 50 traces"
    return Figure(what, rate, ".04 to .06", 0.04, 0.06, error)


def _changed_at_looks(features: Draw, n0: int, shuffled: float, number: int) -> bool:
    rng, plan = np.random.default_rng([SEED, n0, number]), Looks()
    baseline, candidate = with_order(features, n0, plan.sizes[-1], rng, shuffled)
    looks = ((baseline[:k], candidate[:n]) for k, n in zip(plan.baseline_sizes(n0), plan.sizes, strict=True))
    return compare_at_looks(looks, rng, plan).verdict.change is Change.CHANGED


def _power(effort: Effort) -> Iterator[Figure]:
    changes = (
        ("order only, 15 % to 70 % shuffled", partial(with_order, mixed, shuffled=0.7), 0.97),
        ("order only, 15 % to 60 % shuffled", partial(with_order, independent, shuffled=0.6), 0.94),
        ("one feature of 14 shifted by 1 sd", shifted, 0.9),
        ("two features of 14 with 3 times the sd", spread, 0.97),
        ("correlation from .8 to 0, each feature as before", decorrelated, 0.5),
    )
    thousand = effort._replace(permutations=999, runs=effort.powers)
    for name, draw, least in changes:
        rate, error = rejections(partial(draw, 100, 30), thousand)
        yield Figure(f"power, {name}, 100 + 30", rate, f"at least {least:g}", low=least, error=error)


def _hotelling(effort: Effort) -> Iterator[Figure]:
    """Draw normal features on three components; the shift lies along the first of them."""
    d, runs = 3, 5 * effort.runs
    for n0, n, distance, alpha in (
        (30, 10, 0.0, 0.05),
        (6, 4, 0.0, 0.1),
        (20, 20, 0.0, 0.01),
        (40, 20, 1.0, 0.01),
    ):
        rng = np.random.default_rng(SEED)
        pairs = (_normal(n0, n, d, distance, rng) for _ in range(runs))
        tests = [hotelling_t2(*pair, share=0.9999999).test for pair in pairs]
        rate, error = simulated_rate(test is not None and test.p_value <= alpha for test in tests)
        exact = hotelling_power(n0, n, distance, d, alpha)
        what = (
            f"type I at level {alpha:g}"
            if distance == 0
            else f"power at distance {distance:g}, level {alpha:g}"
        )
        yield Figure(f"Hotelling T2, {what}, {n0} + {n}, d = {d}", rate, f"{exact:.3g}", exact, exact, error)
    rng = np.random.default_rng(SEED)
    found = (hotelling_t2(mixed_normal(30, rng), mixed_normal(10, rng)).test for _ in range(runs))
    rate, error = simulated_rate(test is not None and test.p_value <= 0.05 for test in found)
    yield Figure("Hotelling T2, type I with estimated dimension, 30 + 10", rate, ".05", 0.05, 0.05, error)


def hotelling_power(n0: int, n: int, distance: float, d: int, alpha: float = 0.05) -> float:
    """Chance that T2 rejects at level alpha, by the non-central F (Eq. 33); alpha where distance = 0.

    `distance` is the Mahalanobis distance of the means, 0 or more; the non-centrality is its square times
    n0 n/(n0+n). For normal distributions with equal covariances in `d` dimensions.

    Raises `ValueError` for n0 or n < 1, d < 1, n0 + n - 2 <= d, a negative distance, alpha outside (0, 1).
    """
    n0, n, d = check_count("n0", n0, 1), check_count("n", n, 1), check_count("d", d, 1)
    if n0 + n - 2 <= d:
        raise ValueError(f"n0 + n - 2 must exceed d, got n0={n0}, n={n}, d={d}")
    # the power is 1 long before
    distance = min(check_rate("distance", distance, 0.0, math.inf, closed=True), 1e100)
    return _noncentral_power(n0 * n / (n0 + n) * distance**2, d, n0 + n - d - 1, check_rate("alpha", alpha))


def _noncentral_power(noncentrality: float, d: int, freedom: int, alpha: float) -> float:
    """scipy's non-central F, away from where it errs: at 0 it is wrong, from 10^10 on it does not converge.

    From 10^9 on the numerator of F is its mean, within 1e-4; what varies is the chi-squared denominator.
    """
    from scipy.stats import chi2, f, ncf

    if noncentrality < 1e-9:
        return alpha
    critical = float(f.isf(alpha, d, freedom))
    if noncentrality > 1e9:
        return float(chi2.cdf(noncentrality * freedom / (d * critical), freedom))
    return float(ncf.sf(critical, d, freedom, noncentrality))


def mixed_normal(n: int, rng: Generator) -> Array:
    """Draw normal features of unequal correlation, so that the effective dimension differs between samples."""
    return correlated(n, rng) + rng.standard_normal((n, FEATURES)) * np.linspace(0, 1, FEATURES)


def _normal(n0: int, n: int, d: int, distance: float, rng: Generator) -> Pair:
    first, second = rng.standard_normal((n0, d)), rng.standard_normal((n, d))
    second[:, 0] += distance
    mixing = np.array([[1.0, 0.5, 0.2], [0.0, 1.0, -0.4], [0.0, 0.0, 2.0]])
    return first @ mixing, second @ mixing
