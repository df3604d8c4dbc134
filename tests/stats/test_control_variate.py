import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.regression.linear_model import OLS

from agentmut.stats.control_variate import control_variate, proxy_cost_share

P = st.floats(1e-9, 1 - 1e-9)
PAIRS = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=40)


def test_a_control_variate_moves_the_estimate_along_the_regression() -> None:
    # proxy 0, 0, 1, 1 and target 0, 1, 1, 1: slope .5, means .5 and .75; at a proxy mean of .7: .75 + .5 * .2
    found = control_variate([False, True, True, True], [0, 0, 1, 1], 0.7)
    assert found.interval.estimate == pytest.approx(0.85)
    # correlation: covariance .5 over sqrt(1 * .75)
    assert found.correlation == pytest.approx(0.5 / math.sqrt(0.75))
    assert found.variance_ratio == pytest.approx(1 - 0.25 / 0.75)


def test_the_interval_is_the_regression_with_four_more_trials() -> None:
    passed, proxy = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1], [3.0, 2, 1, 3, 1, 2, 3, 2, 1, 3]
    sd = float(np.std(proxy))
    x = np.r_[np.array(proxy) - 2.2, -sd, sd, -sd, sd]
    fit = OLS(np.r_[passed, 1, 1, 0, 0], np.column_stack([np.ones(14), x])).fit(cov_type="HC2", use_t=True)
    # and one disagreement of each kind, since z^2/4 = 1.645^2/4 < 1; t(.95) with 12 degrees of freedom is 1.782288
    half = 1.782288 * math.sqrt(fit.bse[0] ** 2 + 2 / 14**2)
    found = control_variate([bool(p) for p in passed], proxy, 2.2, level=0.9).interval
    expected = (max(0, fit.params[0] - half), min(1, fit.params[0] + half))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)
    assert (found.level, found.n, found.method) == (0.9, 10, "control variate")


def test_a_constant_proxy_leaves_the_plain_rate() -> None:
    found = control_variate([True, True, False, True], [1, 1, 1, 1], 0.2)
    assert (found.interval.estimate, found.correlation) == (0.75, 0.0)
    assert found.interval.low < 0.5 and found.interval.high == 1.0
    away = control_variate([False, False, True], [0, 0, 0], 0.7205078125)  # whose mean is rounded
    assert away.interval.estimate == pytest.approx(1 / 3)


def test_all_passed_or_a_perfect_proxy_still_leave_width() -> None:
    assert control_variate([True] * 20, [0, 1] * 10, 0.5).interval.low < 0.9
    perfect = control_variate([True, False] * 10, [1, 0] * 10, 0.5)
    assert perfect.interval.high - perfect.interval.low > 0.1
    assert perfect.correlation == pytest.approx(1)


def test_an_uncertain_proxy_mean_widens_the_interval() -> None:
    passed, proxy = [True, True, False, True, False] * 10, [1.0, 1, 0, 1, 1] * 10
    sharp, vague = (control_variate(passed, proxy, 0.8, error).interval for error in (0.0, 0.1))
    assert vague.estimate == sharp.estimate
    assert vague.high - vague.low > sharp.high - sharp.low


@settings(max_examples=60)
@given(PAIRS, st.floats(-4, 4), st.floats(0.1, 10), st.floats(-5, 5))
def test_the_estimate_is_inside_and_the_proxys_units_do_not_matter(
    pairs: list[tuple[bool, int]], mean: float, factor: float, shift: float
) -> None:
    passed, proxy = [p for p, _ in pairs], [float(x) for _, x in pairs]
    found = control_variate(passed, proxy, mean).interval
    assert found.estimate is not None
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    scaled = control_variate(passed, [factor * x + shift for x in proxy], factor * mean + shift).interval
    assert scaled[:3] == pytest.approx(found[:3], abs=1e-5)


