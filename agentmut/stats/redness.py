"""The chance that a CI job turns red: one that runs each scenario R times and is red if some scenario's
observed pass rate falls under its threshold.

From stored trials, scenarios taken as independent. The estimate replays the job from what is stored: R trials
of each scenario are drawn without replacement, which at a fixed number of trials is unbiased whatever the true
rates are; where fewer than R are stored, with replacement. No prior is added, because over many scenarios one
adds up: Jeffreys' calls ten scenarios that never failed in 50 trials each red with chance 0.09.

The bounds rest on Clopper-Pearson's: with k of n passed, the rate is taken as Beta(k, n-k+1) where the chance
of red is to be large, as Beta(k+1, n-k) where it is to be small (melding: Fay, Proschan and Brittain,
Biometrics 71 (2015) 146-156). For one scenario that is Clopper-Pearson itself. For several, with g(p) the
chance that R runs at rate p are green:

- upper end, the smaller of: the quantile of 1 - prod g(p_i) over independent draws of all rates (log g is
  concave, so draws that spread make red larger on average: it errs to the safe side); and m Q, where Q bounds
  the sum of the failure rates from the failures of all scenarios together (Clopper-Pearson, valid for unequal
  rates by Hoeffding, Ann. Math. Statist. 27 (1956) 713-721) and m is the largest (1 - g(p)) / (1 - p). The
  second suits suites that hardly ever fail.
- lower end, the larger of: 1 - prod g(u_i) with bounds u_i that hold together, which suits one bad scenario;
  and 1 - g(u)^S with u the melded bound of the mean rate, valid since log g is concave, which suits many
  slightly bad ones. (The quantile over draws would err to the unsafe side, to a miss rate of .40 at 30
  scenarios and R = 10.) Where thresholds differ the second uses the lowest.

Each of two bounds takes half of the error. Their coverage is measured by the calibration.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrc, betaincinv

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.intervals import Interval

Array = NDArray[np.float64]
POINTS = 4000
"""Draws of the rates that the bounds are quantiles of. They are fixed, so equal trials give equal bounds; the order
of the scenarios moves a bound by less than .01, with a trial or two of each by up to .03."""


class Tried(NamedTuple):
    """What is stored of one scenario, and the pass rate that the suite asks of it."""

    passes: int
    trials: int
    threshold: float
    no_better_than: tuple[int, int] | None = None
    """(passes, trials) of something that passes at least as often: of the original, where this is a mutant that
    is taken to be no better. It stands in where the scenario's own trials are missing or passed more often."""

    @property
    def standing(self) -> "Tried":
        """The counts that show the lower rate; its own if there is nothing to compare with."""
        passes, trials = self.no_better_than or (0, 0)
        if not trials:
            return self
        own_is_lower = self.trials and self.passes * trials < passes * self.trials
        return self if own_is_lower else Tried(passes, trials, self.threshold)


class RedChance(NamedTuple):
    """The chance that a job is red.

    >>> print(red_chances([Tried(45, 50, 0.9)], [1])[0])
    each scenario run once: 0.100 [0.033, 0.218] (95% melded Clopper-Pearson, n=50)
    """

    runs: int
    interval: Interval
    """`n` counts all trials that it rests on. No estimate where some scenario has no trial."""

    def __str__(self) -> str:
        often = "once" if self.runs == 1 else f"{self.runs} times"
        return f"each scenario run {often}: {self.interval}"


def passes_needed(threshold: float, runs: int) -> int:
    """The fewest passes in `runs` whose share is not under `threshold`: ceil(threshold * runs), exactly.

    The threshold is the decimal that is written, not the binary fraction next to it: 0.7 of ten runs are seven.

    >>> passes_needed(0.7, 10), passes_needed(0.9, 10), passes_needed(0.9, 1), passes_needed(0.9, 25)
    (7, 9, 1, 23)

    Raises `ValueError` for a threshold outside (0, 1) or runs below 1.
    """
    asked = Fraction(str(check_rate("threshold", threshold)))
    return math.ceil(asked * check_count("runs", runs, 1))


