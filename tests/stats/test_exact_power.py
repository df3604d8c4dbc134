"""Rejection regions and exact power: against the tests themselves, simulation and sums by hand."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.tests.proportions import TwoSampleTest, binomial_test, boschloo_test, fisher_test, z_test
from agentmut.stats.tests.significance import Alternative, Significance
from benchmarks.calibration.exact_power import binomial_power, two_sample_power
from benchmarks.calibration.two_samples import chance, rejected, supremum

LESS, GREATER, TWO_SIDED = Alternative.LESS, Alternative.GREATER, Alternative.TWO_SIDED
FISHER, BOSCHLOO, Z = TwoSampleTest.FISHER, TwoSampleTest.BOSCHLOO, TwoSampleTest.Z
SINGLE: dict[TwoSampleTest, Callable[..., Significance]] = {
    FISHER: fisher_test,
    BOSCHLOO: boschloo_test,
    Z: z_test,
}


@pytest.mark.parametrize("test", list(TwoSampleTest))
@pytest.mark.parametrize("side", list(Alternative))
@pytest.mark.parametrize(("n1", "n2"), [(7, 10), (11, 4)])
def test_the_regions_are_those_of_the_tests(test: TwoSampleTest, side: Alternative, n1: int, n2: int) -> None:
    outcomes = list(itertools.product(range(n1 + 1), range(n2 + 1)))
    p_values = {k: SINGLE[test](k[0], n1, k[1], n2, side).p_value for k in outcomes}
    for alpha in (0.01, 0.05, 0.1):
        flags = rejected(test, n1, n2, alpha, side)
        clear = [k for k in outcomes if abs(p_values[k] - alpha) > 1e-6]
        assert all(flags[k] == (p_values[k] <= alpha) for k in clear)
        assert len(clear) > len(outcomes) - 3


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 60), st.sampled_from([0.01, 0.05, 0.2]), st.sampled_from(Alternative)
)
def test_fisher_and_boschloo_hold_their_level(n1: int, n2: int, alpha: float, side: Alternative) -> None:
    fisher, boschloo = (rejected(test, n1, n2, alpha, side) for test in (FISHER, BOSCHLOO))
    assert supremum(fisher).value <= alpha * (1 + 1e-6)
    assert supremum(boschloo).value <= alpha * (1 + 1e-6)
    if side is not TWO_SIDED:
        assert not (fisher & ~boschloo).any()


def test_the_supremum_of_one_outcome_is_known() -> None:
    # 0 of 2 against 2 of 2: (1-p)^2 p^2, at most 1/16 at 1/2; 3 of 3 against 0 of 1: p^3 (1-p), 27/256 at 3/4
    flags = np.zeros((3, 3), dtype=np.bool_)
    flags[0, 2] = True
    assert supremum(flags) == pytest.approx((1 / 16, 0.5), abs=1e-6)
    flags = np.zeros((4, 2), dtype=np.bool_)
    flags[3, 0] = True
    assert supremum(flags).value == pytest.approx(27 / 256, abs=1e-9)
    assert supremum(flags).rate == pytest.approx(0.75, abs=1e-4)


def test_the_supremum_of_every_outcome_is_one_and_of_none_zero() -> None:
    assert supremum(np.ones((5, 9), dtype=np.bool_)).value == pytest.approx(1)
    assert supremum(np.zeros((5, 9), dtype=np.bool_)).value == 0


def test_two_trials_each_by_hand() -> None:
    # at alpha .07 only 0 of 2 against 2 of 2 is rejected by Boschloo (1/16); Fisher's p is 1/6
    assert two_sample_power(BOSCHLOO, 2, 2, 0.4, 0.9, alpha=0.07).power == pytest.approx(0.36 * 0.81)
    assert two_sample_power(FISHER, 2, 2, 0.4, 0.9, alpha=0.07).power == 0
    assert two_sample_power(FISHER, 2, 2, 0.4, 0.9, alpha=0.07).type_1 == 0


@pytest.mark.parametrize("test", list(TwoSampleTest))
def test_simulation_meets_the_exact_power(test: TwoSampleTest) -> None:
    rng, runs = np.random.default_rng(3), 200
    k1, k2 = rng.binomial(25, 0.5, runs), rng.binomial(40, 0.8, runs)
    hits = [SINGLE[test](a, 25, b, 40, LESS).p_value <= 0.05 for a, b in zip(k1, k2, strict=True)]
    # standard error at most .035
    assert two_sample_power(test, 25, 40, 0.5, 0.8).power == pytest.approx(np.mean(hits), abs=0.12)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1), st.floats(0, 1), st.sampled_from([FISHER, Z]))
def test_swapping_the_samples_swaps_the_alternative(
    n1: int, n2: int, p1: float, p2: float, test: TwoSampleTest
) -> None:
    one = two_sample_power(test, n1, n2, p1, p2, alternative=LESS).power
    other = two_sample_power(test, n2, n1, p2, p1, alternative=GREATER).power
    assert one == pytest.approx(other, abs=1e-12)


@given(
    st.integers(1, 40),
    st.sampled_from([0.0, 0.1, 0.5, 0.85, 1.0]),
    st.sampled_from([0.01, 0.05, 0.2]),
    st.sampled_from(Alternative),
)
@settings(max_examples=40, deadline=None)
def test_binomial_power_is_that_of_the_test(n: int, p0: float, alpha: float, side: Alternative) -> None:
    hit = [binomial_test(k, n, p0, side).p_value <= alpha * (1 + 1e-9) for k in range(n + 1)]
    # at p1 = 1 the outcome is n, at p1 = 0 it is 0
    assert binomial_power(n, p0, 1.0, alpha=alpha, alternative=side).power == hit[n]
    assert binomial_power(n, p0, 0.0, alpha=alpha, alternative=side).power == hit[0]
    assert binomial_power(n, p0, 0.3, alpha=alpha, alternative=side).type_1 <= alpha * (1 + 1e-6)


def test_binomial_power_by_hand() -> None:
    # n = 5 against 0.8, LESS at .06: P(K <= 2 | .8) = .05792, P(K <= 2 | .5) = 16/32
    found = binomial_power(5, 0.8, 0.5, alpha=0.06)
    assert (found.power, found.type_1) == pytest.approx((0.5, 0.05792))
    assert str(found) == "n=5: power 0.5000, type I error 0.0579"


def test_the_chance_of_an_outcome_is_a_product() -> None:
    flags = np.zeros((3, 2), dtype=np.bool_)
    flags[1, 1] = True
    assert chance(flags, 0.3, 0.6) == pytest.approx(2 * 0.3 * 0.7 * 0.6)
    assert chance(flags, 1.0, 1.0) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rejected(FISHER, 0, 5, 0.05),
            "n1 must be a whole number of at least 1 and at most 500, got 0",
        ),
        (lambda: rejected(FISHER, 5, 501, 0.05), "n2 must be .* at most 500, got 501"),
        (lambda: rejected(FISHER, 5, 5, 1.0), r"alpha must be in \(0, 1\), got 1.0"),
        (lambda: two_sample_power(Z, 5, 5, 1.2, 0.9), r"p1 must be in \[0, 1\], got 1.2"),
        (lambda: two_sample_power(Z, 5, 5, 0.2, float("nan")), r"p2 must be in \[0, 1\], got nan"),
        (lambda: binomial_power(0, 0.9, 0.8), "n must be a whole number of at least 1, got 0"),
        (lambda: binomial_power(5, -0.1, 0.8), r"p0 must be in \[0, 1\], got -0.1"),
        (lambda: binomial_power(5, 0.9, 8), r"p1 must be in \[0, 1\], got 8"),
    ],
)
def test_bad_input_is_named_with_its_range(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_test_is_refused() -> None:
    unknown: Any = "barnard"
    with pytest.raises(ValueError, match="test must be one of fisher, boschloo, z, got 'barnard'"):
        rejected(unknown, 5, 5, 0.05)
