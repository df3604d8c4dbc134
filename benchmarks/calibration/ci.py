"""The chance of a red CI job, estimated from stored trials, next to the chance at the true rates."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc, betaln
from scipy.stats import binom, hypergeom

from agentmut.stats.checks import check_rate
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.kill.characteristics import TableOf
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table, level_for
from agentmut.stats.score.first_runs import KillPlace
from agentmut.stats.score.redness import TriedScenario, passes_needed, red_chances
from benchmarks.calibration.figures import Figure, Section, simulated_rate
from benchmarks.calibration.score import Endings, endings_at

THRESHOLD = 0.9
MEANS = (
    (0.99, 50, 1, 0.0),
    (0.9, 50, 1, 0.0),
    (0.99, 50, 10, 0.013),
    (0.9, 50, 10, 0.001),
    (0.9, 10, 10, 0.011),
)
"""True pass rate of each of ten scenarios, stored trials, runs, and the mean error of the estimate."""
ERRORS = (
    ("one scenario at 0.9, 50 trials, R = 50", 1, 0.9, 50, (0.286, 0.486, 0.286)),
    ("one scenario at 0.9, 50 trials, R = 10", 1, 0.9, 10, (0.162, 0.165, 0.152)),
    ("ten scenarios at 0.99, 50 trials, R = 10", 10, 0.99, 10, (0.052, 0.049, 0.088)),
)
"""Scenarios, true rate, runs and root mean square errors: of the estimate, drawn without, drawn with replacement."""
ENUMERATED = ((1, 50, 0.95), (1, 50, 0.8), (3, 12, 0.95), (3, 12, 0.8))
"""Scenarios, stored trials and level of the coverages that are summed exactly."""
SIMULATED = (
    ("ten scenarios at 0.99", [0.99] * 10),
    ("ten scenarios at 0.9", [0.9] * 10),
    ("thirty scenarios at 0.99", [0.99] * 30),
    ("one scenario at 0.5, nine that never fail", [0.5] + [1.0] * 9),
    ("one scenario at 0.8, nine at 0.99", [0.8] + [0.99] * 9),
)


KILLED = ((0.99, 0.3), (0.95, 0.3), (0.95, 0.5), (0.95, 0.75), (0.8, 0.3), (0.8, 0.5))
"""Pass rate of the original, and the drop on one of ten scenarios."""
KILLED_BY_LUCK = ((0.95, 0.2), (0.95, 0.1))
"""Drops that seldom kill: those that do are not alike, and nothing is promised of them."""
SURVIVING = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""True pass rate of each of ten scenarios on which an unchanged mutant survives."""
SURVIVING_QUICK = (0.95,)
CAMPAIGNS = 400
CAMPAIGNS_QUICK = 60


class Misses(NamedTuple):
    """How often the true chance lies under the lower end and over the upper one, with standard errors."""

    under: float
    over: float
    errors: tuple[float, float] = (0.0, 0.0)


def red_at(rates: ArrayLike, thresholds: ArrayLike, runs: int) -> float:
    """Return the chance of red where the true pass rates are known: 1 - prod_i P(Binomial(R, p_i) >= ceil(t_i R)).

    `rates` holds one number in [0, 1] per scenario, `thresholds` one in (0, 1) per scenario or one for all.

    >>> f"{red_at([0.9] * 10, 0.9, 1):.3f}", f"{red_at([0.9] * 20, 0.9, 1):.3f}"
    ('0.651', '0.878')

    Raises `ValueError` for no scenarios, shapes that do not fit, and numbers out of range.
    """
    from scipy.special import bdtrc

    known = [check_rate("rates", p, closed=True) for p in np.asarray(rates, dtype=float).ravel().tolist()]
    if not known:
        raise ValueError("rates must name at least one scenario, got none")
    asked = np.asarray(thresholds, dtype=float).ravel()
    if asked.size not in (1, len(known)):
        raise ValueError(f"thresholds must be one or {len(known)}, one for each rate, got {asked.size}")
    needed = [passes_needed(float(t), runs) for t in np.broadcast_to(asked, len(known))]
    return 1 - math.prod(float(bdtrc(c - 1, runs, p)) for c, p in zip(needed, known, strict=True))