def red_at(rates: ArrayLike, thresholds: ArrayLike, runs: int) -> float:
    """The chance of red where the true pass rates are known: 1 - prod_i P(Binomial(R, p_i) >= ceil(t_i R)).

    `rates` holds one number in [0, 1] per scenario, `thresholds` one in (0, 1) per scenario or one for all.

    >>> f"{red_at([0.9] * 10, 0.9, 1):.3f}", f"{red_at([0.9] * 20, 0.9, 1):.3f}"
    ('0.651', '0.878')

    Raises `ValueError` for no scenarios, shapes that do not fit, and numbers out of range.
    """
    known = [check_rate("rates", p, closed=True) for p in np.asarray(rates, dtype=float).ravel().tolist()]
    if not known:
        raise ValueError("rates must name at least one scenario, got none")
    asked = np.asarray(thresholds, dtype=float).ravel()
    if asked.size not in (1, len(known)):
        raise ValueError(f"thresholds must be one or {len(known)}, one for each rate, got {asked.size}")
    needed = [passes_needed(float(t), runs) for t in np.broadcast_to(asked, len(known))]
    return 1 - math.prod(float(bdtrc(c - 1, runs, p)) for c, p in zip(needed, known, strict=True))


def red_chances(
    scenarios: Sequence[Tried], runs: Sequence[int], level: float = 0.95
) -> tuple[RedChance, ...]:
    """The chance of red for each number of runs of a scenario, from stored trials; see the module's docstring.

    Estimate and bounds never fall where a scenario passes less often or asks for more. The bounds hold at
    `level` for each number of runs, on trials whose number was fixed beforehand. Trials of a mutant are
    stopped early, by what they show: then the bounds describe and promise no coverage. Bounds are widened
    to hold the estimate, which matters only where hardly more than R trials are stored.

    A scenario without trials leaves no estimate; it counts as always green at the lower end, always red
    at the upper one. With `no_better_than`, the estimate takes whichever counts make green less likely, the
    lower end those that show the lower rate; the upper end knows the scenario's own trials only.

    Raises `ValueError` for no scenarios, counts that are none, and numbers out of range.
    """
    level = check_rate("level", level)
    if not scenarios:
        raise ValueError("scenarios must name at least one scenario, got none")
    for tried in scenarios:
        for passes, trials in (tried[:2], tried.no_better_than or (0, 0)):
            check_count("passes", passes, 0, check_count("trials", trials))
    return tuple(_red_chance(scenarios, number, level) for number in runs)


def _red_chance(scenarios: Sequence[Tried], runs: int, level: float) -> RedChance:
    needed = [passes_needed(tried.threshold, runs) for tried in scenarios]
    estimate = None
    standing = [tried.standing for tried in scenarios]
    if all(tried.trials for tried in standing):
        estimate = 1 - math.prod(_estimate(t, c, runs) for t, c in zip(scenarios, needed, strict=True))
    error = (1 - level) / 2
    low, high = _low(standing, needed, runs, error), _high(scenarios, needed, runs, error)
    if estimate is not None:
        low, high = min(low, estimate), max(high, estimate)
    total = sum(tried.trials for tried in standing)
    return RedChance(runs, Interval(estimate, low, high, level, total, "melded Clopper-Pearson"))


def _high(scenarios: Sequence[Tried], needed: Sequence[int], runs: int, error: float) -> float:
    if not all(tried.trials for tried in scenarios):
        return 1.0
    if len(scenarios) == 1:
        return _high_drawn(scenarios, needed, runs, error)
    return min(
        _high_drawn(scenarios, needed, runs, error / 2),
        _high_together(scenarios, max(needed), runs, error / 2),
    )


def _high_drawn(scenarios: Sequence[Tried], needed: Sequence[int], runs: int, error: float) -> float:
    green = np.ones(POINTS)
    for dimension, (tried, least) in enumerate(zip(scenarios, needed, strict=True)):
        green *= _greens(tried.passes, tried.trials, least, runs)[_order(dimension)]
    return 1 - float(np.quantile(green, error, method="hazen"))


