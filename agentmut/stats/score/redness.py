"""The chance that a CI job turns red: one that runs each scenario R times and is red if some scenario's
observed pass rate falls under its threshold.

From stored trials, scenarios taken as independent. The estimate replays the job from the n stored trials of
each scenario: it draws R of them, and its chance of green is the average of drawing without replacement, with
weight 1 - R/n, and with replacement, with weight R/n (from R = n on with replacement alone). For R = 1 both
are the observed rate. Without replacement is unbiased, but at R = n it knows 0 and 1 only: one scenario exactly
at its threshold of .9 has then, with 50 of 50, a root mean square error of .486, with replacement .286. With
replacement alone, the bias adds up over scenarios: ten at .99 with 50 trials and R = 10 are called red too
often by .064 (error .088), without replacement by 0 (.049), by the average .013 (.052). Over rates .8, .9, .95,
.99 and 1, n of 20, 50, 100 and 200, R of 1, 3, 10, 20, 50 and 100 up to n, threshold .9, the mean error without
replacement, with it and of the average is .082, .073 and .074 with one scenario, .072, .063 and .063 with three,
.048, .048 and .045 with ten. No prior is added: Jeffreys' calls ten scenarios at .99 red too often by .084 at
R = 1 and by .217 at R = 10 (error .229). Nothing helps with R far above n: 20 trials cannot tell .95 from .99,
and the estimate is then biased by more.

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
from numpy.typing import NDArray

from agentmut.stats.checks import check_count, check_rate
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.score.after_kill import AfterKill
from agentmut.stats.score.first_runs import KillPlace, replayed_green

Array = NDArray[np.float64]
POINTS = 4000
"""Draws of the rates that the bounds are quantiles of. They are fixed, so equal trials give equal bounds; the order
of the scenarios moves a bound by at most .02, with 3 to 10 trials of each by up to .05, with one or two by .08."""


class TriedScenario(NamedTuple):
    """The stored trials of one scenario, and the pass rate that the suite requires."""

    passes: int
    trials: int
    threshold: float
    no_better_than: tuple[int, int] | None = None
    """(passes, trials) of something that passes at least as often: of the original, where this is a mutant on which
    no drop was found. They are counted with the scenario's own."""
    killed: KillPlace | None = None
    """Where the trials of a kill ended. The estimate knows that they stopped by what they showed, the bounds do not."""
    after: AfterKill | None = None
    """The runs after a kill: the estimate rests on them alone. The bounds rest on all `trials`."""

    @property
    def together(self) -> "TriedScenario":
        """Return all trials that say how often the scenario passes: its own, and those of `no_better_than`.

        The lower rate of the two would be below the true one on average, and in ten scenarios ten times so.
        """
        passes, trials = self.no_better_than or (0, 0)
        return self._replace(passes=self.passes + passes, trials=self.trials + trials, no_better_than=None)

    def green(self, needed: int, runs: int) -> float | None:
        """Return the estimated chance that at least `needed` of `runs` runs pass; None where runs after a kill lack."""
        if self.after:
            return self.after.green(needed, runs)
        if self.killed:
            return replayed_green(self.killed, needed, runs)
        every = self.together
        return _replayed(every.passes, every.trials, needed, runs)


class RedChance(NamedTuple):
    """The chance that a job is red.

    >>> print(red_chances([TriedScenario(45, 50, 0.9)], [1])[0])
    each scenario run once: 0.100 [0.033, 0.218] (95% melded Clopper-Pearson, n=50)
    """

    runs: int
    interval: Interval
    """`n` counts all trials that it rests on. No estimate where some scenario has no trial, or too few after a kill."""

    def __str__(self) -> str:
        often = "once" if self.runs == 1 else f"{self.runs} times"
        return f"each scenario run {often}: {self.interval}"


@lru_cache(maxsize=1024)
def passes_needed(threshold: float, runs: int) -> int:
    """Return the fewest passes in `runs` whose share is not under `threshold`: ceil(threshold * runs), exactly.

    The threshold is the decimal that is written, not the binary fraction next to it: 0.7 of ten runs are seven.

    >>> passes_needed(0.7, 10), passes_needed(0.9, 10), passes_needed(0.9, 1), passes_needed(0.9, 25)
    (7, 9, 1, 23)

    Raises `ValueError` for a threshold outside (0, 1) or runs below 1.
    """
    asked = Fraction(str(check_rate("threshold", threshold)))
    return math.ceil(asked * check_count("runs", runs, 1))