def mean_estimate(estimated_green: Callable[[int], float], p: float, n: int, scenarios: int = 10) -> float:
    """Return the mean of 1 - prod of estimated chances of green, over the stored trials of equal scenarios; exact."""
    one = math.fsum(float(binom.pmf(k, n, p)) * estimated_green(k) for k in range(n + 1))
    return 1 - one**scenarios


def root_mean_square(
    estimated_green: Callable[[int], float], p: float, n: int, runs: int, scenarios: int
) -> float:
    """Return the root mean square error over the stored trials of equal scenarios; exact."""
    pmf, green = binom.pmf(np.arange(n + 1), n, p), np.array([estimated_green(k) for k in range(n + 1)])
    truth = 1 - red_at([p] * scenarios, THRESHOLD, runs)
    first, second = float(pmf @ green) ** scenarios, float(pmf @ green**2) ** scenarios
    return math.sqrt(max(0.0, second - 2 * first * truth + truth**2))


def drawn_green(k: int, n: int, runs: int, *, again: bool) -> float:
    """Return the chance of green by scipy, drawn with or without replacement."""
    needed = passes_needed(THRESHOLD, runs)
    return float(binom.sf(needed - 1, runs, k / n) if again else hypergeom.sf(needed - 1, n, k, runs))


def replayed_green(k: int, n: int, runs: int) -> float:
    """Return the estimated chance that one scenario is green."""
    estimate = red_chances([TriedScenario(k, n, THRESHOLD)], [runs])[0].interval.estimate
    assert estimate is not None
    return 1 - estimate


def predictive_green(k: int, n: int, runs: int) -> float:
    """Return the same by the posterior predictive of Jeffreys' prior, for comparison."""
    a, b = k + 0.5, n - k + 0.5
    logs = [betaln(a + j, b + runs - j) - betaln(a, b) for j in range(runs + 1)]
    needed = passes_needed(THRESHOLD, runs)
    return math.fsum(math.comb(runs, j) * math.exp(logs[j]) for j in range(needed, runs + 1))


def enumerated_misses(p: float, scenarios: int, n: int, runs: int, level: float) -> Misses:
    """Exact misses with equal scenarios: every multiset of pass counts, weighted by its chance."""
    truth, pmf = red_at([p] * scenarios, THRESHOLD, runs), binom.pmf(np.arange(n + 1), n, p)
    under = over = 0.0
    for counts in combinations_with_replacement(range(n + 1), scenarios):
        ways = math.factorial(scenarios) / math.prod(map(math.factorial, Counter(counts).values()))
        weight = ways * math.prod(float(pmf[k]) for k in counts)
        if weight > 1e-9:
            found = _interval(counts, n, runs, level)
            under, over = under + weight * _is_under(truth, found), over + weight * _is_over(truth, found)
    return Misses(under, over)


def simulated_misses(
    rates: Sequence[float], n: int, runs: int, level: float, *, draws: int, seed: int
) -> Misses:
    """Return misses over `draws` baselines of n trials a scenario."""
    rng, truth = np.random.default_rng(seed), red_at(rates, THRESHOLD, runs)
    found = [_interval(rng.binomial(n, rates).tolist(), n, runs, level) for _ in range(draws)]
    under, under_error = simulated_rate(_is_under(truth, interval) for interval in found)
    over, over_error = simulated_rate(_is_over(truth, interval) for interval in found)
    return Misses(under, over, (under_error, over_error))


def _interval(counts: Iterable[int], n: int, runs: int, level: float) -> Interval:
    return red_chances([TriedScenario(k, n, THRESHOLD) for k in counts], [runs], level)[0].interval


def _is_under(truth: float, interval: Interval) -> bool:
    return truth < interval.low - 1e-9


def _is_over(truth: float, interval: Interval) -> bool:
    return truth > interval.high + 1e-9


