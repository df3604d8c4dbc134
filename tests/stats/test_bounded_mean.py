"""Gaffke's bounds of a mean: Clopper and Pearson's for values of 0 and 1, and quantiles of drawn weights for others."""

import numpy as np
import pytest

from agentmut.stats import clopper_pearson
from agentmut.stats.intervals.bounded_mean import bounded_mean


@pytest.mark.parametrize("level", [0.9, 0.95, 0.9999])
@pytest.mark.parametrize("total", [1, 2, 5, 30, 500, 5000])
def test_bounds_of_zeros_and_ones_are_clopper_and_pearsons(total: int, level: float) -> None:
    for ones in {0, 1, total // 10, total // 2, total - 1, total}:
        found = bounded_mean([1.0] * ones + [0.0] * (total - ones), level)
        exact = clopper_pearson(ones, total, level)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=2e-9)


@pytest.mark.parametrize("values", [[0.25, 0.5, 0.9, 1.0], [0.0] * 6 + [0.001, 1.0], [1 - 1e-6, 0.3]])
def test_bounds_are_quantiles_of_the_mean_under_drawn_weights(values: list[float]) -> None:
    draws = 400_000
    weights = np.random.default_rng(11).dirichlet(np.ones(len(values) + 1), draws)
    found = bounded_mean(values)
    below = np.mean(weights @ [*values, 0.0] <= found.low)
    above = np.mean(weights @ [*values, 1.0] >= found.high)
    assert (below, above) == pytest.approx((0.025, 0.025), abs=5 * (0.025 * 0.975 / draws) ** 0.5)
