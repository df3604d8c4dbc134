"""What to expect of a mutant before it is tried: chances of its statuses, and trials."""

from collections.abc import Callable
from typing import NamedTuple

from agentmut.stats.kill.rule import KillDesign, KillTable, level_for

TableOf = Callable[[int, int, KillDesign], KillTable]
RUNS = 200
"""Simulated mutants behind a mean of trials."""
LARGEST_SIMULATED = 200
"""n_max beyond which trials are bounded instead of simulated: tables grow with its square."""


class Lanes(NamedTuple):
    """What tries a mutant: how many scenarios reach it, and the pass rate that they are taken to have."""

    scenarios: int
    rate: float


class Expected(NamedTuple):
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

    def design(self, scenarios: int) -> KillDesign:
        """That of each of so many scenarios."""
        return KillDesign(level_for(scenarios, self.alpha), self.beta, self.delta, self.n_max)


def expected(lanes: Lanes, drop: float, rules: Rules, table_of: TableOf) -> Expected:
    """A mutant that lowers the pass rate of one of its scenarios by `drop`, and leaves the others as they are.

    The chances are exact for independent scenarios of this rate, averaged over the draw of the baseline: each has a
    boundary of its own, so a kill is 1 - prod(1 - chance of its kill) in whatever order they are tried. So are the
    trials of a single scenario. With several, the trials are the mean of 200 simulated mutants (seed 1), since they
    depend on the order; beyond n_max 200 the sum over the scenarios stands for them, which is more.
    """
    from agentmut.stats.preview import preview_regression

    k, design = lanes.scenarios, rules.design(lanes.scenarios)
    worse = preview_regression(lanes.rate, drop, rules.n0, design, table_of=table_of)
    same = worse if k == 1 or not drop else preview_regression(
        lanes.rate, 0.0, rules.n0, design, table_of=table_of
    )  # fmt: skip
    killed = 1 - (1 - worse.failed) * (1 - same.failed) ** (k - 1)
    survived = worse.passed * same.passed ** (k - 1)
    trials = worse.trials + (k - 1) * same.trials
    if k > 1 and rules.n_max <= LARGEST_SIMULATED:
        trials = _simulated_trials(lanes, drop, rules, table_of)
    return Expected(killed, survived, max(0.0, 1 - killed - survived), trials)


def _simulated_trials(lanes: Lanes, drop: float, rules: Rules, table_of: TableOf) -> float:
    import numpy as np

    from agentmut.stats.calibration.campaigns import simulate

    k = lanes.scenarios
    drops = [min(drop, lanes.rate), *[0.0] * (k - 1)]
    found = simulate(
        [lanes.rate] * k,
        drops,
        rules.design(k),
        RUNS,
        np.random.default_rng(1),
        n0=rules.n0,
        table_of=table_of,
    )
    return float(found.trials.mean())
