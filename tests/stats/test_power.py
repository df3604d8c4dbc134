"""Numbers of trials by formula, against other libraries and arithmetic by hand."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.power import NormalIndPower

from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.tests.power import Bound, half_width, least_passing_n, trials_for_half_width, whole
from benchmarks.calibration.exact_power import trials_one_sided, trials_two_sided

rates = st.floats(0.02, 0.98)
errors = st.floats(0.001, 0.3)


def test_eq_1_takes_two_samples_and_two_sides() -> None:
    # (1.959964 + 1.281552)^2 = 10.507423; times 2 * .9 * .1 / .01 = 18 gives 189.13
    assert trials_two_sided(0.9, 0.1) == 190
    # alpha .01, beta .2: (2.575829 + .841621)^2 * 18 = 11.678965 * 18 = 210.22; swapped it would be
    # (1.281552 + 2.326348)^2 * 18 = 13.016943 * 18 = 234.30
    assert trials_two_sided(0.9, 0.1, alpha=0.01, beta=0.2) == 211
    assert trials_two_sided(0.9, 0.1, alpha=0.2, beta=0.01) == 235
    # alpha .1, beta .02: (1.644854 + 2.053749)^2 * 18 = 13.679664 * 18 = 246.23
    assert trials_two_sided(0.9, 0.1, alpha=0.1, beta=0.02) == 247


def test_eq_6_takes_one_side_and_both_variances() -> None:
    # (1.644854 + 1.281552)^2 = 8.563847; times (.09 + .16)/.01 = 25 gives 214.10
    assert trials_one_sided(0.9, 0.8) == 215
    # alpha .01, beta .2: (2.326348 + .841621)^2 * 25 = 10.036028 * 25 = 250.90
    assert trials_one_sided(0.9, 0.8, alpha=0.01, beta=0.2) == 251
    # alpha .1, beta .02: (1.281552 + 2.053749)^2 * 25 = 11.124232 * 25 = 278.11
    assert trials_one_sided(0.9, 0.8, alpha=0.1, beta=0.02) == 279


def reaches(n: int, effect: float, level: float, power: float) -> bool:
    """Whether a one-sided test with n trials in each arm has the power, by statsmodels."""
    found: float = NormalIndPower().power(effect, n, level, alternative="larger") if n else 0.0
    return found >= power - 1e-9  # which is some trials in ten thousand where the power is nearly 1


@given(rates, st.floats(0.02, 0.5), errors, errors)
def test_statsmodels_plans_the_same_two_sided(p: float, delta: float, alpha: float, beta: float) -> None:
    n, effect = trials_two_sided(p, delta, alpha=alpha, beta=beta), delta / math.sqrt(p * (1 - p))
    assert reaches(n, effect, alpha / 2, 1 - beta)
    assert not reaches(n - 1 - n // 10_000, effect, alpha / 2, 1 - beta)


@given(rates, rates, errors, errors)
def test_statsmodels_plans_the_same_one_sided(pb: float, pc: float, alpha: float, beta: float) -> None:
    if abs(pb - pc) > 0.01:
        n = trials_one_sided(pb, pc, alpha=alpha, beta=beta)
        effect = abs(pb - pc) / math.sqrt((pb * (1 - pb) + pc * (1 - pc)) / 2)
        assert reaches(n, effect, alpha, 1 - beta)
        assert not reaches(n - 1 - n // 10_000, effect, alpha, 1 - beta)


@given(rates, errors, errors)
def test_a_smaller_difference_takes_more_trials(p: float, alpha: float, beta: float) -> None:
    planned = [trials_two_sided(p, delta, alpha=alpha, beta=beta) for delta in (0.4, 0.2, 0.1, 0.05)]
    assert planned == sorted(planned)


def test_certain_rates_take_one_trial() -> None:
    assert trials_one_sided(1.0, 0.0) == 1


@given(st.floats(0.005, 0.9), st.sampled_from([0.8, 0.9, 0.95, 0.99]), st.floats(0.0, 1.0))
def test_the_runs_for_a_half_width_are_the_least(width: float, level: float, p: float) -> None:
    n = trials_for_half_width(width, level, p=p)
    assert half_width(n, level, p=p) <= width * (1 + 1e-8)
    assert n == 1 or half_width(n - 1, level, p=p) > width


def test_a_half_width_that_is_met_exactly_takes_no_trial_more() -> None:
    # (1.96/.02)^2/4 = 98^2/4 and (1.96/.01)^2/4 = 196^2/4, which floats put a little above
    assert trials_for_half_width(0.02, z=1.96) == 2401
    assert trials_for_half_width(0.01, z=1.96) == 9604


def test_the_exact_quantile_is_the_default() -> None:
    assert half_width(50) == pytest.approx(0.1385904, abs=1e-7)  # 1.959964 * .5 / sqrt(50)
    assert half_width(50, z=1.96) == pytest.approx(0.1385929, abs=1e-7)
    assert half_width(100, p=0.1) == pytest.approx(0.6 * half_width(100))  # sqrt(.09/.25)


@given(st.floats(0.05, 0.995), st.sampled_from([0.01, 0.05, 0.1, 0.2]))
def test_one_all_pass_trial_less_cannot_pass(theta: float, alpha: float) -> None:
    n = least_passing_n(theta, alpha)
    assert wilson(n, n, 1 - alpha).low >= theta - 1e-9
    assert n == 1 or wilson(n - 1, n - 1, 1 - alpha).low < theta
    m = least_passing_n(theta, alpha, Bound.CLOPPER_PEARSON)

    def low(k: int) -> float:
        return float(binomtest(k, k).proportion_ci(1 - alpha, method="exact").low)

    assert low(m) >= theta - 1e-9
    assert m == 1 or low(m - 1) < theta


def test_a_fraction_of_a_trial_is_a_trial() -> None:
    assert [whole(x) for x in (0.0, 0.2, 1.0, 1.001, 7 + 1e-12)] == [1, 1, 1, 2, 7]


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        (lambda: trials_two_sided(1.0, 0.1), r"p must be in \(0, 1\), got 1.0"),
        (lambda: trials_two_sided(0.9, 0.0), r"delta must be in \(0, 1\), got 0.0"),
        (lambda: trials_two_sided(0.9, math.nan), r"delta must be in \(0, 1\), got nan"),
        (lambda: trials_two_sided(0.9, 0.1, alpha=0.5, beta=0.8), "alpha/2 \\+ beta must be below 1"),
        (lambda: trials_one_sided(0.9, 0.8, alpha=5), r"alpha must be in \(0, 1\), got 5"),
        (lambda: trials_one_sided(0.9, 0.8, beta=0.0), r"beta must be in \(0, 1\), got 0.0"),
        (lambda: trials_one_sided(0.9, 0.8, alpha=0.5, beta=0.5), "^alpha \\+ beta must be below 1"),
        (lambda: trials_one_sided(0.9, 0.9), "p_current must differ from p_baseline, got 0.9"),
        (lambda: trials_one_sided(0.9, -0.1), r"p_current must be in \[0, 1\], got -0.1"),
        (lambda: half_width(0), "n must be a whole number of at least 1, got 0"),
        (lambda: half_width(10, z=-1.0), r"z must be in \(0, inf\), got -1.0"),
        (lambda: half_width(10, z=math.inf), r"z must be in \(0, inf\), got inf"),
        (lambda: trials_for_half_width(0.0), r"width must be in \(0, 1\), got 0.0"),
        (lambda: trials_for_half_width(0.1, 95), r"level must be in \(0, 1\), got 95"),
        (lambda: least_passing_n(1.0), r"theta must be in \(0, 1\), got 1.0"),
    ],
)
def test_bad_input_is_named_with_its_range(planned: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        planned()


def test_an_unknown_bound_is_refused() -> None:
    unknown: Any = "wald"
    with pytest.raises(ValueError, match="bound must be one of wilson, clopper-pearson, got 'wald'"):
        least_passing_n(0.9, 0.05, unknown)