def _high_together(scenarios: Sequence[Tried], needed: int, runs: int, error: float) -> float:
    """From an upper bound of the sum of the failure rates, wherever they sit.

    With unequal numbers of trials the sum of n_i q_i is bounded, which is at least the smallest n times it.
    """
    total, passes = sum(t.trials for t in scenarios), sum(t.passes for t in scenarios)
    worst = float(betaincinv(total - passes + 1, passes, 1 - error)) if passes else 1.0
    return min(1.0, _steepest(needed, runs) * worst * total / min(t.trials for t in scenarios))


@lru_cache(maxsize=1024)
def _steepest(needed: int, runs: int) -> float:
    """The largest ratio of a scenario's chance of red to its failure rate."""
    rates = np.geomspace(1e-9, 1, POINTS)
    return float(np.max(bdtrc(runs - needed, runs, rates) / rates))


def _low(scenarios: Sequence[Tried], needed: Sequence[int], runs: int, error: float) -> float:
    if len(scenarios) == 1:
        return _low_jointly(scenarios, needed, runs, error)
    return max(
        _low_jointly(scenarios, needed, runs, error / 2),
        _low_on_average(scenarios, min(needed), runs, error / 2),
    )


def _low_jointly(scenarios: Sequence[Tried], needed: Sequence[int], runs: int, error: float) -> float:
    """From upper bounds of the rates that all hold at once; scenarios are independent, so by Sidak's level."""
    each = (1 - error) ** (1 / len(scenarios))
    highest = [
        float(betaincinv(t.passes + 1, t.trials - t.passes, each)) if t.passes < t.trials else 1.0
        for t in scenarios
    ]
    return 1 - math.prod(float(bdtrc(c - 1, runs, p)) for c, p in zip(needed, highest, strict=True))


def _low_on_average(scenarios: Sequence[Tried], needed: int, runs: int, error: float) -> float:
    """From an upper bound of the mean rate: no S rates with that mean are green more often than S equal ones."""
    drawn = [_rates(t.passes + 1, t.trials - t.passes)[_order(i)] for i, t in enumerate(scenarios)]
    mean = float(np.quantile(np.mean(drawn, axis=0), 1 - error, method="hazen"))
    return 1 - float(bdtrc(needed - 1, runs, mean)) ** len(scenarios)


def _estimate(tried: Tried, needed: int, runs: int) -> float:
    """The smaller of the chances of green that the counts of a scenario show."""
    counts = [(tried.passes, tried.trials), tried.no_better_than or (0, 0)]
    return min(_replayed(k, n, needed, runs) for k, n in counts if n)


def _replayed(passes: int, trials: int, needed: int, runs: int) -> float:
    """The chance that `runs` of the stored trials hold at least `needed` passes."""
    if trials < runs:
        return float(bdtrc(needed - 1, runs, passes / trials))
    failures = trials - passes
    most = min(failures, runs - needed)
    ways = sum(math.comb(failures, i) * math.comb(passes, runs - i) for i in range(most + 1))
    return ways / math.comb(trials, runs)


@lru_cache(maxsize=512)
def _greens(passes: int, trials: int, needed: int, runs: int) -> Array:
    """The chance of green at rates as low as the trials allow."""
    green: Array = bdtrc(needed - 1, runs, _rates(passes, trials - passes + 1))
    return green


@lru_cache(maxsize=512)  # the mutants of a campaign share the baselines, and survivors much of the rest
def _rates(a: int, b: int) -> Array:
    """`POINTS` equally likely values of Beta(a, b), from low to high; all 0 for a = 0 and all 1 for b = 0."""
    if a == 0 or b == 0:
        return np.full(POINTS, float(b == 0))
    rates: Array = betaincinv(a, b, (np.arange(POINTS) + 0.5) / POINTS)
    return rates


@lru_cache(maxsize=1024)
def _order(dimension: int) -> NDArray[np.int64]:
    """A fixed order of the draws, another one for each scenario: together a Latin hypercube."""
    return np.random.default_rng(dimension).permutation(POINTS)
