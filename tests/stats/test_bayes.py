import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betaln
from scipy.stats import beta as beta_distribution

from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.bayes import (
    UNIFORM,
    Prior,
    bayes_verdict,
    posterior_change,
    probabilities,
    regression_probability,
)


def test_without_data_a_uniform_prior_gives_the_area_of_a_triangle() -> None:
    # the part of the unit square where x < y - delta is a triangle with legs 1 - delta
    assert regression_probability(0, 0, 0, 0, 0.1) == pytest.approx(0.405, abs=1e-9)


def test_one_pass_against_one_failure_by_hand() -> None:
    # densities 2y and 2(1 - x): P(x < y - d) = int_d^1 2y (1 - (1 - y + d)^2) dy; for d = .5 that is
    # int_.5^1 2y - 2y (1.5 - y)^2 dy = [y^2 - 2.25 y^2 + 2 y^3 - y^4 / 2] = .25 - (-.09375) = .34375
    assert regression_probability(1, 1, 0, 1, 0.5) == pytest.approx(0.34375, abs=1e-9)


@pytest.mark.parametrize("counts", [(45, 50, 40, 50), (3, 4, 90, 100), (0, 10, 5, 5)])
def test_no_margin_and_a_uniform_prior_have_a_finite_sum(counts: tuple[int, int, int, int]) -> None:
    # P(X < Y) = sum over i < a_Y of B(a_X + i, b_X + b_Y) / ((b_Y + i) B(1 + i, b_Y) B(a_X, b_X))
    k_b, n_b, k_c, n_c = counts
    a_y, b_y, a_x, b_x = k_b + 1, n_b - k_b + 1, k_c + 1, n_c - k_c + 1
    terms = [
        math.exp(betaln(a_x + i, b_x + b_y) - math.log(b_y + i) - betaln(1 + i, b_y) - betaln(a_x, b_x))
        for i in range(a_y)
    ]
    assert regression_probability(*counts, 0.0) == pytest.approx(sum(terms), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 80), st.integers(1, 80), st.data(), st.sampled_from([0.0, 0.05, 0.3]))
def test_the_quadrature_agrees_with_another_one(
    n_b: int, n_c: int, data: st.DataObject, delta: float
) -> None:
    k_b, k_c = data.draw(st.integers(0, n_b)), data.draw(st.integers(0, n_c))
    baseline = beta_distribution(k_b + 1, n_b - k_b + 1)
    candidate = beta_distribution(k_c + 1, n_c - k_c + 1)

    def density(y: float) -> float:
        return float(baseline.pdf(y) * candidate.cdf(y - delta))

    cuts = [float(y) for y in np.unique(np.clip(baseline.ppf([0.001, 0.5, 0.999]), delta, 1))]
    expected = sum(quad(density, a, b, limit=200)[0] for a, b in zip([delta, *cuts], [*cuts, 1], strict=True))
    assert regression_probability(k_b, n_b, k_c, n_c, delta) == pytest.approx(expected, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 50), st.integers(0, 50), st.floats(0.05, 20), st.floats(0.05, 20))
def test_without_a_margin_the_two_directions_sum_to_one(k_b: int, k_c: int, a: float, b: float) -> None:
    there = regression_probability(k_b, 50, k_c, 50, 0, Prior(a, b))
    back = regression_probability(k_c, 50, k_b, 50, 0, Prior(a, b))
    assert there + back == pytest.approx(1, abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(0, 30), st.floats(0, 0.9), st.floats(0.1, 5), st.floats(0.1, 5))
def test_counting_failures_instead_of_passes_is_the_same_with_the_roles_exchanged(
    k_b: int, k_c: int, delta: float, a: float, b: float
) -> None:
    straight = regression_probability(k_b, 40, k_c, 30, delta, Prior(a, b))
    mirrored = regression_probability(30 - k_c, 30, 40 - k_b, 40, delta, Prior(b, a))
    assert straight == pytest.approx(mirrored, abs=1e-8)


def test_arrays_give_what_single_counts_give() -> None:
    k = np.array([3, 50, 97])
    found = probabilities(k[:, None], 100, k, 100, 0.1, Prior(0.5, 0.5))
    assert found.shape == (3, 3)
    assert found[2, 1] == pytest.approx(regression_probability(97, 100, 50, 100, 0.1, Prior(0.5, 0.5)))
    assert (np.diff(found, axis=1) < 1e-9).all()


def test_very_unequal_samples_are_a_test_of_one_of_them() -> None:
    # A candidate known to pass 80 % makes it P(p_b > .85 | 9 of 10)
    expected = beta_distribution(10, 2).sf(0.85)
    assert regression_probability(9, 10, 800_000, 1_000_000, 0.05) == pytest.approx(expected, abs=1e-5)
    # and a baseline known to pass 90 % one of P(p_c < .8 | 8 of 10)
    expected = beta_distribution(9, 3).cdf(0.8)
    assert regression_probability(900_000, 1_000_000, 8, 10, 0.1) == pytest.approx(expected, abs=1e-5)


