"""Judge corrections by hand, their degenerate cases, and coverage of the table sums used in the calibration."""

import math
from collections.abc import Callable
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut.stats.intervals.proportion import Interval, wilson
from agentmut.stats.reliability.judge_labels import (
    Labels,
    labels,
    rectified,
    rectified_bounds,
    transferred,
)
from benchmarks.calibration.reliability import coverage

counts = st.integers(0, 30)
tables = st.builds(Labels, counts, counts, counts, counts, st.integers(0, 400), st.integers(0, 400))
Z95 = 1.959963984540054
Correction = Callable[[Labels, float], Interval]


def rogan_gladen(table: Labels, level: float = 0.95) -> Interval:
    """The correction by sensitivity and specificity, of the trials that the labels are from."""
    return transferred(table.judge_pass, sum(table), table, level)


CORRECTIONS: tuple[Correction, ...] = (rectified, rogan_gladen)


def test_trials_are_counted_by_both_labels() -> None:
    judge = [True, True, False, False, True, False, True]
    human = [True, False, True, False, None, None, True]
    assert labels(judge, human) == Labels(2, 1, 1, 1, 1, 1)
    assert labels(judge, human).labelled == 5
    assert labels(judge, human).judge_pass == 4


def test_the_rectified_estimate_adds_the_mean_correction() -> None:
    # the judge passes 795 of 1000; of 50 it wrongly passes 5 and wrongly fails 1: .795 - 4/50 = .715
    found = rectified(Labels(40, 5, 1, 4, 750, 200))
    assert found.estimate == pytest.approx(0.715)
    assert found.n == 1000
    assert found.method == "rectified, 50 human labels"


def test_the_rectified_variance_is_that_of_its_two_parts() -> None:
    # labelled values human - judge + f judge with f = 1/4, one more disagreement of each kind (z^2/4 < 1):
    # 6 of 1/4, 3 of -3/4, 2 of 1, 1 of 0 (12 in all); all trials: judge passes (8 + 22 + 1)/(40 + 2) = 31/42
    values = np.array([0.25] * 6 + [-0.75] * 3 + [1.0] * 2 + [0.0])
    rate = 31 / 42
    half = Z95 * math.sqrt(values.var() / 12 + 0.75 * rate * (1 - rate) / 40)
    centre = rate + (2 - 3) / 12
    found = rectified(Labels(6, 2, 1, 1, 22, 8))
    assert (found.low, found.high) == pytest.approx((max(0, centre - half), min(1, centre + half)))


def test_the_rogan_gladen_estimate_by_hand() -> None:
    # sensitivity 40/50 = .8, specificity 45/50 = .9, apparent 45 + 355 = 400 of 1000: (.4 - .1)/.7 = 3/7
    assert rogan_gladen(Labels(40, 5, 10, 45, 355, 545)).estimate == pytest.approx(3 / 7)


def test_the_lang_reiczigel_interval_by_hand() -> None:
    # z = 1.959964, z^2 = 3.841459. sens 41/52, spec 46/52, rate (400 + 1.920729)/1003.841459 = .4003827
    # youden .6730769; p = (.4003827 - .1153846)/.6730769 = .4234257
    # terms: sens .7884615 * .2115385/52 = .00320750, spec .8846154 * .1153846/52 = .00196290
    # centre p + 7.682918 (p * .00320750 - (1-p) * .00196290) = .4234257 + .0017392 = .4251649
    # variance (.2400764/1003.841459 + .00057507 + .00065253)/.4530325 = .00323762; half .1115211
    found = rogan_gladen(Labels(40, 5, 10, 45, 355, 545))
    assert (found.low, found.high) == pytest.approx((0.31364, 0.53669), abs=2e-5)


@given(tables, st.sampled_from([0.8, 0.95, 0.99]), st.sampled_from(CORRECTIONS))
def test_an_interval_holds_its_estimate_and_stays_in_the_unit_interval(
    table: Labels, level: float, correction: Correction
) -> None:
    found = correction(table, level)
    assert 0 <= found.low <= found.high <= 1
    assert found.estimate is None or found.low <= found.estimate <= found.high
    assert (found.n, found.level) == (sum(table), level)