def test_a_good_proxy_shortens_the_interval_and_keeps_its_coverage() -> None:
    rng, inside, width = np.random.default_rng(4), 0, 0.0
    for _ in range(400):
        passed = rng.random(80) < 0.7
        proxy = passed & (rng.random(80) < 0.9)
        found = control_variate(passed.tolist(), proxy.tolist(), 0.63).interval
        inside += found.low <= 0.7 <= found.high
        width += (found.high - found.low) / 400
    plain = 2 * norm.isf(0.025) * math.sqrt(0.7 * 0.3 / 80)
    assert inside / 400 == pytest.approx(0.95, abs=0.04)
    assert width < 0.75 * plain


def covered(
    rng: np.random.Generator, p: float, runs: int, n: int, right: tuple[float, float], level: float
) -> float:
    """Share of intervals that hold p, with a binary proxy that passes passes and fails with these chances."""
    mean, inside = p * right[0] + (1 - p) * right[1], 0
    for _ in range(runs):
        passed = rng.random(n) < p
        proxy = rng.random(n) < np.where(passed, *right)
        found = control_variate(passed.tolist(), proxy.tolist(), mean, level=level).interval
        inside += found.low <= p <= found.high
    return inside / runs


@pytest.mark.parametrize(
    ("n", "p", "right"),
    [(200, 0.9, (0.99, 0.01)), (100, 0.95, (0.98, 0.02)), (50, 0.9, (0.95, 0.05)), (200, 0.97, (0.99, 0.01))],
)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_a_proxy_that_is_hardly_ever_wrong_keeps_the_coverage(
    n: int, p: float, right: tuple[float, float], level: float
) -> None:
    # disagreements of one kind are far more frequent than of the other, and often none is seen
    found = covered(np.random.default_rng(8), p, 500, n, right, level)
    assert found >= level - (0.02 if level >= 0.95 else 0.07)


def test_a_skewed_proxy_keeps_the_coverage() -> None:
    rng, inside = np.random.default_rng(9), 0
    for _ in range(800):
        passed = rng.random(50) < 0.9
        proxy = rng.exponential(np.where(passed, 0.2, 3.0))
        found = control_variate(passed.tolist(), proxy.tolist(), 0.9 * 0.2 + 0.1 * 3).interval
        inside += found.low <= 0.9 <= found.high
    assert inside / 800 >= 0.93


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([True], [1], 0.5), "passed must have at least 2 rows"),
        (("10", "10", 0.5), "passed must hold numbers, got text"),
        (([True, False], ["1", "0"], 0.5), "proxy must hold numbers, got text"),
        (([True, False], [[1, 2], [3, 4]], 0.5), r"proxy must be one number a trial, got shape \(2, 2\)"),
        (([True, False], [1], 0.5), "passed and proxy must be pairs, got 2 and 1"),
        (([2, 0], [1, 2], 0.5), "passed must be true or false"),
        (([True, False], [1, math.nan], 0.5), "must hold numbers"),
        (([True, False], [1, 2], math.nan), "proxy_mean must be in"),
        (([True, False], [1, 2], 0.5, -1.0), "proxy_error must be in"),
        (([True, False], [1, 2], 0.5, 0.0, 95), r"level must be in \(0, 1\), got 95"),
    ],
)
def test_bad_pairs_are_named(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        control_variate(*arguments)


def test_the_cost_share_of_the_paper() -> None:
    # 1 - .64 + .064 and 1 - .81 + .081
    assert [proxy_cost_share(rho) for rho in (0.8, 0.9)] == pytest.approx([0.424, 0.271])
    assert proxy_cost_share(-0.8) == proxy_cost_share(0.8)
    assert proxy_cost_share(0.0) == 1.0
    with pytest.raises(ValueError, match=r"correlation must be in \[-1, 1\], got 1.5"):
        proxy_cost_share(1.5)
    with pytest.raises(ValueError, match=r"cost_ratio must be in \[0, 1\], got -0.1"):
        proxy_cost_share(0.5, -0.1)
