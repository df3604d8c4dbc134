import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, norm
from statsmodels.stats.proportion import confint_proportions_2indep

from agentmut.stats.tests.noninferiority import MarginTest, noninferiority_test, score_statistic
from agentmut.stats.tests.significance import Alternative


def _table(data: st.DataObject, largest: int = 60) -> tuple[int, int, int, int]:
    n_c, n_b = data.draw(st.integers(1, largest)), data.draw(st.integers(1, largest))
    return data.draw(st.integers(0, n_c)), n_c, data.draw(st.integers(0, n_b)), n_b


@settings(max_examples=60)
@given(st.data(), st.floats(0.01, 0.9))
def test_the_score_statistic_uses_the_most_likely_rates_that_are_delta_apart(
    data: st.DataObject, delta: float
) -> None:
    k_c, n_c, k_b, n_b = _table(data)

    def surprise(p: float) -> float:
        q = p + delta
        return float(-(xlogy(k_c, p) + xlogy(n_c - k_c, 1 - p) + xlogy(k_b, q) + xlogy(n_b - k_b, 1 - q)))

    eps = 1e-12
    found = minimize_scalar(
        surprise, bounds=(eps, 1 - delta - eps), method="bounded", options={"xatol": 1e-10}
    )
    p = min((eps, 1 - delta - eps, float(found.x)), key=surprise)
    variance = p * (1 - p) / n_c + (p + delta) * (1 - p - delta) / n_b
    expected = (k_c / n_c - k_b / n_b + delta) / math.sqrt(variance)
    assert float(score_statistic(k_b, n_b, k_c, n_c, delta)) == pytest.approx(expected, abs=1e-3, rel=1e-3)


def test_all_pass_in_both_has_a_closed_form() -> None:
    # Most likely: p_b = 1, p_c = 1 - delta. z = .2 / sqrt(.2 * .8 / 50) = 3.5355339; sf = .000203476
    found = noninferiority_test(50, 50, 50, 50, 0.2, MarginTest.SCORE)
    assert found.statistic == pytest.approx(3.5355339)
    assert found.p_value == pytest.approx(0.000203476, rel=1e-4)


def test_the_exact_p_value_of_one_trial_each_by_hand() -> None:
    # delta = 1/2. Both pass and both fail are equally extreme by symmetry, only the candidate passing is more
    # so: everything but "only the baseline passes", whose chance p (1 - (p - 1/2)) is least, 1/2, at p = 1/2, 1.
    assert noninferiority_test(1, 1, 1, 1, 0.5).p_value == pytest.approx(0.5)
    assert noninferiority_test(1, 1, 0, 1, 0.5).p_value == pytest.approx(1)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from([0.1, 0.2, 0.35]))
def test_the_exact_test_sums_the_tables_that_are_as_extreme(data: st.DataObject, delta: float) -> None:
    k_c, n_c, k_b, n_b = _table(data, 8)
    observed = float(score_statistic(k_b, n_b, k_c, n_c, delta))
    extreme = [
        (i, j)
        for i in range(n_c + 1)
        for j in range(n_b + 1)
        if float(score_statistic(j, n_b, i, n_c, delta)) >= observed - 1e-9
    ]
    rates = np.linspace(delta, 1, 3001)
    chances = sum(
        binom.pmf(i, n_c, np.clip(rates - delta, 0, 1)) * binom.pmf(j, n_b, rates) for i, j in extreme
    )
    expected = min(1.0, float(np.max(chances)))
    assert noninferiority_test(k_b, n_b, k_c, n_c, delta).p_value == pytest.approx(expected, abs=2e-6)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from([0.05, 0.2]), st.sampled_from(MarginTest))
def test_more_passes_of_the_candidate_are_more_evidence(
    data: st.DataObject, delta: float, method: MarginTest
) -> None:
    _, n_c, k_b, n_b = _table(data, 25)
    p = [noninferiority_test(k_b, n_b, k, n_c, delta, method).p_value for k in range(n_c + 1)]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(p))


def test_the_newcombe_test_agrees_with_the_interval() -> None:
    p = noninferiority_test(90, 100, 80, 100, 0.2, MarginTest.NEWCOMBE).p_value
    low, _ = confint_proportions_2indep(80, 100, 90, 100, method="newcomb", compare="diff", alpha=2 * p)
    assert low == pytest.approx(-0.2, abs=1e-8)


def test_the_newcombe_test_of_a_larger_drop_uses_the_upper_limit() -> None:
    p = noninferiority_test(90, 100, 50, 100, 0.2, MarginTest.NEWCOMBE).p_value
    _, high = confint_proportions_2indep(
        50, 100, 90, 100, method="newcomb", compare="diff", alpha=2 * (1 - p)
    )
    assert p > 0.99
    assert high == pytest.approx(-0.2, abs=1e-8)


def test_a_drop_of_just_the_margin_is_no_evidence_either_way() -> None:
    assert noninferiority_test(4, 4, 3, 4, 0.25, MarginTest.NEWCOMBE).p_value == 0.5
    assert noninferiority_test(4, 4, 3, 4, 0.25, MarginTest.SCORE).p_value == 0.5


def test_the_tests_agree_in_large_samples() -> None:
    p = [noninferiority_test(720, 800, 680, 800, 0.07, method).p_value for method in MarginTest]
    assert p == pytest.approx([norm.sf(0.02 / math.sqrt((0.85 * 0.15 + 0.9 * 0.1) / 800))] * 3, abs=0.012)


def test_the_result_says_what_was_shown() -> None:
    found = noninferiority_test(90, 100, 25, 30, 0.2)
    assert found.alternative is Alternative.GREATER
    assert "one-sided: greater, exact non-inferiority by 0.2, n=130" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2, 1, 0, 0.1), "n_c must be a whole number of at least 1, got 0"),
        ((0, 0, 1, 2, 0.1), "n_b must be a whole number of at least 1, got 0"),
        ((1, 2, 3, 2, 0.1), "k_c must be a whole number of at least 0 and at most 2, got 3"),
        ((-1, 2, 1, 2, 0.1), "k_b must be a whole number of at least 0 and at most 2, got -1"),
        ((1.5, 2, 1, 2, 0.1), "k_b must be a whole number"),
        ((1, 2, 1, 2, 0.0), r"delta must be in \(0, 1\), got 0.0"),
        ((1, 2, 1, 2, math.nan), r"delta must be in \(0, 1\), got nan"),
        ((1, 2, 1, 2, 0.1, "wald"), "method must be one of exact, score, newcombe, got 'wald'"),
        (
            (1, 2000, 1, 2000, 0.1),
            "must be at most 1000000 and n_b, n_c at most 5000 for the exact test, got n_b=2000, n_c=2000",
        ),
    ],
)
def test_bad_input_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        noninferiority_test(*arguments)