def section(*, thorough: bool) -> Section:
    """Known chances, mean errors, and the coverage of the bounds of the false alarm."""
    figures = [
        *_known(),
        *_means(),
        *_root_mean_squares(),
        *_enumerated(thorough),
        *_simulated(2000 if thorough else 200),
        *_surviving(thorough),
        *_killed(6000 if thorough else 40),
    ]
    how = (
        "Threshold 0.9. Chances at known rates, mean errors and the coverage with one and three scenarios are exact "
        "sums over the stored trials; the other coverages are simulated (seed 1, 50 trials a scenario). The errors on "
        "survivors are those of unchanged mutants that survive a whole campaign: ten scenarios, baselines of 50, the "
        "trials that the kill rule stops. The errors on killed mutants are those of a drop in one of ten scenarios."
    )
    return Section("Red CI runs", how, tuple(figures))


def _known() -> Iterable[Figure]:
    for scenarios, promise in ((10, 0.651), (20, 0.878)):
        red = red_at([0.9] * scenarios, THRESHOLD, 1)
        name = f"red with {scenarios} scenarios at 0.9 run once"
        yield Figure(name, red, f"{promise}", promise - 5e-4, promise + 5e-4)


def _means() -> Iterable[Figure]:
    for p, n, runs, known in MEANS:
        truth = red_at([p] * 10, THRESHOLD, runs)
        error = mean_estimate(partial(replayed_green, n=n, runs=runs), p, n) - truth
        name = f"mean error, ten scenarios at {p}, {n} trials, R = {runs}"
        slack = 5e-4 if known else 1e-9
        promise = f"not unbiased: {known}" if known else "0"
        yield Figure(name, error, promise, known - slack, known + slack)
    prior = mean_estimate(partial(predictive_green, n=50, runs=1), 0.99, 50) - red_at(
        [0.99] * 10, THRESHOLD, 1
    )
    yield Figure(
        "mean error of Jeffreys' predictive, ten scenarios at 0.99, 50 trials, R = 1",
        prior,
        "not used: 0.084 too high",
        0.083,
        0.085,
    )
    green = 1 - mean_estimate(partial(replayed_green, n=5, runs=10), 0.9, 5, 1)
    yield Figure(
        "mean error, one scenario at 0.9, 5 trials, R = 10 (drawn with replacement)",
        float(bdtrc(8, 10, 0.9)) - green,
        "biased with fewer trials than runs: 0.019",
        0.0185,
        0.0195,
    )


def _root_mean_squares() -> Iterable[Figure]:
    for name, scenarios, p, runs, known in ERRORS:
        ways = (
            ("of the estimate", partial(replayed_green, n=50, runs=runs)),
            ("drawn without replacement (not used)", partial(drawn_green, n=50, runs=runs, again=False)),
            ("drawn with replacement (not used)", partial(drawn_green, n=50, runs=runs, again=True)),
        )
        for (way, green), promise in zip(ways, known, strict=True):
            measured = root_mean_square(green, p, 50, runs, scenarios)
            what = f"root mean square error {way}, {name}"
            yield Figure(what, measured, f"{promise}", promise - 5e-4, promise + 5e-4)


def _enumerated(thorough: bool) -> Iterable[Figure]:
    for scenarios, n, level in ENUMERATED:
        for runs in (1, 10):
            rates = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99) if thorough or scenarios == 1 else (0.95,)
            found = [enumerated_misses(p, scenarios, n, runs, level) for p in rates]
            worst = Misses(max(m.under for m in found), max(m.over for m in found))
            yield from _sides(f"scenarios: {scenarios}, of {n} trials, R = {runs}", worst, level)


def _simulated(draws: int) -> Iterable[Figure]:
    for name, rates in SIMULATED:
        for runs, level in ((1, 0.95), (10, 0.95), (10, 0.8)):
            misses = simulated_misses(rates, 50, runs, level, draws=draws, seed=1)
            yield from _sides(f"{name}, R = {runs}", misses, level)


