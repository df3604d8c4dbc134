"""Tests for pass rates, against sums by hand and against other libraries."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import barnard_exact
from statsmodels.stats.proportion import proportions_ztest

from agentmut.stats.tests.proportions import binomial_test, boschloo_test, fisher_test, normal_p, z_test
from agentmut.stats.tests.significance import Alternative, Significance

TwoSamples = Callable[[int, int, int, int, Alternative], Significance]
TESTS: tuple[TwoSamples, ...] = (fisher_test, boschloo_test, z_test)
LESS, GREATER, TWO_SIDED = Alternative.LESS, Alternative.GREATER, Alternative.TWO_SIDED
OPPOSITE = {LESS: GREATER, GREATER: LESS, TWO_SIDED: TWO_SIDED}

samples = st.tuples(st.integers(1, 25), st.integers(1, 25)).flatmap(
    lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
)


def test_the_binomial_tails_are_those_added_up_by_hand() -> None:
    # n = 5, p0 = 0.8: P(0..2) = .00032 + .0064 + .0512; P(2..5) = 1 - .00032 - .0064
    assert binomial_test(2, 5, 0.8, LESS).p_value == pytest.approx(0.05792)
    assert binomial_test(2, 5, 0.8, GREATER).p_value == pytest.approx(0.99328)
    # no outcome above 2 is as unlikely as P(2) = .0512: P(3) = .2048, P(4) = .4096, P(5) = .32768
    assert binomial_test(2, 5, 0.8, TWO_SIDED).p_value == pytest.approx(0.05792)


def test_a_single_contrary_trial_refutes_certainty() -> None:
    assert binomial_test(9, 10, 1.0, LESS).p_value == 0
    assert binomial_test(10, 10, 1.0, LESS).p_value == 1
    assert binomial_test(0, 10, 0.0, TWO_SIDED).p_value == 1


def test_fishers_tail_is_the_hypergeometric_one() -> None:
    # 1 of 4 against 4 of 4, five successes in all: C(4,1) C(4,4) / C(8,5) = 4/56, and fewer than 1 is impossible
    assert fisher_test(1, 4, 4, 4, LESS).p_value == pytest.approx(4 / 56)
    # the mirror image, 4 of 4 against 1 of 4, is as unlikely
    assert fisher_test(1, 4, 4, 4, TWO_SIDED).p_value == pytest.approx(8 / 56)
    assert fisher_test(1, 4, 4, 4, GREATER).p_value == pytest.approx(1)


def test_boschloo_takes_the_worst_common_rate() -> None:
    # 0 of 2 against 2 of 2 has the least Fisher p, 1/6, and is alone with it: chance (1-p)^2 p^2, at most 1/16
    assert boschloo_test(0, 2, 2, 2, LESS).p_value == pytest.approx(1 / 16, rel=1e-4)
    assert boschloo_test(0, 2, 2, 2, LESS).statistic == pytest.approx(1 / 6)
    assert boschloo_test(0, 2, 2, 2, TWO_SIDED).p_value == pytest.approx(1 / 8, rel=1e-4)


def test_z_by_hand() -> None:
    # 40/50 against 45/50: pooled .85, sd sqrt(.1275 * .04) = .0714143, z = -.1/.0714143
    found = z_test(40, 50, 45, 50, LESS)
    assert found.statistic == pytest.approx(-1.400280)
    assert found.p_value == pytest.approx(0.080715, abs=1e-6)


@settings(max_examples=60)
@given(samples, st.sampled_from([(LESS, "smaller"), (GREATER, "larger"), (TWO_SIDED, "two-sided")]))
def test_z_agrees_with_statsmodels(counts: tuple[int, int, int, int], side: tuple[Alternative, str]) -> None:
    k1, n1, k2, n2 = counts
    if 0 < k1 + k2 < n1 + n2:
        z, p = proportions_ztest([k1, k2], [n1, n2], alternative=side[1])
        found = z_test(*counts, side[0])
        assert (found.statistic, found.p_value) == pytest.approx((z, p), abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("side", list(Alternative))
def test_nothing_is_shown_where_all_pass_or_none_do(test: TwoSamples, side: Alternative) -> None:
    assert test(7, 7, 12, 12, side).p_value == 1
    assert test(0, 7, 0, 12, side).p_value == 1


@pytest.mark.parametrize("test", TESTS)
@settings(max_examples=30, deadline=None)
@given(counts=samples, side=st.sampled_from(Alternative))
def test_swapping_the_samples_swaps_the_alternative(
    test: TwoSamples, counts: tuple[int, int, int, int], side: Alternative
) -> None:
    k1, n1, k2, n2 = counts
    swapped = test(k2, n2, k1, n1, OPPOSITE[side]).p_value
    failures = test(n1 - k1, n1, n2 - k2, n2, OPPOSITE[side]).p_value
    found = test(*counts, side).p_value
    assert 0 <= found <= 1
    assert [swapped, failures] == pytest.approx([found, found], rel=2e-4, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(samples, st.sampled_from([LESS, GREATER]))
def test_boschloo_is_never_weaker_than_fisher(counts: tuple[int, int, int, int], side: Alternative) -> None:
    assert boschloo_test(*counts, side).p_value <= fisher_test(*counts, side).p_value * (1 + 1e-6)


def test_the_alternative_points_from_the_first_sample() -> None:
    for test in TESTS:
        assert test(60, 100, 80, 100, LESS).p_value < 0.01
        assert test(60, 100, 80, 100, GREATER).p_value > 0.99
    assert binomial_test(60, 100, 0.8, LESS).p_value < 0.01


def test_boschloo_is_close_to_barnard_in_a_large_balanced_table() -> None:
    # another unconditional exact test, with another statistic: alike to a few per cent of the p-value
    barnard = barnard_exact([[40, 48], [20, 12]], alternative="less").pvalue
    assert boschloo_test(40, 60, 48, 60, LESS).p_value == pytest.approx(barnard, rel=0.05)


@pytest.mark.parametrize("z", [-1.959964, 1.959964])
def test_the_normal_tails(z: float) -> None:
    assert normal_p(z, TWO_SIDED) == pytest.approx(0.05, abs=1e-7)
    assert normal_p(z, LESS) == pytest.approx(0.025 if z < 0 else 0.975, abs=1e-7)
    assert normal_p(z, LESS) + normal_p(z, GREATER) == pytest.approx(1)


def test_a_tiny_p_value_is_not_rounded_to_zero() -> None:
    assert normal_p(-12.0, LESS) == pytest.approx(1.776e-33, rel=1e-3)  # Mills: phi(12)/12 (1 - 1/144 + ...)
    assert 0 < z_test(5, 300, 290, 300, LESS).p_value < 1e-100


def test_a_result_prints_its_sides_method_and_size() -> None:
    assert str(fisher_test(3, 10, 10, 10, LESS)) == "p = 0.00155 (one-sided: less, Fisher, n=20)"
    assert str(z_test(3, 10, 10, 10, TWO_SIDED)) == "p = 0.00103 (two-sided, Z, pooled, n=20)"


def test_numpy_integers_are_counts() -> None:
    counts: Any = np.array([3, 10])
    assert fisher_test(counts[0], counts[1], 10, 10, LESS) == fisher_test(3, 10, 10, 10, LESS)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((0, 0, 1, 5), "n1 must be a whole number of at least 1, got 0"),
        ((1, 5, 0, 0), "n2 must be a whole number of at least 1, got 0"),
        ((6, 5, 1, 5), "k1 must be a whole number of at least 0 and at most 5, got 6"),
        ((1, 5, -1, 5), "k2 must be a whole number of at least 0 and at most 5, got -1"),
        ((1.5, 5, 1, 5), "k1 must be a whole number"),
        ((1, math.nan, 1, 5), "n1 must be a whole number"),
        ((1, math.inf, 1, 5), "n1 must be a whole number"),
    ],
)
def test_bad_counts_are_named(test: Callable[..., Significance], counts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        test(*counts, LESS)


@pytest.mark.parametrize("test", TESTS)
def test_an_unknown_alternative_is_refused(test: Callable[..., Significance]) -> None:
    with pytest.raises(ValueError, match="alternative must be one of less, greater, two-sided, got 'up'"):
        test(1, 5, 2, 5, "up")


@pytest.mark.parametrize(
    ("k", "n", "p0", "message"),
    [
        (0, 0, 0.5, "n must be a whole number of at least 1, got 0"),
        (3, 2, 0.5, "k must be a whole number of at least 0 and at most 2, got 3"),
        (1, 2, 1.5, r"p0 must be in \[0, 1\], got 1.5"),
        (1, 2, math.nan, r"p0 must be in \[0, 1\], got nan"),
    ],
)
def test_bad_input_to_the_binomial_test_is_named(k: int, n: int, p0: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        binomial_test(k, n, p0, LESS)


def test_the_normal_tail_may_be_named_by_text() -> None:
    assert normal_p(-2.0, "less") == normal_p(-2.0, Alternative.LESS) < 0.03  # type: ignore[arg-type]
