import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from agentmut.stats.tests.noninferiority import (
    MarginTest,
    inferiority_test,
    noninferiority_test,
    score_statistic,
)
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.noninferiority_verdict import noninferiority_verdict
from agentmut.stats.verdicts.regression import regression_verdict

PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


@settings(max_examples=15, deadline=None)
@given(st.data(), st.sampled_from([0.1, 0.3]))
def test_the_exact_inferiority_test_sums_the_tables_that_are_as_extreme(
    data: st.DataObject, delta: float
) -> None:
    n_b, n_c = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    k_b, k_c = data.draw(st.integers(0, n_b)), data.draw(st.integers(0, n_c))
    observed = float(score_statistic(k_b, n_b, k_c, n_c, delta))
    rates = np.linspace(delta, 1, 3001)
    chances = np.zeros(rates.shape)
    for j in range(n_b + 1):
        for i in range(n_c + 1):
            if float(score_statistic(j, n_b, i, n_c, delta)) <= observed + 1e-9:
                chances += binom.pmf(i, n_c, np.clip(rates - delta, 0, 1)) * binom.pmf(j, n_b, rates)
    expected = min(1.0, float(chances.max()))
    assert inferiority_test(k_b, n_b, k_c, n_c, delta).p_value == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("method", [MarginTest.SCORE, MarginTest.NEWCOMBE])
def test_the_two_tails_add_up_to_one(method: MarginTest) -> None:
    worse = inferiority_test(45, 50, 33, 50, 0.2, method).p_value
    assert worse + noninferiority_test(45, 50, 33, 50, 0.2, method).p_value == pytest.approx(1)
    assert worse < 0.5  # a drop of .24


def test_a_drop_by_far_more_than_the_margin_fails_and_none_passes() -> None:
    assert noninferiority_verdict(45, 50, 20, 50).verdict is FAIL
    assert noninferiority_verdict(45, 50, 45, 50).verdict is PASS


def test_a_drop_that_is_real_but_within_the_margin_passes_where_the_regression_verdict_fails() -> None:
    counts = (196, 200, 184, 200)
    assert regression_verdict(*counts).verdict is FAIL
    found = noninferiority_verdict(*counts)
    assert found.verdict is PASS
    assert found.reason.startswith(
        "not worse by 0.2: 184/200 against 196/200 of the baseline, a change of -0.060"
    )


def test_a_drop_of_just_the_margin_is_inconclusive_and_both_p_values_are_given() -> None:
    found = noninferiority_verdict(45, 50, 35, 50)
    assert found.verdict is INCONCLUSIVE
    assert "worse by more than 0.2: p = " in found.reason
    assert "; not worse by 0.2: p = " in found.reason
    assert found.needed is None  # the observed rate is on the margin


@pytest.mark.parametrize(("alpha", "beta", "p_c"), [(0.01, 0.2, 0.7), (0.1, 0.02, 0.7)])
def test_alpha_bounds_false_fails_and_beta_false_passes(alpha: float, beta: float, p_c: float) -> None:
    # the true drop is delta exactly, the least favourable for either error
    n, errors = 20, {PASS: 0.0, FAIL: 0.0, INCONCLUSIVE: 0.0}
    for k_b in range(n + 1):
        for k_c in range(n + 1):
            chance = float(binom.pmf(k_b, n, p_c + 0.2) * binom.pmf(k_c, n, p_c))
            if chance > 1e-6:
                found = noninferiority_verdict(k_b, n, k_c, n, alpha=alpha, beta=beta)
                errors[found.verdict] += chance
    assert alpha / 5 < errors[FAIL] <= alpha
    assert beta / 5 < errors[PASS] <= beta


def test_needed_is_about_enough() -> None:
    small = noninferiority_verdict(90, 100, 9, 10)
    assert small.verdict is INCONCLUSIVE
    assert small.needed is not None
    more = np.arange(small.needed + 1)
    decided = [
        noninferiority_verdict(90, 100, 9 + int(k), 10 + small.needed).verdict is not INCONCLUSIVE
        for k in more
    ]
    assert float(binom.pmf(more, small.needed, 0.9) @ np.array(decided)) > 0.75


def test_an_empty_sample_is_inconclusive() -> None:
    for counts, lack in (
        ((0, 0, 3, 5), "the baseline has no trials"),
        ((3, 5, 0, 0), "the candidate has no trials"),
    ):
        found = noninferiority_verdict(*counts)
        assert (found.verdict, found.p_fail) == (INCONCLUSIVE, 1.0)
        assert found.reason.startswith(lack)


def test_a_baseline_that_leaves_no_room_gives_no_pass() -> None:
    found = noninferiority_verdict(1, 20, 20, 20)
    assert found.verdict is INCONCLUSIVE
    assert "passes too rarely (1/20) for a drop of 0.2 to be seen" in found.reason


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k_c": 51}, "k_c must be a whole number of at least 0 and at most 50, got 51"),
        ({"alpha": 0.5}, r"alpha must be in \(0, 0.5\), got 0.5"),
        ({"beta": math.nan}, r"beta must be in \(0, 0.5\), got nan"),
        ({"delta": 0.0}, r"delta must be in \(0, 1\), got 0.0"),
    ],
)
def test_bad_input_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        noninferiority_verdict(**{"k_b": 45, "n_b": 50, "k_c": 40, "n_c": 50, **changes})
