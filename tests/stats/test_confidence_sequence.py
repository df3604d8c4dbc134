import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.sequential.confidence_sequence import anytime_bounds, anytime_interval
from benchmarks.calibration.intervals import bounds_by_count, ever_outside

counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def mixture_ratio(k: int, n: int, p: float) -> float:
    """The mixture by quadrature over q = sin^2(t), which is uniform in t for Beta(1/2, 1/2)."""

    def chance(t: float) -> float:
        return float(math.sin(t) ** (2 * k) * math.cos(t) ** (2 * (n - k)))

    mixed = quad(chance, 0, math.pi / 2)[0] * 2 / math.pi
    return float(mixed / (p**k * (1 - p) ** (n - k)))


def test_the_bounds_of_one_failure_by_hand() -> None:
    # k = 0, n = 1: mixture 1/2, so 1/2 / (1 - p) = 20 at p = 1 - 1/40
    assert anytime_interval(0, 1)[1:3] == pytest.approx((0.0, 0.975))
    # k = 0, n = 2: mixture E[(1-q)^2] = 3/8, so (1 - p)^2 = 3/80 at level 0.9: 3/8 / (1-p)^2 = 10
    assert anytime_interval(0, 2, 0.9).high == pytest.approx(1 - math.sqrt(3 / 80))


@pytest.mark.parametrize(("k", "n", "level"), [(3, 10, 0.95), (9, 10, 0.9), (18, 20, 0.99), (1, 30, 0.95)])
def test_the_bounds_are_where_the_quadrature_reaches_the_limit(k: int, n: int, level: float) -> None:
    found = anytime_interval(k, n, level)
    limit = 1 / (1 - level)
    low = brentq(lambda p: mixture_ratio(k, n, p) - limit, 1e-9, k / n)
    high = brentq(lambda p: mixture_ratio(k, n, p) - limit, k / n, 1 - 1e-9)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-7)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.99])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9, 0.99])
def test_the_rate_is_inside_at_all_times_as_often_as_stated(p: float, level: float) -> None:
    missed = ever_outside(bounds_by_count(level, 100), p)
    assert 0 < missed <= 1 - level


def test_missing_within_two_trials_is_counted_by_hand() -> None:
    # level 0.2: limit 1.25. n = 1: 1/2 / p > 1.25 excludes p < 0.4, and by symmetry p > 0.6 after a failure
    # p = 0.3: excluded after a success; after a failure [0, 0.6], and for two failures 3/8 / 0.49 < 1.25,
    # for failure, success: B(3/2, 3/2)/B(1/2, 1/2) = 1/8, 1/8 / 0.21 < 1.25
    assert ever_outside(bounds_by_count(0.2, 2), 0.3) == pytest.approx(0.3)


def test_a_fixed_n_interval_at_every_look_misses_far_more_often() -> None:
    bounds = []
    for n in range(1, 101):
        found = [wilson(k, n) for k in range(n + 1)]
        bounds.append((np.array([i.low for i in found]), np.array([i.high for i in found])))
    assert ever_outside(bounds, 0.5) > 0.2


@given(counts, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_bounds_are_mirrored_inside_zero_to_one_and_around_the_estimate(
    kn: tuple[int, int], level: float
) -> None:
    k, n = kn
    one, other = anytime_interval(k, n, level), anytime_interval(n - k, n, level)
    assert 0 <= one.low <= k / n <= one.high <= 1
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)
    assert (one.low == 0) == (k == 0)


def test_bounds_stay_exact_for_many_trials_and_high_levels() -> None:
    found = anytime_interval(999_999, 1_000_000, 1 - 1e-9)
    # the upper end differs from 1 by 3e-19, less than floating point can tell
    assert 0.99995 < found.low < 0.999999 < found.high <= 1
    tiny = anytime_interval(1, 1, 1 - 1e-12)
    assert tiny.low == pytest.approx(0.5e-12, rel=1e-3)  # 1/2 / p = 10^12


def test_no_trials_leave_everything_possible() -> None:
    assert anytime_interval(0, 0)[:5] == (None, 0.0, 1.0, 0.95, 0)
    low, high = anytime_bounds(np.zeros((2, 3)), np.zeros((2, 3)))
    assert (low == 0).all()
    assert (high == 1).all()


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (anytime_interval, (5, 4), "k must be a whole number of at least 0 and at most 4, got 5"),
        (anytime_interval, (1, 4, 1.0), r"level must be in \(0, 1\), got 1.0"),
        (anytime_bounds, ([1.5], [2]), "k and n must be whole numbers"),
        (anytime_bounds, ([math.nan], [2]), "k and n must be whole numbers"),
        (anytime_bounds, ([1], [math.inf]), "k and n must be whole numbers"),
        (anytime_bounds, ([3], [2]), "k must be at least 0 and at most n"),
        (anytime_bounds, ([1, 2], [2]), r"k and n must have one shape, got \(2,\) and \(1,\)"),
    ],
)
def test_bad_input_is_named(call: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(*arguments)
