"""Previews: chances and costs before anything is spent."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.kill.rule import KillDesign, KillTable
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.verdicts.preview import (
    Preview,
    preview_fixed,
    preview_regression,
    preview_sprt,
    preview_suite,
)

TableOf = Callable[[int, int, KillDesign], KillTable]


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9, 1.0])
def test_six_trials_against_one_half_decide_only_when_all_agree(rate: float) -> None:
    # .5^6 = .0156 <= .025 < 7 * .5^6
    found = preview_fixed(rate, 6, 0.5, cost_per_trial=0.5)
    assert (found.passed, found.failed) == pytest.approx((rate**6, (1 - rate) ** 6))
    assert (found.trials, found.cost) == (6, 3)
    assert sum(found[:3]) == pytest.approx(1)


def test_no_trials_are_certain_to_be_inconclusive() -> None:
    assert preview_fixed(0.9, 0, 0.85)[:5] == (0, 0, 1, 0, None)


def test_wilson_is_previewed_as_wilson_decides() -> None:
    # one trial, which fails in 15 % of the cases, is a FAIL against .85
    assert preview_fixed(0.85, 1, 0.85, method="wilson").failed == pytest.approx(0.15)
    assert preview_fixed(0.85, 1, 0.85).failed == 0


def test_a_sequential_preview_of_a_threshold_of_one_by_hand() -> None:
    # sixteen passes or the first failure end it (see the characteristics)
    found = preview_sprt(0.95, SprtDesign(1.0, 0.1, 0.05, 0.2, None), cost_per_trial=2.0)
    mean = (1 - 0.95**16) / 0.05
    assert found[:5] == pytest.approx((0.95**16, 1 - 0.95**16, 0, mean, 2 * mean))


def test_a_baseline_that_always_fails_costs_nothing_and_says_nothing(table_of: TableOf) -> None:
    found = preview_regression(0.0, 0.2, 20, cost_per_trial=1.0, table_of=table_of)
    assert found[:5] == pytest.approx((0, 0, 1, 0, 0))


def test_a_regression_fails_more_often_than_no_change(table_of: TableOf) -> None:
    design = KillDesign(n_max=40)
    same, worse = (preview_regression(0.9, drop, 20, design, table_of=table_of) for drop in (0.0, 0.4))
    assert same.failed < 0.06 < 0.9 < worse.failed
    assert worse.passed < 0.05 < 0.5 < same.passed
    for found in (same, worse):
        assert sum(found[:3]) == pytest.approx(1, abs=1e-6)
        assert 0 < found.trials <= 40
        assert found.cost is None


def test_a_suite_passes_if_all_pass_and_fails_if_any_fails() -> None:
    one, other = Preview(0.9, 0.04, 0.06, 10, 1.0, "a"), Preview(0.8, 0.1, 0.1, 20, 4.0, "b")
    found = preview_suite({"one": one, "other": other})
    # .9 * .8; 1 - .96 * .9
    assert found[:5] == pytest.approx((0.72, 0.136, 0.144, 30, 5.0))
    assert found.method == "suite of 2"


def test_a_suite_of_one_is_its_scenario() -> None:
    alone = Preview(0.9, 0.04, 0.06, 10, 1.0, "a")
    assert preview_suite({"only": alone})[:5] == pytest.approx(alone[:5])


def test_the_cost_of_a_suite_is_unknown_if_one_is() -> None:
    known = Preview(1, 0, 0, 10, 1.0, "a")
    assert preview_suite({"a": known, "b": known._replace(cost=None)}).cost is None


def test_an_empty_suite_is_refused() -> None:
    with pytest.raises(ValueError, match="scenarios must name at least one scenario, got none"):
        preview_suite({})


def test_a_preview_prints_chances_trials_and_cost() -> None:
    found = preview_fixed(1.0, 50, 0.85)
    assert str(found) == (
        "PASS 1.000, FAIL 0.000, INCONCLUSIVE 0.000; 50.0 trials (clopper-pearson, n=50, threshold 0.85)"
    )
    assert "50.0 trials, cost 5 (" in str(preview_fixed(1.0, 50, 0.85, cost_per_trial=0.1))


@pytest.mark.parametrize("cost", [-1.0, math.inf, math.nan])
def test_a_cost_that_is_none_is_refused(cost: float) -> None:
    with pytest.raises(ValueError, match="cost_per_trial must be at least 0 and finite"):
        preview_sprt(0.9, SprtDesign(0.9), cost)


@pytest.mark.parametrize("rate", [-0.1, 1.5, math.nan])
@pytest.mark.parametrize(
    "preview",
    [
        lambda rate: preview_fixed(rate, 10, 0.9),
        lambda rate: preview_sprt(rate, SprtDesign(0.9)),
        lambda rate: preview_regression(rate, 0.1, 20),
    ],
)
def test_a_rate_that_is_none_is_refused(preview: Callable[[Any], Preview], rate: float) -> None:
    with pytest.raises(ValueError, match=r"rate must be in \[0, 1\]"):
        preview(rate)


def test_a_member_of_a_family_fails_at_its_share_and_passes_at_the_whole_level() -> None:
    alone, one_of_ten = (preview_fixed(0.9, 60, 0.9, 0.05, family=m) for m in (1, 10))
    assert one_of_ten.passed == alone.passed
    assert one_of_ten.failed == preview_fixed(0.9, 60, 0.9, 0.005).failed < alone.failed


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 80), st.sampled_from([0.5, 0.9, 1.0]))
def test_chances_sum_to_one_and_a_better_agent_passes_more_often(
    rate: float, other: float, n: int, threshold: float
) -> None:
    worse, better = (preview_fixed(p, n, threshold) for p in sorted((rate, other)))
    assert better.passed >= worse.passed - 1e-12
    assert better.failed <= worse.failed + 1e-12
    for found in (worse, better):
        assert found.passed + found.failed + found.inconclusive == pytest.approx(1)


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_the_same_holds_for_a_sequential_preview(rate: float, other: float) -> None:
    worse, better = (preview_sprt(p, SprtDesign(0.9, n_max=40)) for p in sorted((rate, other)))
    assert better.passed >= worse.passed - 1e-9
    assert better.passed + better.failed + better.inconclusive == pytest.approx(1)
