"""The worth of a variance estimate, against published quantiles, and Eq. 39."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut.stats.reliability.variance import (
    adaptive_budget,
    chance_within,
    runs_for_variance,
    variance_interval,
)


def test_ten_values_leave_a_factor_of_seven() -> None:
    # chi-square, 9 degrees of freedom: 19.0228 and 2.70039 in any table; 9/19.0228 and 9/2.70039
    found = variance_interval(2.0, 10)
    assert (found.low / 2, found.high / 2) == pytest.approx((0.473116, 3.332851), abs=1e-5)
    assert str(variance_interval(1, 10, 0.9)) == "1.00 [0.53, 2.71] (90% chi-square, n=10)"


@given(st.floats(0.001, 1000), st.integers(2, 500), st.floats(0.5, 0.99))
def test_the_estimate_lies_inside_and_more_values_narrow_the_interval(
    variance: float, k: int, level: float
) -> None:
    few, more = variance_interval(variance, k, level), variance_interval(variance, k + 1, level)
    assert few.low < variance < few.high or level < 0.7
    assert more.high / more.low < few.high / few.low


def test_two_values_by_hand() -> None:
    # one degree of freedom is a squared normal: P(.5 <= Z^2 <= 1.5) = 2 (Phi(1.224745) - Phi(.707107))
    expected = math.erf(math.sqrt(0.75)) - math.erf(0.5)
    assert chance_within(0.5, 2) == pytest.approx(expected, abs=1e-12)


def test_three_values_by_hand() -> None:
    # two degrees of freedom are exponential with mean 2: exp(-(1 - .3)) - exp(-(1 + .3))
    assert chance_within(0.3, 3) == pytest.approx(math.exp(-0.7) - math.exp(-1.3), abs=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_more_values_come_closer(share: float) -> None:
    chances = [chance_within(share, k) for k in range(2, 200)]
    assert chances == sorted(chances)


@pytest.mark.parametrize(("share", "level"), [(0.3, 0.95), (0.1, 0.9), (0.5, 0.99), (0.9, 0.5), (0.05, 0.95)])
def test_the_runs_for_a_variance_are_the_least(share: float, level: float) -> None:
    k = runs_for_variance(share, level)
    assert chance_within(share, k) >= level
    assert k == 2 or chance_within(share, k - 1) < level


def test_thirty_per_cent_takes_86_runs() -> None:
    # normal approximation: 1 + 2 (1.959964/.3)^2 = 86.4
    assert runs_for_variance(0.3, 0.95) == 86


def test_eq_39_by_hand() -> None:
    # (1.644854 + 1.281552)^2 = 8.563847; times .05/.25, plus 3
    found = adaptive_budget(0.05, 0.5, 5)
    assert found.value == pytest.approx(4.712769, abs=1e-6)
    assert found.n == 5
    # 8.563847 * 20 + 3 = 174.28
    assert adaptive_budget(5.0, 0.5, 5).n == 175
    # alpha .01, beta .2: 10.036028 * 20 + 3 = 203.72
    assert adaptive_budget(5.0, 0.5, 5, alpha=0.01, beta=0.2).n == 204


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: variance_interval(0.0, 10), r"variance must be in \(0, inf\), got 0.0"),
        (lambda: variance_interval(math.nan, 10), r"variance must be in \(0, inf\), got nan"),
        (lambda: variance_interval(math.inf, 10), r"variance must be in \(0, inf\), got inf"),
        (lambda: variance_interval(1.0, 1), "k must be a whole number of at least 2, got 1"),
        (lambda: variance_interval(1.0, 10, 95), r"level must be in \(0, 1\), got 95"),
        (lambda: chance_within(1.0, 10), r"share must be in \(0, 1\), got 1.0"),
        (lambda: runs_for_variance(0.3, 1.0), r"level must be in \(0, 1\), got 1.0"),
        (lambda: runs_for_variance(30), r"share must be in \(0, 1\), got 30"),
        (lambda: adaptive_budget(0.0, 0.5, 5), r"variance must be in \(0, inf\), got 0.0"),
        (lambda: adaptive_budget(1.0, -0.5, 5), r"distance must be in \(0, inf\), got -0.5"),
        (lambda: adaptive_budget(1.0, 0.5, 0), r"dimension must be in \(0, inf\), got 0"),
        (lambda: adaptive_budget(1.0, 0.5, 5, alpha=0.9, beta=0.9), "alpha \\+ beta must be below 1"),
    ],
)
def test_bad_input_is_named_with_its_range(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
