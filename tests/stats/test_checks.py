import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from agentmut.stats.checks import check_level, check_rate
from agentmut.stats.intervals.differences import newcombe
from agentmut.stats.intervals.proportion import clopper_pearson, wilson
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.verdicts.scenario_verdict import fixed_verdict

NEAREST_TO_ONE = math.nextafter(1, 0)


@pytest.mark.parametrize("odd", [True, False, np.True_, "0.5", None, [0.5], 0.5j, math.nan, math.inf])
def test_a_rate_that_is_no_number_is_refused_by_name(odd: Any) -> None:
    with pytest.raises(ValueError, match=r"beta must be in \[0, 1\], got"):
        check_rate("beta", odd, closed=True)


@pytest.mark.parametrize("number", [0.5, np.float64(0.5), np.float32(0.5), Fraction(1, 2)])
def test_any_real_number_is_a_rate(number: Any) -> None:
    assert check_rate("beta", number) == 0.5


@pytest.mark.parametrize(
    "interval", [wilson, clopper_pearson, lambda k, n, level: newcombe(k, n, k, n, level)]
)
def test_a_level_without_a_finite_quantile_is_refused_by_name(interval: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="level must be at most"):
        interval(3, 5, NEAREST_TO_ONE)


def test_levels_close_to_one_are_taken_as_long_as_they_have_a_quantile() -> None:
    assert check_level(1 - 1e-15) == 1 - 1e-15


@pytest.mark.parametrize("threshold", ["0.9", True, None])
def test_a_threshold_that_is_no_number_is_refused(threshold: Any) -> None:
    with pytest.raises(ValueError, match=r"threshold must be in \(0, 1\], got"):
        fixed_verdict(3, 5, threshold)
    with pytest.raises(ValueError, match=r"threshold must be in \(0, 1\], got"):
        SprtDesign(threshold)
