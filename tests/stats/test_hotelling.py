import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind
from statsmodels.stats.multivariate import test_mvmean_2indep as mean_test
from statsmodels.stats.power import FTestAnovaPower

from agentmut.stats.traces.hotelling import effective_dimension, hotelling_t2
from benchmarks.calibration.traces import hotelling_power

ALL = 0.9999999
"""A share of the variance that keeps every component."""


def samples(n0: int, n: int, d: int, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d))
    return rng.standard_normal((n0, d)) @ mixing, rng.standard_normal((n, d)) @ mixing + 0.4


@pytest.mark.parametrize(("n0", "n", "d"), [(30, 20, 4), (8, 5, 3), (100, 4, 6)])
def test_on_all_components_it_is_the_t2_of_statsmodels(n0: int, n: int, d: int) -> None:
    first, second = samples(n0, n, d)
    found, expected = hotelling_t2(first, second, ALL), mean_test(first, second)
    assert found.dimension == d and found.test is not None
    assert found.test.statistic == pytest.approx(expected.t2)
    assert found.test.p_value == pytest.approx(expected.pvalue)


def test_with_one_feature_it_is_the_t_test_squared() -> None:
    first, second = [1.0, 3, 4, 7], [5.0, 9, 8]
    found, expected = hotelling_t2(first, second).test, ttest_ind(first, second)
    assert found is not None
    assert found.statistic == pytest.approx(expected.statistic**2)
    assert found.p_value == pytest.approx(expected.pvalue)


def test_on_fewer_components_it_is_the_t2_of_the_projected_features() -> None:
    first, second = samples(40, 25, 5, seed=4)
    both = np.concatenate([first, second])
    both = (both - both.mean(axis=0)) / both.std(axis=0)
    values, vectors = np.linalg.eigh(np.cov(both.T))
    kept = int(np.argmax(np.cumsum(values[::-1]) / values.sum() >= 0.8)) + 1
    projected = both @ vectors[:, ::-1][:, :kept]
    found, expected = hotelling_t2(first, second, 0.8), mean_test(projected[:40], projected[40:])
    assert found.dimension == kept < 5 and found.test is not None
    assert found.test.statistic == pytest.approx(expected.t2)


def test_units_and_constant_features_do_not_matter() -> None:
    first, second = samples(20, 10, 3)
    plain = hotelling_t2(first, second).test
    scaled = hotelling_t2(
        np.hstack([first * [1e6, 1, 1e-6], np.ones((20, 1))]),
        np.hstack([second * [1e6, 1, 1e-6], np.ones((10, 1))]),
    ).test
    assert plain is not None and scaled is not None
    assert scaled.p_value == pytest.approx(plain.p_value)


def test_it_says_where_it_is_undefined() -> None:
    rng = np.random.default_rng(1)
    few = hotelling_t2(rng.standard_normal((3, 14)), rng.standard_normal((2, 14)))
    assert few.test is None
    assert str(few) == f"T2 undefined: 3 + 2 - 2 = 3 must exceed the effective dimension {few.dimension}"
    assert str(hotelling_t2(np.ones((3, 2)), np.ones((4, 2)))) == "T2 undefined: no feature varies"
    parted = hotelling_t2([0, 0, 0], [1, 1])
    assert str(parted) == "T2 undefined: the samples do not vary within themselves along some component"


def test_equal_means_have_a_p_of_one() -> None:
    found = hotelling_t2([-1, 1, 0], [-2, 2, 0]).test
    assert found is not None
    assert (found.statistic, found.p_value) == pytest.approx((0, 1))


def test_it_prints_statistic_dimension_and_degrees_of_freedom() -> None:
    assert str(hotelling_t2([1.0, 3, 4, 7], [5.0, 9, 8])).endswith(
        "effective dimension 1; p = 0.101 (two-sided, Hotelling T2, F(1, 5), n=7)"
    )


def test_effective_dimension_counts_the_components_that_reach_the_share() -> None:
    # independent columns with variances 16 : 3 : 1; 80 %, 95 % and 100 % of the sum
    a = math.sqrt
    corners = np.array([[x, y, z] for x in (-4, 4) for y in (-a(3), a(3)) for z in (-1, 1)])
    assert effective_dimension(corners, 0.80) == 1
    assert effective_dimension(corners, 0.81) == 2
    assert effective_dimension(corners, 0.95) == 2
    assert effective_dimension(corners, 0.951) == 3
    assert effective_dimension(np.ones((4, 3))) == 0


def test_power_with_one_dimension_is_that_of_the_two_sample_f_test() -> None:
    # statsmodels: two groups of 20 in one-way ANOVA; Cohen's f is half of the distance
    expected = FTestAnovaPower().power(0.8 / 2, 40, 0.01, k_groups=2)
    assert hotelling_power(20, 20, 0.8, 1, 0.01) == pytest.approx(expected, abs=1e-6)


def test_power_without_a_difference_is_the_level() -> None:
    assert hotelling_power(20, 30, 0.0, 5, 0.03) == 0.03
    assert hotelling_power(20, 30, 1e-4, 5, 0.03) == pytest.approx(0.03, abs=1e-6)
    assert hotelling_power(20, 30, 1e6, 5, 0.03) == pytest.approx(1.0)


def test_power_is_the_share_of_rejections() -> None:
    rng, hits = np.random.default_rng(2), 0
    for _ in range(1500):
        second = rng.standard_normal((12, 3))
        second[:, 1] += 1.2
        test = hotelling_t2(rng.standard_normal((18, 3)), second, ALL).test
        hits += test is not None and test.p_value <= 0.05
    # standard error .012
    assert hits / 1500 == pytest.approx(hotelling_power(18, 12, 1.2, 3), abs=0.045)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hotelling_power(3, 2, 1.0, 3), "n0 . n - 2 must exceed d, got n0=3, n=2, d=3"),
        (lambda: hotelling_power(0, 9, 1.0, 3), "n0 must be a whole number of at least 1, got 0"),
        (lambda: hotelling_power(9, 9, -1.0, 3), r"distance must be in \[0, inf\], got -1.0"),
        (lambda: hotelling_power(9, 9, 1.0, 3, 1.0), r"alpha must be in \(0, 1\), got 1.0"),
        (lambda: hotelling_t2([[1, 2]], [[1, 2]], 1.0), r"share must be in \(0, 1\), got 1.0"),
        (lambda: effective_dimension([[math.nan]]), "sample must hold numbers"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("distance", [1e100, 1e200, math.inf])
def test_the_power_at_an_immense_distance_is_one(distance: float) -> None:
    assert hotelling_power(10, 10, distance, 3) == 1.0
