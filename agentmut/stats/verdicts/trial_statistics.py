"""The counts and scores of one test's trials, and the trials that a pass rate counts."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agentmut.nouns import Outcome
from agentmut.stats.checks import check_choice, check_count
from agentmut.stats.intervals.proportion import Interval, wilson


class PassRates(NamedTuple):
    """The pass rate of the agent and that of the whole pipeline, each with a Wilson interval.

    >>> print(pass_rates({Outcome.PASS: 9, Outcome.TIMEOUT: 1, Outcome.INFRASTRUCTURE: 10}))
    per protocol 0.900 [0.596, 0.982] (95% wilson, n=10); intention to treat 0.450 [0.258, 0.658] (95% wilson, n=20)
    """

    per_protocol: Interval
    """The pass rate of the agent when it runs: passes / (passes + fails + timeouts)."""
    intention_to_treat: Interval
    """The pass rate of the whole pipeline: passes / all trials."""

    def __str__(self) -> str:
        return f"per protocol {self.per_protocol}; intention to treat {self.intention_to_treat}"


class TrialStatistics(NamedTuple):
    """The trials of one test; trials = passes + fails + errors."""

    passes: int
    fails: int
    """Failures and timeouts; in a timeout the agent was at work and did not finish."""
    errors: int
    """Trials that say nothing about the agent: `Outcome.is_evidence` is false."""
    rates: PassRates
    mean_score: float | None
    """None without scores."""
    score_deviation: float | None
    """Sample standard deviation of the scores; None with fewer than two."""

    @property
    def trials(self) -> int:
        """Return the number of trials, errors included."""
        return self.passes + self.fails + self.errors

    @property
    def flaky(self) -> bool:
        """Return whether at least one trial passed and one failed; an error is not flakiness of the agent."""
        return self.passes > 0 and self.fails > 0

    def __str__(self) -> str:
        counts = f"{self.trials} trials: {self.passes} passed, {self.fails} failed, {self.errors} errors"
        return f"{counts}{', flaky' if self.flaky else ''}; {self.rates}{self._scores()}"

    def _scores(self) -> str:
        if self.mean_score is None:
            return ""
        spread = "n/a" if self.score_deviation is None else f"{self.score_deviation:.3f}"
        return f"; mean score {self.mean_score:.3f} (sample standard deviation {spread})"


def trial_statistics(
    outcomes: Iterable[Outcome], scores: Iterable[float] = (), level: float = 0.95
) -> TrialStatistics:
    """Return counts, both pass rates, and mean and spread of the scores, if there are any.

    Scores need not match the outcomes one by one: a test may have none, or score its errors as 0.

    Raises `ValueError` for an outcome that is none, a score that is not finite, or a level outside (0, 1).
    """
    counts = Counter(check_choice("an outcome", outcome, Outcome) for outcome in outcomes)
    scored = _numbers("scores", scores)
    evidence = sum(n for outcome, n in counts.items() if outcome.is_evidence)
    passes = counts[Outcome.PASS]
    return TrialStatistics(
        passes,
        evidence - passes,
        counts.total() - evidence,
        pass_rates(counts, level),
        math.fsum(scored) / len(scored) if scored else None,
        sample_standard_deviation(scored),
    )


def pass_rates(counts: Mapping[Outcome, int], level: float = 0.95) -> PassRates:
    """Return both pass rates from the number of trials with each outcome; outcomes left out count 0.

    Per protocol, a timeout is a failure, and trials that are no evidence about the agent (infrastructure,
    pre-validation, empty run) leave the denominator. Intention to treat counts every trial, and all but the
    passes as failures. Where no trial counts there is no estimate, and the interval is [0, 1].
    Leaving out outcomes is fair only if they have nothing to do with the agent; a crash that the agent
    provokes makes the per-protocol rate too high.

    Raises `ValueError` for a negative or fractional count, or a level outside (0, 1).
    """
    checked = {
        check_choice("an outcome", o, Outcome): check_count(f"counts[{o}]", n) for o, n in counts.items()
    }
    passes = checked.get(Outcome.PASS, 0)
    evidence = sum(n for outcome, n in checked.items() if outcome.is_evidence)
    return PassRates(wilson(passes, evidence, level), wilson(passes, sum(checked.values()), level))


def sample_standard_deviation(values: Iterable[float]) -> float | None:
    """Return sqrt(sum (x - mean)^2 / (n - 1)) (Bessel's correction), in the units of the values.

    None for fewer than two values: one value says nothing about spread, and 0 would claim that there is none.

    Raises `ValueError` for a value that is not finite.

    >>> sample_standard_deviation([1, 3, 5])
    2.0
    """
    numbers = _numbers("values", values)
    if len(numbers) < 2:
        return None
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1))


def nearest_rank(values: Iterable[float], percent: int = 95) -> float:
    """Return the `percent`-th percentile by nearest rank: the value at rank ceil(percent n / 100), from 1.

    Always one of the values; no interpolation. `percent` is a whole number, because ceil(0.07 * 100) is 8 in
    floats. With fewer than 100 / (100 - percent) values it is the largest of them.

    Raises `ValueError` for no values, a value that is not finite, or percent outside 1 .. 100.

    >>> nearest_rank([30, 10, 20], 50)
    20.0
    """
    numbers = sorted(_numbers("values", values))
    check_count("the number of values", len(numbers), 1)
    percent = check_count("percent", percent, 1, 100)
    return numbers[-(-percent * len(numbers) // 100) - 1]


def _numbers(name: str, values: Iterable[float]) -> list[float]:
    numbers = [float(value) for value in values]
    odd = [x for x in numbers if not math.isfinite(x)]
    if odd:
        raise ValueError(f"{name} must be finite numbers, got {odd[0]!r}")
    return numbers