def _surviving(thorough: bool) -> Iterable[Figure]:
    table_of, campaigns = cache(decision_table), CAMPAIGNS if thorough else CAMPAIGNS_QUICK
    for p in SURVIVING if thorough else SURVIVING_QUICK:
        rng, found = np.random.default_rng(1), []
        for _ in range(campaigns):
            tried = surviving_mutant(p, rng, table_of)
            if tried:
                found.append([red.interval.estimate or 0.0 for red in red_chances(tried, (1, 10))])
        errors = np.array(found) - [red_at([p] * 10, THRESHOLD, runs) for runs in (1, 10)]
        for runs, mean, spread in zip((1, 10), errors.mean(axis=0), errors.std(axis=0), strict=True):
            name = f"mean error on survivors, ten scenarios at {p}, R = {runs}"
            error = float(spread) / math.sqrt(len(found))
            yield Figure(name, float(mean), "at most 0.02 either way", -0.02, 0.02, error)


def _killed(campaigns: int) -> Iterable[Figure]:
    """Yield the mean errors on mutants that a drop in one scenario has killed; those that survive are left out."""
    table_of = cache(decision_table)
    for p, drop in (*KILLED, *KILLED_BY_LUCK):
        rng = np.random.default_rng(1)
        mutants = (killed_mutant(p, drop, rng, table_of) for _ in range(campaigns))
        found = np.array([[red.interval.estimate for red in red_chances(m, (1, 10))] for m in mutants if m])
        truth = np.array([red_at([p - drop] + [p] * 9, THRESHOLD, runs) for runs in (1, 10)])
        error = found.std(axis=0) / math.sqrt(len(found))
        for runs, mean, spread in zip((1, 10), found.mean(axis=0) - truth, error, strict=True):
            name = f"mean error on killed mutants, nine scenarios at {p}, one {drop} lower, R = {runs}"
            promised = (p, drop) in KILLED
            low, high = (-0.02, 0.02) if promised else (-math.inf, math.inf)
            promise = "at most 0.02 either way" if promised else "-"
            yield Figure(name, float(mean), promise, low, high, float(spread))


def killed_mutant(p: float, drop: float, rng: np.random.Generator, table_of: TableOf) -> list[TriedScenario]:
    """Return the trials of a mutant that the first of ten scenarios has killed; none if it does not."""
    first, *others = rng.binomial(50, 1 - p, 10).tolist()
    table = table_of(first, 50, KillDesign(level_for(10)))
    end = _endings(table, 1 - p + drop).draw(rng)
    if end.decision is not Decision.KILLED:
        return []
    killed = KillPlace((table,), end.trials, end.failures)
    own = TriedScenario(end.trials - end.failures, end.trials, THRESHOLD, killed=killed)
    return [own, *(TriedScenario(50 - f0, 50, THRESHOLD) for f0 in others)]


def surviving_mutant(p: float, rng: np.random.Generator, table_of: TableOf) -> list[TriedScenario]:
    """Return the trials of an unchanged mutant on ten scenarios, each with 50 of the original; none if it does not
    survive.
    """
    design, tried = KillDesign(level_for(10)), []
    for f0 in rng.binomial(50, 1 - p, 10).tolist():
        end = _endings(table_of(f0, 50, design), 1 - p).draw(rng)
        if end.decision is not Decision.SURVIVED:
            return []
        own = end.trials - end.failures
        tried.append(TriedScenario(own, end.trials, THRESHOLD, no_better_than=(50 - f0, 50)))
    return tried


@lru_cache(maxsize=1024)
def _endings(table: KillTable, failure_rate: float) -> Endings:
    return endings_at(table, failure_rate)


def _sides(name: str, misses: Misses, level: float) -> Iterable[Figure]:
    most = (1 - level) / 2
    sides = (("under the lower end", misses.under), ("over the upper end", misses.over))
    for (side, measured), error in zip(sides, misses.errors, strict=True):
        what = f"truth {side} at level {level}, {name}"
        yield Figure(what, measured, f"at most {most:.3g}", high=most + 1e-6, error=error)
