import math
from functools import cache, partial
from random import Random

import numpy as np
import pytest
from scipy.stats import binom

from agentmut.stats.kill.allocation import LiveScenario, choose, evidence
from agentmut.stats.kill.campaigns import TableOf, evidence_squares, simulate
from agentmut.stats.kill.rule import KillDesign, decision_table, level_for
from agentmut.stats.kill.suite_share import (
    BEHIND,
    LEAST_BASELINE,
    LEFT_OUT,
    SHARED_LOSSES,
    PooledStanding,
    log_pooled,
    log_threshold,
    pooled_evidence,
    spread,
)
from benchmarks.calibration.kill import simulated_cost


@pytest.mark.parametrize(("f0", "n0", "loss"), [(10, 100, 0), (10, 100, 1), (3, 20, 1), (0, 50, 0)])
def test_the_evidence_of_one_trial_by_hand(f0: int, n0: int, loss: int) -> None:
    # under Beta(n0 - f0, f0 + 1) the pass rate has mean q = (n0 - f0)/(n0 + 1); a loss u makes it (1 - u) q:
    # a pass is 1 - u times as likely, a failure (1 - (1 - u) q)/(1 - q) times
    u, q = SHARED_LOSSES[loss], (n0 - f0) / (n0 + 1)
    found = pooled_evidence(f0, n0, 5).log_ratio[loss]
    assert found[0] == pytest.approx((0.0,), abs=1e-3)
    assert found[1][0] == pytest.approx(math.log(1 - u), abs=3e-3)  # a grid of 160 cells
    assert found[1][1] == pytest.approx(math.log((1 - (1 - u) * q) / (1 - q)), abs=0.02)


@pytest.mark.parametrize("n0", [20, 40])
@pytest.mark.parametrize("n", [1, 4, 20])
def test_the_expected_evidence_is_at_most_one_at_every_true_rate(n0: int, n: int) -> None:
    for i in range(len(SHARED_LOSSES)):
        # exactly 1 would be a fair bet; a baseline without a pass counts as 1
        ratios = np.exp([pooled_evidence(f0, n0, n).log_ratio[i][n] for f0 in range(n0 + 1)])
        for phi in (0.01, 0.1, 0.3, 0.5, 0.7):
            mean = binom.pmf(np.arange(n0 + 1), n0, phi) @ ratios @ binom.pmf(np.arange(n + 1), n, phi)
            assert mean <= 1.01 + 0.3 * phi**n0


def test_evidence_multiplies_over_scenarios_and_averages_over_losses() -> None:
    a, b = pooled_evidence(10, 100, 10), pooled_evidence(2, 40, 10)
    by_loss = [math.exp(a.log_ratio[i][4][2] + b.log_ratio[i][3][1]) for i in range(len(SHARED_LOSSES))]
    found = log_pooled([PooledStanding(a, 4, 2), PooledStanding(b, 3, 1)])
    assert found == pytest.approx(math.log(sum(by_loss) / len(by_loss)))
    assert log_pooled([]) == 0


def test_scenarios_left_out_are_paid_for() -> None:
    state = PooledStanding(pooled_evidence(10, 100, 10), 4, 3)
    assert log_pooled([state], left_out=3) == pytest.approx(log_pooled([state]) - 3 * LEFT_OUT)


def test_a_baseline_without_a_pass_says_nothing() -> None:
    assert log_pooled([PooledStanding(pooled_evidence(20, 20, 5), 5, 5)]) == 0


def test_a_small_baseline_says_nothing() -> None:
    assert log_pooled([PooledStanding(pooled_evidence(2, LEAST_BASELINE - 1, 5), 5, 5)]) == 0
    assert log_pooled([PooledStanding(pooled_evidence(2, LEAST_BASELINE, 5), 5, 5)]) > 2


def test_many_unchanged_scenarios_with_small_baselines_are_seldom_killed_together() -> None:
    n0 = LEAST_BASELINE  # from ten baseline trials it was .038
    design, threshold = KillDesign(level_for(30, 0.025)), log_threshold(0.025)
    found = simulate(
        (0.28,) * 30, (0.0,) * 30, design, 800, np.random.default_rng(n0), n0=n0, log_threshold=threshold
    )
    assert (found.pooled >= threshold).mean() <= 0.025 + 0.005  # a standard error


def test_trials_are_spread_unless_one_scenario_alone_explains_more() -> None:
    e = evidence(10, 100)
    states = [LiveScenario(e, 3, 2), None, LiveScenario(e, 1, 0), LiveScenario(e, 1, 1)]
    best = e.log_ratio[3][2]
    assert spread(states, best) == [None, None, states[2], states[3]]
    assert spread(states, best - BEHIND - 0.01) == states
    assert choose(spread(states, best), [1.0] * 4, [1.0] * 4, Random(0)) == 3
    assert spread([None, None], 0.0) == [None, None]


def test_campaigns_in_arrays_do_what_campaigns_one_by_one_do() -> None:
    drops = [0.4, 0.0, 0.0]
    one = simulated_cost(drops, 0.05 / 3, runs=500, seed=3)
    many = simulate((0.9,) * 3, drops, KillDesign(0.05 / 3), 3000, np.random.default_rng(3))
    error = math.hypot(one.error, float(many.trials.std()) / 3000**0.5)
    assert float(many.trials.mean()) == pytest.approx(one.trials, abs=4 * error)
    assert float(many.killed.mean()) == pytest.approx(one.killed, abs=0.02)


def test_unequal_unchanged_scenarios_are_seldom_killed_and_weak_drops_soon_found(table_of: TableOf) -> None:
    rng, runs = np.random.default_rng(2), 1500
    tried = partial(simulate, n0=40, table_of=table_of, ratios_of=cache(evidence_squares))
    rates, design, threshold = (0.97, 0.9, 0.9, 0.75, 0.5, 0.2), KillDesign(0.025 / 8), log_threshold(0.025)
    null = tried(rates, (0.0,) * 6, design, runs, rng, log_threshold=threshold)
    assert null.killed.mean() <= 0.05
    assert (null.pooled >= threshold).mean() <= 0.025
    weak = (0.2,) * 5 + (0.0,)
    alone = tried(rates, weak, KillDesign(0.05 / 8), 400, rng)
    shared = tried(rates, weak, design, 400, rng, log_threshold=threshold)
    assert shared.trials.mean() < 0.8 * alone.trials.mean()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pooled_evidence(5, 0), "n0 must be a whole number of at least 1, got 0"),
        (lambda: pooled_evidence(21, 20), "f0 must be a whole number of at least 0 and at most 20, got 21"),
        (lambda: pooled_evidence(1, 20, 0), "n_max must be a whole number of at least 1, got 0"),
        (lambda: log_pooled([], left_out=-1), "left_out must be a whole number of at least 0, got -1"),
        (lambda: log_threshold(0.0), r"level must be in \(0, 0.5\), got 0"),
        (lambda: log_threshold(math.nan), r"level must be in \(0, 0.5\), got nan"),
    ],
)
def test_impossible_arguments_are_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


def test_no_table_is_needed_for_an_untestable_scenario() -> None:
    assert decision_table(35, 40).untestable
    found = simulate(
        (0.05,) * 2, (0.0,) * 2, KillDesign(), 50, np.random.default_rng(1), n0=40, log_threshold=3
    )
    assert found.trials.max() == 0
