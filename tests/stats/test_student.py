"""Quantiles of Student's t against scipy's."""

import pytest
from scipy.special import stdtrit

from agentmut.stats.intervals.student import t_quantile


@pytest.mark.parametrize("degrees", [*range(1, 41), 99, 100, 999, 1000])
def test_a_quantile_is_that_of_scipy_to_a_thousandth_of_a_millionth(degrees: int) -> None:
    for p in (1e-6, 0.01, 0.2, 0.6, 0.9, 0.975, 0.995, 0.9999, 1 - 1e-6):
        assert t_quantile(degrees, p) == pytest.approx(float(stdtrit(degrees, p)), rel=1e-9)


def test_the_median_is_zero() -> None:
    assert [t_quantile(degrees, 0.5) for degrees in (1, 2, 9)] == pytest.approx([0.0] * 3, abs=1e-12)


@pytest.mark.parametrize(("degrees", "p"), [(0, 0.9), (3, 0.0), (3, 1.0)])
def test_what_no_quantile_is_of_is_refused(degrees: int, p: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        t_quantile(degrees, p)
