"""The chance of a red CI job: hand calculations, other libraries, and what must never happen."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from agentmut.stats.score.redness import RedChance, TriedScenario, passes_needed, red_chances
from benchmarks.calibration.ci import red_at

CASES = st.lists(
    st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=4
)
RUNS = st.sampled_from([1, 2, 3, 10, 25])


def chance(*counts: tuple[int, int], runs: int = 1, threshold: float = 0.9, level: float = 0.95) -> RedChance:
    return red_chances([TriedScenario(k, n, threshold) for k, n in counts], [runs], level)[0]


@pytest.mark.parametrize("hundredths", [1, 7, 10, 29, 57, 58, 70, 90, 95, 99])
def test_a_rate_exactly_at_the_threshold_is_green(hundredths: int) -> None:
    for runs in range(1, 201):
        assert passes_needed(hundredths / 100, runs) == -(-hundredths * runs // 100)


def test_nine_of_ten_are_enough_for_nine_tenths() -> None:
    # P(Bin(10, .9) >= 9) = .9^10 + 10 * .1 * .9^9 = .34867844 + .38742049
    assert red_at([0.9], 0.9, 10) == pytest.approx(1 - 0.73609893, abs=1e-8)


def test_flaky_scenarios_add_up_to_a_red_job() -> None:
    assert red_at([0.9] * 10, 0.9, 1) == pytest.approx(0.651, abs=5e-4)  # 1 - .9^10
    assert red_at([0.9] * 20, 0.9, 1) == pytest.approx(0.878, abs=5e-4)


def test_each_scenario_has_its_own_rate_and_threshold() -> None:
    # two runs; .9 asks for both: .81; .5 asks for one: 1 - .5^2 = .75; red 1 - .81 * .75
    assert red_at([0.9, 0.5], [0.9, 0.5], 2) == pytest.approx(0.3925)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), RUNS)
def test_known_rates_agree_with_scipy(rates: list[float], runs: int) -> None:
    green = math.prod(binom.sf(math.ceil(8 * runs / 10) - 1, runs, p) for p in rates)
    assert red_at(rates, 0.8, runs) == pytest.approx(1 - green, abs=1e-9)


def test_the_estimate_draws_the_stored_trials_half_without_replacement_at_half_their_number() -> None:
    # three of four passed, two runs are drawn, both must pass. Without replacement C(3,2)/C(4,2) = 1/2, with it
    # 9/16, each with weight 1/2: 17/32 green. Two such scenarios: 1 - (17/32)^2
    assert chance((3, 4), runs=2).interval.estimate == pytest.approx(15 / 32)
    assert chance((3, 4), (3, 4), runs=2).interval.estimate == pytest.approx(1 - (17 / 32) ** 2)
    # one pass is enough, and only one trial failed: without replacement never red, with it 1/16
    assert chance((3, 4), runs=2, threshold=0.5).interval.estimate == pytest.approx(1 / 32)


def test_a_quarter_of_the_trials_is_drawn_with_replacement_for_a_quarter() -> None:
    # six of eight, both of two: 15/28 and 9/16, by 3/4 and 1/4
    assert chance((6, 8), runs=2).interval.estimate == pytest.approx(1 - (3 * 15 / 28 + 9 / 16) / 4)


def test_as_many_runs_as_trials_do_not_turn_the_threshold_into_a_certainty() -> None:
    # exactly at the threshold: P(Bin(50, .9) < 45) = .3839 at the true rate; without replacement it would be 0
    found = {runs: chance((45, 50), runs=runs).interval.estimate for runs in (40, 50, 60)}
    assert found[50] == pytest.approx(binom.cdf(44, 50, 0.9), abs=1e-9)
    assert found[40] == pytest.approx(0.37, abs=0.06)
    assert found[60] == pytest.approx(binom.cdf(53, 60, 0.9), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_estimate_moves_little_from_one_number_of_runs_to_the_next_near_the_trials_stored(
    counts: tuple[int, int],
) -> None:
    # all of them must pass, so that no rounding of threshold * runs comes in between
    n = counts[1]
    greens = [1 - (chance(counts, runs=r, threshold=0.999).interval.estimate or 0) for r in (n - 1, n, n + 1)]
    assert greens[1] == pytest.approx((counts[0] / n) ** n, abs=1e-9)
    assert max(greens) - min(greens) <= 0.25  # most at rate 2/3: (2/3)^2 - (2/3)^4


def test_fewer_trials_than_runs_are_drawn_with_replacement() -> None:
    # one of two passed, three runs, two must pass: P(Bin(3, 1/2) >= 2) = 1/2
    assert chance((1, 2), runs=3, threshold=0.6).interval.estimate == pytest.approx(0.5)


def test_one_scenario_run_once_has_the_bounds_of_clopper_and_pearson() -> None:
    for passes, trials, level in ((45, 50, 0.95), (0, 7, 0.95), (7, 7, 0.9), (3, 11, 0.8)):
        exact = binomtest(passes, trials).proportion_ci(level, method="exact")
        found = chance((passes, trials), level=level).interval
        assert (found.low, found.high) == pytest.approx((1 - exact.high, 1 - exact.low), abs=2e-4)


def test_scenarios_that_never_failed_are_bounded_by_all_their_trials_together() -> None:
    # 500 of 500 at error .025/2: q <= 1 - .0125^(1/500) = .0087255 on average, ten times that in sum
    found = chance(*[(50, 50)] * 10).interval
    assert (found.estimate, found.low) == (0, 0)
    assert found.high == pytest.approx(0.087255, abs=1e-5)


def test_the_lower_end_of_two_scenarios_comes_out_by_hand() -> None:
    # 0 of 3 and 3 of 3, error .0125 for each of the two bounds. Jointly: u = 1 - (1 - sqrt(.9875))^(1/3) = .8156,
    # red >= .1844. On average: (1 - .0125^(1/3) + 1)/2 = .88396, squared .78139: red >= .21861, the larger
    assert chance((0, 3), (3, 3)).interval.low == pytest.approx(0.21861, abs=2e-4)


def test_one_bad_scenario_among_many_is_not_averaged_away() -> None:
    # jointly: 0 of 20 has u = 1 - (1 - .9875^(1/30))^(1/20) = .322, red >= .67; the mean rate alone gives .59
    assert chance((0, 20), *[(20, 20)] * 29).interval.low == pytest.approx(0.678, abs=2e-3)


@settings(max_examples=80, deadline=None)
@given(CASES, RUNS, st.data())
def test_fewer_passes_never_make_red_less_likely(
    counts: list[tuple[int, int]], runs: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(counts) - 1))
    passes, trials = counts[place]
    worse = [*counts[:place], (data.draw(st.integers(0, passes)), trials), *counts[place + 1 :]]
    below, above = chance(*counts, runs=runs).interval, chance(*worse, runs=runs).interval
    for name in ("estimate", "low", "high"):
        assert getattr(above, name) >= getattr(below, name) - 1e-12


@settings(max_examples=80, deadline=None)
@given(CASES, RUNS, st.sampled_from([(0.1, 0.2), (0.5, 0.9), (0.9, 0.95), (0.89, 0.9)]), st.data())
def test_a_higher_threshold_never_makes_red_less_likely(
    counts: list[tuple[int, int]], runs: int, thresholds: tuple[float, float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(counts) - 1))
    low, high = (
        [TriedScenario(k, n, threshold if i == place else 0.5) for i, (k, n) in enumerate(counts)]
        for threshold in thresholds
    )
    below, above = red_chances(low, [runs])[0].interval, red_chances(high, [runs])[0].interval
    for name in ("estimate", "low", "high"):
        assert getattr(above, name) >= getattr(below, name) - 1e-12


@settings(max_examples=80, deadline=None)
@given(CASES, RUNS)
def test_the_estimate_lies_within_bounds_that_the_order_of_scenarios_hardly_moves(
    counts: list[tuple[int, int]], runs: int
) -> None:
    found, turned = chance(*counts, runs=runs).interval, chance(*counts[::-1], runs=runs).interval
    assert found.estimate is not None
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert turned.estimate == pytest.approx(found.estimate, abs=1e-12)
    assert (turned.low, turned.high) == pytest.approx((found.low, found.high), abs=0.05)


def test_an_untried_mutant_is_no_better_than_the_original_and_may_be_anything_worse() -> None:
    tried = [TriedScenario(45, 50, 0.9), TriedScenario(48, 50, 0.9)]
    (known,) = red_chances(tried, [1])
    (untried,) = red_chances([tried[0], TriedScenario(0, 0, 0.9, no_better_than=(48, 50))], [1])
    assert untried.interval.high == 1
    assert untried.interval[:2] == known.interval[:2]  # estimate and lower end


def test_trials_of_the_original_count_with_those_of_a_mutant_without_a_drop() -> None:
    # 10 of 11 and 48 of 50: 58 of 61 pass
    (both,) = red_chances([TriedScenario(10, 11, 0.9, no_better_than=(48, 50))], [1])
    assert both.interval.estimate == pytest.approx(3 / 61)
    assert both.interval.low == chance((58, 61)).interval.low
    assert both.interval.high == chance((10, 11)).interval.high
    assert both.interval.n == 61


def test_survivors_of_ten_scenarios_are_red_as_often_as_they_are() -> None:
    # unchanged mutants at .95 with 11 trials a scenario, 50 of the original: red .401 of the time
    rng, found = np.random.default_rng(4), []
    for _ in range(300):
        original, own = rng.binomial(50, 0.95, 10).tolist(), rng.binomial(11, 0.95, 10).tolist()
        tried = [
            TriedScenario(k, 11, 0.9, no_better_than=(k0, 50)) for k, k0 in zip(own, original, strict=True)
        ]
        found.append(red_chances(tried, [1])[0].interval.estimate or 0.0)
    # standard error .003; the lower of two: .47
    assert np.mean(found) == pytest.approx(1 - 0.95**10, abs=0.01)


def test_a_scenario_without_trials_leaves_no_estimate_and_counts_for_nothing_below() -> None:
    found = chance((0, 0), (10, 20)).interval
    assert (found.estimate, found.high) == (None, 1)
    assert 0.2 < found.low <= chance((10, 20)).interval.low
    assert chance((0, 0)).interval[:3] == (None, 0, 1)


def test_every_number_of_runs_gets_its_chance_and_prints_it() -> None:
    once, often = red_chances([TriedScenario(45, 50, 0.9)], [1, 10])
    assert (once.runs, often.runs) == (1, 10)
    assert str(often).startswith("each scenario run 10 times: 0.2")
    assert str(once) == "each scenario run once: 0.100 [0.033, 0.218] (95% melded Clopper-Pearson, n=50)"


@pytest.mark.parametrize(
    ("tried", "runs", "level", "message"),
    [
        ([], [1], 0.95, "scenarios must name at least one scenario"),
        ([(5, 4, 0.9)], [1], 0.95, "passes must be a whole number of at least 0 and at most 4, got 5"),
        ([(1, 2.5, 0.9)], [1], 0.95, "trials must be a whole number"),
        (
            [(0, 0, 0.9, (3, 2))],
            [1],
            0.95,
            "passes must be a whole number of at least 0 and at most 2, got 3",
        ),
        ([(1, 2, 1.0)], [1], 0.95, r"threshold must be in \(0, 1\), got 1.0"),
        ([(1, 2, math.nan)], [1], 0.95, "threshold must be in"),
        ([(1, 2, 0.9)], [0], 0.95, "runs must be a whole number of at least 1, got 0"),
        ([(1, 2, 0.9)], [2.5], 0.95, "runs must be a whole number"),
        ([(1, 2, 0.9)], [1], 95, r"level must be in \(0, 1\), got 95"),
    ],
)
def test_bad_input_is_named_with_its_range(tried: Any, runs: Any, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        red_chances([TriedScenario(*counts) for counts in tried], runs, level)


@pytest.mark.parametrize(
    ("rates", "thresholds", "message"),
    [
        ([], 0.9, "rates must name at least one scenario, got none"),
        ([1.1], 0.9, r"rates must be in \[0, 1\], got 1.1"),
        ([math.nan], 0.9, "rates must be in"),
        ([0.5, 0.5, 0.5], [0.9, 0.8], "thresholds must be one or 3, one for each rate, got 2"),
        ([0.5], 0, r"threshold must be in \(0, 1\)"),
    ],
)
def test_bad_rates_are_named_with_their_range(rates: Any, thresholds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        red_at(rates, thresholds, 1)