@given(tables, st.sampled_from(CORRECTIONS))
def test_passing_and_failing_are_treated_alike(table: Labels, correction: Correction) -> None:
    both_pass, judge_only, human_only, both_fail, rest_pass, rest_fail = table
    mirrored = Labels(both_fail, human_only, judge_only, both_pass, rest_fail, rest_pass)
    found, other = (correction(t, 0.95) for t in (table, mirrored))
    assert (found.low, found.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


def test_where_all_trials_are_labelled_only_the_human_counts() -> None:
    agreed, fooled = rectified(Labels(30, 0, 0, 20, 0, 0)), rectified(Labels(20, 15, 10, 5, 0, 0))
    assert agreed.estimate == pytest.approx(fooled.estimate) == 0.6
    assert (agreed.low, agreed.high) == pytest.approx((fooled.low, fooled.high), abs=0.002)
    assert (agreed.low, agreed.high) == pytest.approx((wilson(30, 50).low, wilson(30, 50).high), abs=0.01)


def test_a_perfect_judge_is_believed_but_not_beyond_what_the_labels_show() -> None:
    table = Labels(40, 0, 0, 10, 760, 190)
    assert rectified(table).estimate == rogan_gladen(table).estimate == pytest.approx(0.8)
    # 50 labels without a disagreement leave some 3/50 possible; wilson(800, 1000) is .775 to .824
    assert rectified(table).low < wilson(800, 1000).low
    assert rectified(table).high > wilson(800, 1000).high


@pytest.mark.parametrize("table", [Labels(10, 10, 10, 10, 50, 50), Labels(2, 18, 18, 2, 50, 50)])
def test_a_useless_judge_leaves_rogan_gladen_without_an_estimate(table: Labels) -> None:
    found = rogan_gladen(table)
    assert (found.estimate, found.low, found.high) == (None, 0.0, 1.0)
    assert rectified(table).estimate == pytest.approx(0.5)


@pytest.mark.parametrize("table", [Labels(20, 0, 5, 0, 50, 9), Labels(0, 4, 0, 20, 50, 9)])
def test_labels_of_one_kind_leave_rogan_gladen_without_an_estimate(table: Labels) -> None:
    assert rogan_gladen(table).estimate is None
    assert rectified(table).estimate is not None


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("table", [Labels(0, 0, 0, 0, 70, 30), Labels(0, 0, 0, 0, 0, 0)])
def test_without_human_labels_nothing_is_estimated(table: Labels, correction: Correction) -> None:
    found = correction(table, 0.95)
    assert (found.estimate, found.low, found.high) == (None, 0.0, 1.0)


def test_estimates_beyond_the_ends_are_clipped() -> None:
    # rectified .1 - 9/20 < 0; Rogan-Gladen (2/100 + 9/10 - 1)/(9/10 + 9/10 - 1) = -.1
    assert rectified(Labels(1, 9, 0, 10, 0, 80)).estimate == 0
    assert rogan_gladen(Labels(9, 1, 1, 9, 0, 180)).estimate == 0


def test_the_judges_own_rates_come_with_intervals() -> None:
    table = Labels(40, 5, 10, 45, 0, 0)
    assert table.sensitivity() == wilson(40, 50)
    assert table.specificity(0.9) == wilson(45, 50, 0.9)


def test_the_exact_coverage_is_the_sum_over_all_outcomes() -> None:
    # 3 labels of 5 trials: 4^3 labelled sequences, 2^2 others, each judged through the public function
    p, sens, spec = 0.7, 0.8, 0.6
    cells = (p * sens, (1 - p) * (1 - spec), p * (1 - sens), (1 - p) * spec)
    passes = cells[0] + cells[1]
    expected = 0.0
    for seen, rest in product(product(range(4), repeat=3), product((0, 1), repeat=2)):
        chance = math.prod(cells[i] for i in seen) * math.prod(passes if r else 1 - passes for r in rest)
        kinds = [seen.count(i) for i in range(4)] + [sum(rest), 2 - sum(rest)]
        table = Labels(*kinds)
        found = rectified(table)
        expected += chance * (found.low <= p <= found.high)
    assert coverage(rectified_bounds, 3, p, sens, spec, total=5) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("level", "total", "least"), [(0.8, 1000, 0.8), (0.99, 1000, 0.99), (0.95, 30, 0.92)]
)
def test_the_interval_covers_at_other_levels_and_where_all_is_labelled(
    level: float, total: int, least: float
) -> None:
    # a judge that passes all that the human passes, and half of the rest: disagreements of one kind only
    z = NormalDist().inv_cdf((1 + level) / 2)

    def bounds(table: Any, passes: Any, trials: int, _: float) -> Any:
        return rectified_bounds(table, passes, trials, z)

    for p, sens, spec in ((0.5, 1.0, 0.5), (0.8, 0.9, 0.6)):
        assert coverage(bounds, 30, p, sens, spec, total=total) >= least


def untyped(function: Any) -> Any:
    """The function for a call that a type checker refuses."""
    return function


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rectified(Labels(1, -1, 0, 0, 0, 0)),
            "judge_only must be a whole number of at least 0, got -1",
        ),
        (lambda: transferred(1, 2, untyped(Labels)(1, 1, 0, 0.5, 0, 0)), "both_fail must be a whole number"),
        (lambda: rectified(Labels(1, 1, 1, 1, 1, 1), 1.0), r"level must be in \(0, 1\), got 1.0"),
        (lambda: rogan_gladen(Labels(0, 0, 0, 0, 1, 1), 95), r"level must be in \(0, 1\), got 95"),
        (lambda: labels([True], []), "human must have one entry a trial, 1 of them, got 0"),
        (lambda: untyped(labels)([None], [None]), "judge must hold booleans, got None"),
        (lambda: untyped(labels)([True], ["pass"]), "human must hold booleans, got 'pass'"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