def red_chances(
    scenarios: Sequence[TriedScenario], runs: Sequence[int], level: float = 0.95
) -> tuple[RedChance, ...]:
    """Return the chance of red for each number of runs of a scenario; see the module's docstring.

    The chance never falls where a scenario asks for more; without kills, nor where it passes less often. The bounds
    hold at `level` for each number of runs, on trials whose number was fixed beforehand. Trials of a mutant are
    stopped early, by what they show: then the bounds describe and promise no coverage. Bounds are widened
    to hold the estimate, which matters only in rare cases.

    A scenario without trials leaves no estimate; it counts as always green at the lower end, always red
    at the upper one. With `no_better_than`, estimate and lower end count those trials too, which errs to the
    side of green if the scenario passes less often; the upper end knows the scenario's own trials only.

    Raises `ValueError` for no scenarios, counts that are impossible, and numbers out of range.
    """
    level = check_rate("level", level)
    if not scenarios:
        raise ValueError("scenarios must name at least one scenario, got none")
    for scenario in dict.fromkeys(scenarios):
        for passes, trials in (scenario[:2], scenario.no_better_than or (0, 0)):
            check_count("passes", passes, 0, check_count("trials", trials))
    error = (1 - level) / 2
    together = [scenario.together for scenario in scenarios]
    highest = _highest(together, error if len(scenarios) == 1 else error / 2)
    total = sum(scenario.trials for scenario in together)
    known = all(scenario.trials for scenario in together)

    def chance(number: int) -> RedChance:
        needed = _all_needed(scenarios, number)
        low, high = _low(highest, needed, number), _high(scenarios, needed, number, error)
        estimate = _joint_estimate(scenarios, needed, number) if known else None
        if estimate is not None:
            low, high = min(low, estimate), max(high, estimate)
        return RedChance(number, Interval(estimate, low, high, level, total, "melded Clopper-Pearson"))

    return tuple(map(chance, runs))


def _all_needed(scenarios: Sequence[TriedScenario], runs: int) -> list[int]:
    passes_of = {t: passes_needed(t, runs) for t in {scenario.threshold for scenario in scenarios}}
    return [passes_of[scenario.threshold] for scenario in scenarios]


def _joint_estimate(scenarios: Sequence[TriedScenario], needed: Sequence[int], runs: int) -> float | None:
    greens = [scenario.green(least, runs) for scenario, least in zip(scenarios, needed, strict=True)]
    known = [green for green in greens if green is not None]
    return 1 - math.prod(known) if len(known) == len(greens) else None


def _high(scenarios: Sequence[TriedScenario], needed: Sequence[int], runs: int, error: float) -> float:
    if not all(scenario.trials for scenario in scenarios):
        return 1.0
    if len(scenarios) == 1:
        return _high_drawn(scenarios, needed, runs, error)
    return min(
        _high_drawn(scenarios, needed, runs, error / 2),
        _high_together(scenarios, max(needed), runs, error / 2),
    )


def _high_drawn(scenarios: Sequence[TriedScenario], needed: Sequence[int], runs: int, error: float) -> float:
    green = np.ones(POINTS)
    for dimension, (scenario, least) in enumerate(zip(scenarios, needed, strict=True)):
        green *= _turned(_greens(scenario.passes, scenario.trials, least, runs), dimension)
    return 1 - _quantile(green, error)


def _high_together(scenarios: Sequence[TriedScenario], needed: int, runs: int, error: float) -> float:
    """Return the upper end from a bound of the sum of all failure rates, however it is distributed.

    With unequal numbers of trials the sum of n_i q_i is bounded, which is at least the smallest n times it.
    """
    total, passes = sum(t.trials for t in scenarios), sum(t.passes for t in scenarios)
    worst = _beta_quantile(total - passes + 1, passes, 1 - error)
    return min(1.0, _steepest(needed, runs) * worst * total / min(t.trials for t in scenarios))


@lru_cache(maxsize=1024)
def _steepest(needed: int, runs: int) -> float:
    """Return the largest ratio of a scenario's chance of red to its failure rate."""
    from scipy.special import bdtrc

    rates = np.geomspace(1e-9, 1, POINTS)
    return float(np.max(bdtrc(runs - needed, runs, rates) / rates))


class Highest(NamedTuple):
    """Upper bounds of the rates, which do not depend on the number of runs."""

    jointly: tuple[float, ...]
    """Bounds of every rate, which hold jointly. Scenarios are independent, so each has Sidak's level."""
    mean: float | None
    """The bound of the mean rate; None for one scenario."""


