"""The expected outcome of an untried mutant: chances of its statuses, and trials."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from agentmut.stats import KillDesign, KillTable, Round, level_for

if TYPE_CHECKING:
    from agentmut.stats import Preview

TableOf = Callable[[int, int, KillDesign], KillTable]
RUNS = 200
"""Simulated mutants behind a mean of trials."""
MOST_SIMULATED = 30
"""Scenarios of a simulated mutant: of more, the trials on those that are no worse grow in proportion."""
LARGEST_SIMULATED = 200
"""n_max beyond which trials are bounded instead of simulated: tables grow with its square."""


class Lanes(NamedTuple):
    """The setting of a mutant: the number of scenarios that reach it, and their assumed pass rate."""

    scenarios: int
    rate: float


class ExpectedCourse(NamedTuple):
    """Chances, which sum to 1, and the mean number of trials."""

    killed: float
    survived: float
    undecided: float
    trials: float


class Rules(NamedTuple):
    """The kill rule of a campaign."""

    n0: int
    alpha: float
    beta: float
    delta: float
    n_max: int

    def in_round(self, round_: Round) -> Self:
        """Return the rule of a round, with its drop, its baseline and its share of alpha."""
        return self._replace(n0=round_.baseline, alpha=self.alpha * round_.weight, delta=round_.delta)

    def design(self, scenarios: int) -> KillDesign:
        """Return the kill design of each of so many scenarios."""
        return KillDesign(level_for(scenarios, self.alpha), self.beta, self.delta, self.n_max)


class Foresight:
    """Expected figures under one kill rule; intermediate results are computed once."""

    def __init__(self, rules: Rules, table_of: TableOf) -> None:
        self._rules = rules
        self._table_of = table_of
        self._lane = cache(self._one_scenario)
        self._squares: Callable[[int, int, int], Any] | None = None
        self.expected = cache(self._expected)

    def _expected(self, lanes: Lanes, drop: float) -> ExpectedCourse:
        """Return expected figures for a mutant that lowers the pass rate of one scenario by `drop`.

        The chances are exact for independent scenarios of this rate, averaged over the draw of the baseline: each
        has a boundary of its own, so a kill is 1 - prod(1 - chance of its kill) in whatever order they are tried. So
        are the trials of a single scenario. With several, the trials are the mean of 200 simulated mutants (seed 1),
        since they depend on the order; beyond n_max 200 the sum over the scenarios stands for them, which is more.
        Of more than 30 scenarios, 30 are simulated: trials are chosen by evidence, so of the trials that the scenarios
        without a drop could take, the same part is taken before the kill.
        """
        k = lanes.scenarios
        worse, same = self._lane(lanes, drop), self._lane(lanes, 0.0)
        killed = 1 - (1 - worse.failed) * (1 - same.failed) ** (k - 1)
        survived = worse.passed * same.passed ** (k - 1)
        trials = worse.trials + (k - 1) * same.trials
        if k > 1 and self._rules.n_max <= LARGEST_SIMULATED:
            few = min(k, MOST_SIMULATED)
            trials = self._simulated_trials(lanes, few, drop)
            if few < k:
                trials = max(0.0, worse.trials + (trials - worse.trials) * (k - 1) / (few - 1))
        return ExpectedCourse(killed, survived, max(0.0, 1 - killed - survived), trials)

    def _one_scenario(self, lanes: Lanes, drop: float) -> "Preview":
        from agentmut.stats import preview_regression

        rules = self._rules
        design = rules.design(lanes.scenarios)
        return preview_regression(lanes.rate, drop, rules.n0, design, table_of=self._table_of)

    def _simulated_trials(self, lanes: Lanes, k: int, drop: float) -> float:
        """Return the mean trials on `k` scenarios, each at its level among all of `lanes`."""
        import numpy as np

        from agentmut.stats import evidence_squares, simulate

        self._squares = self._squares or cache(evidence_squares)
        rng = np.random.default_rng(1)
        found = simulate(
            [lanes.rate] * k,
            [min(drop, lanes.rate), *[0.0] * (k - 1)],
            self._rules.design(lanes.scenarios),
            RUNS,
            rng,
            n0=self._rules.n0,
            table_of=self._table_of,
            ratios_of=self._squares,
        )
        return float(found.trials.mean())
