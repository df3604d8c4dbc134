"""Drift charts: the updates by hand, the exact run lengths against another solution and against simulation."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentmut.stats.sequential.drift import (
    Cusum,
    DriftState,
    PageHinkley,
    page_hinkley,
    reference_rate,
)
from agentmut.stats.sequential.run_length import (
    RunLength,
    alarm_chance,
    average_run_length,
    cusum_for,
    page_hinkley_for,
    page_hinkley_run_length,
    simulated_run_length,
)
from benchmarks.calibration.reliability import cusum_runs, failures
from tests.processor import processor_time

charts = st.builds(Cusum, st.integers(1, 9), st.integers(1, 9), st.integers(1, 25))
rates = st.floats(0.05, 0.95)


def run(chart: Cusum, outcomes: str) -> DriftState:
    state = DriftState()
    for outcome in outcomes:
        state = chart.update(state, outcome == "P")
    return state


def test_a_cusum_climbs_on_failures_sinks_on_passes_and_never_below_zero() -> None:
    chart = Cusum(3, 1, 6)
    levels = [run(chart, "PFPPFF"[:n]).level for n in range(1, 7)]
    assert levels == [0, 3, 2, 1, 4, 7]
    assert run(chart, "PFPPF") == DriftState(5, 4, 2, None)


def test_an_alarm_names_its_trial_and_stays() -> None:
    state = run(Cusum(3, 1, 6), "FFPPPPPPP")
    assert (state.alarm, state.alarm_at, state.level) == (True, 2, 0)
    assert not run(Cusum(3, 1, 7), "FF").alarm


def test_page_hinkley_is_the_sum_less_its_least_value() -> None:
    values, total, sums = [0.3, -1.0, 2.0, 0.7, 1.1], 0.0, [0.0]
    chart = page_hinkley(0.1, 100)
    state = DriftState()
    for trial, value in enumerate(values, start=1):
        total += value
        sums.append(sums[-1] + value - total / trial - 0.1)
        state = chart.update(state, value)
        assert state.level == pytest.approx(sums[-1] - min(sums))


def test_page_hinkley_alarms_above_its_threshold_not_at_it() -> None:
    # mean 0, tolerance 0: three values of 0.1 sum to 0.30000000000000004 in floats, and 0.3 is not above 0.3
    chart, state = page_hinkley(0.0, 0.3, mean=0.0), DriftState()
    for _ in range(3):
        state = chart.update(state, 0.1)
    assert not state.alarm
    assert chart.update(state, 0.1).alarm_at == 4


@given(st.lists(st.booleans(), max_size=60))
def test_page_hinkley_with_a_known_mean_is_a_cusum(passed: list[bool]) -> None:
    chart = page_hinkley(0.05, 1.3, mean=0.1)
    walk = chart.as_cusum()
    assert (walk.up, walk.down, walk.threshold) == (17, 3, 27)  # reference 3/20; more than 1.3 * 20 = 26
    real, whole = DriftState(), DriftState()
    for one in passed:
        real, whole = chart.update(real, float(not one)), walk.update(whole, one)
        assert real.level * 20 == pytest.approx(whole.level, abs=1e-6)
        assert real.alarm_at == whole.alarm_at


def dense_run_length(chart: Cusum, pass_rate: float) -> float:
    """The chain written out in full, every transition by `update`."""
    moves: NDArray[np.float64] = np.zeros((chart.threshold, chart.threshold))
    for level, (passed, chance) in product(
        range(chart.threshold), ((True, pass_rate), (False, 1 - pass_rate))
    ):
        after = chart.update(DriftState(1, level), passed)
        if not after.alarm:
            moves[level, int(after.level)] += chance
    return float(np.linalg.solve(np.eye(chart.threshold) - moves, np.ones(chart.threshold))[0])


@given(charts, rates)
def test_the_banded_run_length_is_that_of_the_whole_chain(chart: Cusum, pass_rate: float) -> None:
    expected = dense_run_length(chart, pass_rate)
    if 1 <= expected < 1e8:  # beyond, the dense solution has no digits left, nor always its sign
        assert average_run_length(chart, pass_rate) == pytest.approx(expected, rel=1e-6)


def test_run_lengths_by_hand() -> None:
    # one failure alarms: geometric, 1/q. Two failures in a row alarm (a pass takes the level back to 0):
    # (1 + q)/q^2 = 1.2/0.04 = 30
    assert average_run_length(Cusum(1, 1, 1), 0.8) == pytest.approx(5)
    assert average_run_length(Cusum(1, 1, 2), 0.8) == pytest.approx(30)
    assert average_run_length(Cusum(2, 3, 7), 0.0) == 4
    assert average_run_length(Cusum(2, 3, 7), 1.0) == math.inf
    assert average_run_length(Cusum(1, 9, 300), 0.9) == math.inf


@given(charts, rates, st.integers(0, 7))
@settings(max_examples=50)
def test_the_chance_of_an_alarm_is_the_sum_over_all_sequences(
    chart: Cusum, pass_rate: float, horizon: int
) -> None:
    chance = 0.0
    for outcomes in product("PF", repeat=horizon):
        if run(chart, "".join(outcomes)).alarm:
            passes = outcomes.count("P")
            chance += pass_rate**passes * (1 - pass_rate) ** (horizon - passes)
    assert alarm_chance(chart, pass_rate, horizon) == pytest.approx(chance, abs=1e-12)


def test_the_run_length_is_the_sum_of_the_chances_of_no_alarm_yet() -> None:
    chart = Cusum(7, 3, 20)
    quiet = sum(1 - alarm_chance(chart, 0.6, n) for n in range(400))
    assert average_run_length(chart, 0.6) == pytest.approx(quiet, rel=1e-6)


@pytest.mark.parametrize(("pass_rate", "drop"), [(0.9, 0.2), (0.99, 0.05), (0.5, 0.3), (0.8, 0.79)])
def test_a_plan_has_the_least_threshold_for_its_run_length(pass_rate: float, drop: float) -> None:
    plan = cusum_for(pass_rate, drop, 300)
    lower = plan.chart._replace(threshold=plan.chart.threshold - 1)
    assert plan.in_control >= 300
    assert plan.chart.threshold == 1 or average_run_length(lower, pass_rate) < 300
    assert plan.after_drop < plan.in_control / 3
    assert 1 - pass_rate < plan.chart.reference < 1 - pass_rate + drop


@pytest.mark.parametrize(("pass_rate", "tolerance"), [(0.9, 0.1), (0.97, 0.03), (0.5, 0.15)])
def test_a_page_hinkley_plan_has_the_least_threshold_too(pass_rate: float, tolerance: float) -> None:
    chart = page_hinkley_for(pass_rate, tolerance, 300)
    walk = chart.as_cusum()
    lower = average_run_length(walk._replace(threshold=walk.threshold - 1), pass_rate)
    assert lower < 300 <= page_hinkley_run_length(chart, pass_rate)
    assert walk.reference == pytest.approx(1 - pass_rate + tolerance)


def test_simulated_runs_are_as_long_as_promised() -> None:
    plan = cusum_for(0.9, 0.2, 100)
    rng = np.random.default_rng(7)
    for rate, exact in ((0.9, plan.in_control), (0.7, plan.after_drop)):
        lengths = cusum_runs(plan.chart, rate, 4000, rng)
        assert lengths.mean() == pytest.approx(exact, abs=4 * lengths.std() / math.sqrt(4000))


def test_the_reference_lies_where_the_two_rates_are_equally_likely() -> None:
    # p = .9, p' = .7: log(.9/.7)/(log(.9/.7) + log(.3/.1)) = .25131/1.34992 = .18617; 3/16 = .1875 is within .004
    assert float(reference_rate(0.9, 0.2)) == pytest.approx(0.18617, abs=0.004)
    assert Cusum(13, 3, 40).reference == reference_rate(0.9, 0.2) == 3 / 16


def test_a_simulated_page_hinkley_agrees_with_the_exact_one() -> None:
    chart = page_hinkley(0.05, 1.5, mean=0.1)
    found = simulated_run_length(chart, failures(0.1), np.random.default_rng(3), runs=3000)
    assert found.silent == 0
    assert found.mean == pytest.approx(page_hinkley_run_length(chart, 0.9), abs=4 * found.error)


def test_a_simulation_follows_the_updates() -> None:
    # rising values, the same in every run: the alarm comes where `update` says
    chart, state = page_hinkley(0.1, 2.0), DriftState()
    while not state.alarm:
        state = chart.update(state, float(state.trials))
    trials = iter(range(1000))
    found = simulated_run_length(
        chart, lambda _, size: np.full(size, float(next(trials))), np.random.default_rng(1), runs=2
    )
    assert (found.mean, found.error) == (state.alarm_at, 0)


def test_a_run_cut_short_is_said_to_be() -> None:
    chart = page_hinkley(0.05, 50)
    found = simulated_run_length(chart, failures(0.1), np.random.default_rng(1), runs=20, horizon=30)
    assert found == RunLength(30.0, 0.0, 1.0, 20, 30)
    assert str(found) == "at least 30.0 ± 0.0 trials (simulated, 20 runs, 100% without alarm in 30 trials)"


def test_after_a_change_the_run_is_counted_from_there() -> None:
    chart = page_hinkley(0.05, 5)
    rng = np.random.default_rng(1)
    found = simulated_run_length(chart, failures(0.1), rng, runs=500, after=failures(0.5), change=200)
    # each trial adds about .5 - .12 - .05 to a gap of 5: some 15 trials, whatever happened before
    assert 8 < found.mean < 22
    assert found.runs > 400


def untyped(function: Any) -> Any:
    """The function for a call that a type checker refuses."""
    return function


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference_rate(1.0, 0.2), r"pass_rate must be in \(0, 1\), got 1.0"),
        (lambda: reference_rate(0.9, 0.9), r"drop must be in \(0.001, 0.9\), got 0.9"),
        (lambda: reference_rate(0.9, 0.0), "drop must be in"),
        (lambda: reference_rate(0.9, math.nan), "drop must be in"),
        (lambda: cusum_for(0.9, 0.2, 0.5), r"in_control must be in \[1, 1e9\] trials, got 0.5"),
        (lambda: cusum_for(0.9, 0.2, math.nan), "in_control must be in"),
        (lambda: page_hinkley_for(0.9, 0.9), r"tolerance must be in \(0, 0.9\), got 0.9"),
        (lambda: page_hinkley_for(1.0, 0.1), r"pass_rate must be in \(0, 1\), got 1.0"),
        (lambda: page_hinkley_for(0.9, 0.1, 0), r"in_control must be in \[1, 1e9\] trials, got 0"),
        (lambda: average_run_length(Cusum(1, 0, 3), 0.9), "down must be a whole number of at least 1, got 0"),
        (
            lambda: average_run_length(Cusum(1, 1, 30_000), 0.9),
            "threshold must be .* at most 20000, got 30000",
        ),
        (lambda: average_run_length(Cusum(1, 1, 3), 1.1), r"pass_rate must be in \[0, 1\], got 1.1"),
        (lambda: alarm_chance(Cusum(1, 1, 3), 0.9, -1), "horizon must be a whole number of at least 0"),
        (lambda: page_hinkley(-0.1, 3, 0.1), "tolerance must be at least 0"),
        (
            lambda: page_hinkley(0.0, 3),
            "tolerance must be at least 0, and more without a known mean, got 0.0",
        ),
        (lambda: page_hinkley(0.1, 0), "threshold must be more than 0, got 0.0"),
        (lambda: page_hinkley(0.1, 3, math.nan), "mean must be a finite number, got nan"),
        (lambda: page_hinkley(0.1, 3).as_cusum(), "mean must be given"),
        (lambda: page_hinkley(0.1, 3, 0.95).as_cusum(), r"mean \+ tolerance must be in \(0, 1\)"),
        (
            lambda: page_hinkley(0.1, 3).update(DriftState(), math.inf),
            "value must be a finite number, got inf",
        ),
        (
            lambda: untyped(Cusum(1, 1, 3).update)(DriftState(), "fail"),
            "passed must be True or False, got 'fail'",
        ),
        (
            lambda: simulated_run_length(
                PageHinkley(0.1, 3), failures(0.1), np.random.default_rng(1), runs=1
            ),
            "runs must be a whole number of at least 2, got 1",
        ),
    ],
)
def test_bad_parameters_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("pass_rate", "drop", "in_control"), [(0.9, 1e-4, 500), (0.5, 0.002, 1e9)])
def test_a_chart_that_would_take_minutes_to_plan_is_refused_at_once(
    pass_rate: float, drop: float, in_control: float
) -> None:
    with processor_time() as used, pytest.raises(ValueError, match="drop"):
        cusum_for(pass_rate, drop, in_control)
    assert used.seconds < 8


def test_a_small_drop_is_planned_for_within_seconds() -> None:
    with processor_time() as used:
        assert cusum_for(0.9, 0.002, 500).in_control >= 500
    assert used.seconds < 8


@pytest.mark.parametrize("draw", [math.nan, math.inf, 1e300])
def test_draws_that_are_no_numbers_are_refused(draw: float) -> None:
    chart = page_hinkley(0.1, 2.0, 0.0)
    with pytest.raises(ValueError, match="draws must give 5 numbers"):
        simulated_run_length(chart, lambda _, n: np.full(n, draw), np.random.default_rng(1), runs=5)


@pytest.mark.parametrize("size", [1, 6])
def test_draws_of_another_size_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=rf"draws must give 5 numbers .* got shape \({size},\)"):
        simulated_run_length(
            page_hinkley(0.1, 2.0), lambda _, n: np.zeros(size), np.random.default_rng(1), runs=5
        )


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        (PageHinkley(0.1, 2.0, math.nan), [1.0]),
        (PageHinkley(math.nan, 2.0), [1.0]),
        (PageHinkley(0.1, math.nan), [1.0]),
        (PageHinkley(0.1, 2.0), [1e308, 1e308]),
        (PageHinkley(0.1, 2.0, -1e308), [1e308]),
    ],
)
def test_page_hinkley_never_goes_on_without_a_number(chart: PageHinkley, values: list[float]) -> None:
    state = DriftState()
    with pytest.raises(ValueError, match="must be a finite number"):
        for value in values:
            state = chart.update(state, value)
