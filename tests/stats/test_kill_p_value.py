"""p-values of kills: by hand, valid at every true rate, over scenarios and over stages."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from agentmut.stats.kill.characteristics import baseline_weights, chance_of, endings
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, level_for
from agentmut.stats.kill.safety import safety_factor
from agentmut.stats.score.kill_p_value import KillTest, SuiteTest, kill_levels, kill_p_value, least_level

TableOf = Callable[[int, int, KillDesign], KillTable]
TEN = KillDesign(level_for(10))


def test_two_failures_of_two_after_a_baseline_without_failure_by_hand(table_of: TableOf) -> None:
    # chance of two failures in a row: (1/2 3/2)/(51 52) = .0002828, over the factor .78 of that level
    table = table_of(0, 50, TEN)
    assert kill_levels(table).trials[0] == 2
    alone = kill_p_value([KillTest("a", table, killed_at=2)])
    assert alone == pytest.approx(0.75 / (51 * 52) / 0.78)
    ten = [KillTest(f"s{i}", table, killed_at=2 * (i == 3)) for i in range(10)]
    assert kill_p_value(ten) == pytest.approx(10 * alone)


def test_another_scenario_counts_with_the_kills_that_it_could_have_had_at_that_level(
    table_of: TableOf,
) -> None:
    # after four failures in fifty no kill is as unlikely as two of two after none: only its own chance counts
    clean, dirty = table_of(0, 50, TEN), table_of(4, 50, TEN)
    killed = KillTest("a", clean, killed_at=2)
    below = [level for level in kill_levels(dirty).levels if level <= kill_levels(clean).at(2)]
    expected = kill_levels(clean).at(2) + max(below, default=0.0)
    assert kill_p_value([killed, KillTest("b", dirty)]) == pytest.approx(expected)
    assert kill_p_value([killed]) < expected < 2 * kill_levels(clean).at(2)


def test_a_level_is_the_least_that_its_own_safety_factor_allows() -> None:
    for n0 in (20, 50, 100, 500):
        for chance in (1e-9, 1e-5, 0.0002, 0.0039, 0.01, 0.047):
            level = least_level(chance, n0)
            assert chance <= safety_factor(n0, level) * level * (1 + 1e-12)
            smaller = level * (1 - 1e-6)
            assert chance > safety_factor(n0, smaller) * smaller


def test_the_last_kill_of_a_table_has_at_most_its_level(table_of: TableOf) -> None:
    for f0 in (0, 3, 10, 25):
        levels = kill_levels(table_of(f0, 50, TEN)).levels
        assert levels[-1] <= TEN.alpha
        assert list(levels) == sorted(levels)


def test_what_was_not_killed_has_p_value_one_and_an_impossible_kill_is_refused(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    assert kill_p_value([KillTest("a", table)]) == 1.0
    assert kill_p_value([]) == 1.0
    with pytest.raises(ValueError, match=r"killed_at must be one of .* got 1$"):
        kill_p_value([KillTest("a", table, killed_at=1)])
    with pytest.raises(ValueError, match="weight must be in"):
        kill_p_value([KillTest("a", table, 2, weight=0.0)])


def test_an_untestable_baseline_kills_nowhere(table_of: TableOf) -> None:
    assert kill_levels(table_of(50, 50, TEN)).levels == ()


def test_the_suites_own_evidence_adds_its_chance(table_of: TableOf) -> None:
    table = table_of(0, 50, TEN)
    alone = kill_levels(table).at(2)
    killed = KillTest("a", table, killed_at=2)
    assert kill_p_value([killed], SuiteTest(0.025)) == pytest.approx(2 * alone)
    # evidence of 1000 to 1: at level .001 the scenario could have killed at its largest level below that
    suite = SuiteTest(0.025, math.log(1000), killed=True)
    below = kill_levels(table).attained(0.001)
    assert kill_p_value([KillTest("a", table)], suite) == pytest.approx(0.001 + below)


@pytest.mark.parametrize("n0", [20, 50])
def test_at_every_true_rate_a_p_value_is_below_u_with_chance_u_at_most(n0: int, table_of: TableOf) -> None:
    rates = np.array([0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7])
    weights = baseline_weights(n0, rates)
    steps: list[float] = []
    chances: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []
    for f0 in range(n0 + 1):
        table = table_of(f0, n0, KillDesign())
        ends = endings(table).get(Decision.KILLED)
        steps += kill_levels(table).levels
        chances += list(weights[f0] * chance_of(ends, rates))
    order = np.argsort(steps)
    levels, below = np.array(steps)[order], np.cumsum(np.array(chances)[order], axis=0)
    assert (below <= 1.02 * levels[:, None] + 1e-12).all()  # the factors were searched at thirteen levels


def test_a_second_stage_with_a_larger_baseline_stays_valid(table_of: TableOf) -> None:
    # 3,000 unchanged mutants on one scenario at .85: stage one with 20 baseline trials, replayed in stage two with 50
    rng, weights, found = np.random.default_rng(3), (0.4, 0.6), []
    designs = [KillDesign(0.05 * w, 0.1, delta) for w, delta in zip(weights, (0.5, 0.2), strict=True)]
    for _ in range(3000):
        base, trials = rng.random(50) < 0.15, (rng.random(100) < 0.15).tolist()
        tables = [table_of(int(base[:n].sum()), n, d) for n, d in zip((20, 50), designs, strict=True)]
        ended = [table.verdict(trials) for table in tables]
        found.append(
            kill_p_value(
                KillTest("a", table, end.n if end.decision is Decision.KILLED else 0, weight)
                for table, end, weight in zip(tables, ended, weights, strict=True)
            )
        )
    for level in (0.005, 0.01, 0.02, 0.05):
        assert np.mean(np.array(found) <= level) <= level + 3 * math.sqrt(level / 3000)
    assert min(found) < 0.01
