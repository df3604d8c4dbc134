from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from agentmut.stats.kill.characteristics import operating_characteristics
from agentmut.stats.kill.replay import coupling, replay_design
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table

TableOf = Callable[[int, int, KillDesign], KillTable]


def test_seeds_that_passed_are_kept_in_order_and_replays_are_the_baseline() -> None:
    recorded = {11: True, 3: False, 7: True, 5: True, 2: False}
    found = replay_design(recorded, {5: False, 11: True})
    assert found.seeds == (11, 7, 5)
    assert found.table == decision_table(1, 2)


def test_results_are_consumed_in_the_order_of_the_seeds_up_to_the_decision() -> None:
    found = replay_design(dict.fromkeys(range(100), True), dict.fromkeys(range(100), True))
    failing = [(seed, True) for seed in range(100)]
    reached = found.verdict(failing)
    assert (reached.decision, reached.n, reached.f) == (Decision.KILLED, reached.n, reached.n)
    assert reached == found.table.verdict([True] * 100)
    assert found.verdict([]).decision is Decision.CONTINUE
    assert found.verdict([(s, False) for s in range(100)]).decision is Decision.SURVIVED


def test_kept_seeds_that_run_out_leave_it_undecided() -> None:
    found = replay_design(dict.fromkeys("ab", True), dict.fromkeys("ab", True))
    assert found.verdict([("a", False)]).decision is Decision.CONTINUE
    assert found.verdict([("a", False), ("b", False)]).decision is Decision.UNDECIDED


def test_skipped_or_surplus_seeds_are_refused() -> None:
    found = replay_design({1: True, 2: True, 3: False}, {1: True})
    with pytest.raises(ValueError, match="number 0 must be 1, got 2"):
        found.verdict([(2, True)])
    with pytest.raises(ValueError, match="at most 0, one for each kept seed"):
        replace(replay_design({1: True}, {1: False}), seeds=()).verdict([(1, False)])


@pytest.mark.parametrize(
    ("recorded", "replays", "message"),
    [
        ({}, {}, "a seed on which the original passed, got none in 0"),
        ({1: False}, {}, "a seed on which the original passed, got none in 1"),
        ({1: True, 2: False}, {2: True}, "seeds on which the recorded run passed, got 2"),
        ({1: True}, {9: True}, "seeds on which the recorded run passed, got 9"),
        ({1: True}, {}, "replays must hold a replay or more, got none"),
    ],
)
def test_seeds_that_cannot_be_used_are_refused(recorded: Any, replays: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replay_design(recorded, replays)


def test_trials_fall_as_coupling_grows_and_false_kills_stay_below_alpha(table_of: TableOf) -> None:
    trials = []
    for rho in (0.0, 0.5, 1.0):
        same, worse = coupling(0.9, 0.0, rho), coupling(0.9, 0.2, rho)
        drop = worse.failure_rate - same.null_rate
        at = operating_characteristics(100, KillDesign(), 1 - same.null_rate, drop, table_of)
        trials.append(at.trials)
        null = operating_characteristics(100, KillDesign(), 1 - same.null_rate, 0.0, table_of)
        assert same.failure_rate == pytest.approx(same.null_rate)
        assert null.killed <= 0.05
        assert at.killed >= 0.87
    assert trials[0] == pytest.approx(22.8, abs=0.1)
    assert trials[-1] == pytest.approx(4.3, abs=0.05)
    assert trials == sorted(trials, reverse=True)


def test_the_coupling_model_simulated_from_seed_to_verdict_has_its_rates() -> None:
    rng, model = Random(4), coupling(0.9, 0.2, 0.6)
    again = failed = kept = 0
    for _ in range(40_000):
        luck = rng.random()
        if luck < model.p:  # the recorded run's luck is the seed's own
            kept += 1
            again += not model.passes(luck, rng, mutant=False)
            failed += not model.passes(luck, rng, mutant=True)
    assert again / kept == pytest.approx(model.null_rate, abs=4 * 0.0012)
    assert failed / kept == pytest.approx(model.failure_rate, abs=4 * 0.0022)


@pytest.mark.parametrize("bad", [0.3, 0.6, 0.95])
def test_seeds_of_unequal_difficulty_do_not_raise_false_kills(bad: float, table_of: TableOf) -> None:
    # one seed in ten fails again with chance `bad`, on the original and on the unchanged mutant alike
    rng, n, runs = np.random.default_rng(8), 100, 1500
    killed = 0
    for _ in range(runs):
        theta = np.where(rng.random(n) < 0.1, bad, 0.01)
        f0 = int((rng.random(n) < theta).sum())
        table = table_of(f0, n, KillDesign())
        killed += table.verdict((rng.random(n) < theta).tolist()).decision is Decision.KILLED
    assert killed / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize(
    ("p", "drop", "rho"), [(0.0, 0.0, 0.5), (0.9, 0.95, 0.5), (0.9, 0.2, 1.5), (0.9, -0.1, 0)]
)
def test_impossible_models_are_refused(p: float, drop: float, rho: float) -> None:
    with pytest.raises(ValueError, match="must be in"):
        coupling(p, drop, rho)


@pytest.mark.parametrize("odd", ["fail", "", 2, None, float("nan")])
def test_outcomes_that_are_neither_true_nor_false_are_refused(odd: Any) -> None:
    with pytest.raises(ValueError, match="recorded must be true or false, got"):
        replay_design({1: True, 2: odd}, {1: True})
    with pytest.raises(ValueError, match="replays must be true or false, got"):
        replay_design({1: True, 2: True}, {2: odd})
    with pytest.raises(ValueError, match="results must be true or false, got"):
        replay_design({1: True, 2: True}, {2: True}).verdict([(1, odd)])


def test_numpys_booleans_and_zero_and_one_are_outcomes() -> None:
    plain = replay_design({1: True, 2: False, 3: True}, {1: False})
    numpys: Any = {1: np.True_, 2: np.False_, 3: np.True_}
    whole: Any = {1: 1, 2: 0, 3: 1}
    again: Any = {1: np.False_}
    assert replay_design(numpys, again) == replay_design(whole, again) == plain
    results: list[Any] = [True, np.True_, 1]
    assert len({plain.verdict([(1, failed)]) for failed in results}) == 1