def _highest(scenarios: Sequence[TriedScenario], error: float) -> Highest:
    level = (1 - error) ** (1 / len(scenarios))
    jointly = tuple(_beta_quantile(t.passes + 1, t.trials - t.passes, level) for t in scenarios)
    if len(scenarios) == 1:
        return Highest(jointly, None)
    total = np.zeros(POINTS)
    for dimension, scenario in enumerate(scenarios):
        total += _turned(_rates(scenario.passes + 1, scenario.trials - scenario.passes), dimension)
    return Highest(jointly, min(1.0, _quantile(total, 1 - error) / len(scenarios)))


def _low(highest: Highest, needed: Sequence[int], runs: int) -> float:
    """Return the lower end, jointly or by the mean: unequal rates are green at most as often as equal rates."""
    greens = (_green(least, runs, rate) for least, rate in zip(needed, highest.jointly, strict=True))
    jointly = 1 - math.prod(greens)
    if highest.mean is None:
        return jointly
    return max(jointly, 1 - _green(min(needed), runs, highest.mean) ** len(needed))


@lru_cache(maxsize=8192)
def _replayed(passes: int, trials: int, needed: int, runs: int) -> float:
    """Return the chance that `runs` draws from the stored trials hold at least `needed` passes."""
    again = _green(needed, runs, passes / trials)
    if trials <= runs:
        return again
    failures = trials - passes
    most = min(failures, runs - needed)
    ways = sum(math.comb(failures, i) * math.comb(passes, runs - i) for i in range(most + 1))
    once = ways / math.comb(trials, runs)
    return once + (again - once) * runs / trials


@lru_cache(maxsize=8192)
def _green(needed: int, runs: int, rate: float) -> float:
    from scipy.special import bdtrc

    return float(bdtrc(needed - 1, runs, rate))


@lru_cache(maxsize=8192)
def _beta_quantile(a: int, b: int, level: float) -> float:
    """Return the quantile of Beta(a, b), which is 1 for b = 0."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, level)) if b else 1.0


@lru_cache(maxsize=4096)
def _greens(passes: int, trials: int, needed: int, runs: int) -> Array:
    """Return the chance of green at rates as low as the trials allow."""
    from scipy.special import bdtrc

    rates = _rates(passes, trials - passes + 1)
    return rates if runs == 1 else _fixed(bdtrc(needed - 1, runs, rates))


@lru_cache(maxsize=4096)  # the mutants of a campaign share the baselines, and survivors much of the rest
def _rates(a: int, b: int) -> Array:
    """Return `POINTS` equally likely values of Beta(a, b), always shuffled alike; all 0 for a = 0 and all 1 for b = 0.

    The inverse is slow, so it is taken at 300 levels, dense in the tails, and read between them along the
    logit of the level: off by less than 1e-4.
    """
    from scipy.special import betaincinv

    if a == 0 or b == 0:
        return _fixed(np.full(POINTS, float(b == 0)))
    levels = (np.arange(POINTS) + 0.5) / POINTS
    logits = np.log(levels / (1 - levels))
    known = np.linspace(logits[0], logits[-1], 300)
    rates = np.interp(logits, known, betaincinv(a, b, 1 / (1 + np.exp(-known))))
    return _fixed(np.random.default_rng(0).permutation(rates))


def _turned(values: Array, dimension: int) -> Array:
    """Return the values rotated differently for each scenario, which is many times faster than shuffling.

    The values are shuffled, so a scenario's do not go with another's. The starts are irregular: at equal
    distances, draws would repeat each other but for one scenario.
    """
    start = _starts()[dimension % POINTS]
    return np.concatenate((values[start:], values[:start]))


@lru_cache(maxsize=1)
def _starts() -> tuple[int, ...]:
    return tuple(np.random.default_rng(1).permutation(POINTS).tolist())


def _fixed(values: Array) -> Array:
    """Return the array, closed to writing: a cached array must not change."""
    values.setflags(write=False)
    return values


def _quantile(values: Array, level: float) -> float:
    """Return Hazen's quantile, which `numpy.quantile` computes in six times the time."""
    place = min(max(len(values) * level - 0.5, 0.0), len(values) - 1.0)
    below = min(int(place), len(values) - 2)
    low, high = np.partition(values, [below, below + 1])[below : below + 2].tolist()
    return float(low + (high - low) * (place - below))