def test_the_credible_interval_agrees_with_draws() -> None:
    rng = np.random.default_rng(1)
    draws = rng.beta(41, 11, 400_000) - rng.beta(46, 6, 400_000)
    found = posterior_change(45, 50, 40, 50)
    assert found.estimate == pytest.approx(41 / 52 - 46 / 52)
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]).tolist(), abs=1e-3)
    assert str(found).endswith("(95% credible, Beta(1, 1) prior, n=100)")


def test_equal_samples_have_a_symmetric_interval() -> None:
    found = posterior_change(30, 40, 30, 40, 0.9)
    assert found.estimate == 0
    assert found.low == pytest.approx(-found.high, abs=1e-8)


def test_without_data_the_interval_is_that_of_the_prior() -> None:
    # the difference of two uniforms is triangular: P(d < x) = (1 + x)^2 / 2 for x < 0, so x = sqrt(.05) - 1
    found = posterior_change(0, 0, 0, 0)
    assert (found.low, found.high) == pytest.approx((math.sqrt(0.05) - 1, 1 - math.sqrt(0.05)), abs=1e-8)


def test_the_verdict_follows_the_probability() -> None:
    # P(drop > .05 | 90/100 -> 80/100) = .832
    counts = (90, 100, 80, 100)
    assert bayes_verdict(*counts, delta=0.05).verdict is Verdict.INCONCLUSIVE
    assert bayes_verdict(*counts, delta=0.05, alpha=0.2, beta=0.01).verdict is Verdict.FAIL
    found = bayes_verdict(*counts, delta=0.2, alpha=0.01, beta=0.1)
    assert (found.verdict, found.needed) == (Verdict.PASS, None)
    assert found.reason.startswith(
        "not worse by more than 0.2: 80/100 against 90/100 of the baseline, P(drop"
    )
    assert found.p_fail == pytest.approx(1 - regression_probability(*counts, 0.2))


def test_a_prior_alone_passes_nobody() -> None:
    sure = Prior(900, 100)
    assert regression_probability(90, 100, 0, 0, 0.2, sure) < 1e-6
    found = bayes_verdict(90, 100, 0, 0, prior=sure)
    assert (found.verdict, found.p_fail) == (Verdict.INCONCLUSIVE, 1.0)
    assert "the candidate has no trials" in found.reason
    assert bayes_verdict(0, 0, 9, 10).needed is None


def test_a_baseline_that_rarely_passes_gives_no_pass() -> None:
    found = bayes_verdict(5, 100, 5, 100)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the baseline passes too rarely (5/100)" in found.reason


def test_the_needed_trials_are_enough_if_all_goes_on_as_it_was() -> None:
    needed = bayes_verdict(90, 100, 9, 10).needed
    assert needed is not None
    extra = round(0.9 * needed)
    assert bayes_verdict(90, 100, 9 + extra, 10 + needed).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((11, 10, 5, 10, 0.1), "k_b must be a whole number of at least 0 and at most 10, got 11"),
        ((1, 10, 5, math.nan, 0.1), "n_c must be a whole number"),
        ((1, 10, 5, 10, 1.0), r"delta must be in \[0, 1\), got 1.0"),
        ((1, 10, 5, 10, -0.1), r"delta must be in \[0, 1\), got -0.1"),
        ((1, 10, 5, 10, math.nan), r"delta must be in \[0, 1\), got nan"),
        ((1, 10, 5, 10, 0.1, Prior(0, 1)), r"a of the prior must be in \(0, 1e\+06\), got 0"),
        ((1, 10, 5, 10, 0.1, Prior(1, -2)), r"b of the prior must be in \(0, 1e\+06\), got -2"),
        ((1, 10, 5, 10, 0.1, Prior(math.inf, 1)), r"a of the prior must be in \(0, 1e\+06\), got inf"),
        ((1, 10, 5, 10, 0.1, Prior(1, math.nan)), r"b of the prior must be in \(0, 1e\+06\), got nan"),
    ],
)
def test_bad_input_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        regression_probability(*arguments)


def test_levels_of_the_verdict_are_checked() -> None:
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 0.5\), got 0.6"):
        bayes_verdict(9, 10, 9, 10, alpha=0.6, prior=UNIFORM)
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 1"):
        posterior_change(9, 10, 9, 10, 1)


def test_a_prior_below_one_may_hold_a_tail_at_the_end_of_the_range() -> None:
    # p_b ~ Beta(5.05, .05) and p_c its mirror image: P(p_b > 1 - 1e-12) is about .25, so that of a change within
    # 1e-12 of -1 is above .05
    found = bayes_verdict(5, 5, 0, 5, prior=Prior(0.05, 0.05))
    assert found.verdict is Verdict.FAIL
    assert found.interval.low == -1
    rng = np.random.default_rng(1)
    draws = rng.beta(0.05, 5.05, 200_000) - rng.beta(5.05, 0.05, 200_000)
    assert found.interval.high == pytest.approx(np.quantile(draws, 0.95), abs=0.01)
    mirrored = posterior_change(0, 5, 5, 5, 0.9, Prior(0.05, 0.05))
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.interval.high, 1))


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan, "0", True])
def test_a_margin_of_zero_is_allowed_and_the_message_says_so(delta: Any) -> None:
    assert regression_probability(1, 2, 1, 2, 0) == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"delta must be in \[0, 1\), got"):
        regression_probability(1, 2, 1, 2, delta)
