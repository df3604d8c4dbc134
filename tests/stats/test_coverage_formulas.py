import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean

from agentmut.stats.score.coverage import chao1, overall_coverage, state_coverage


def test_as_many_states_as_expected_give_one_less_one_over_e() -> None:
    assert state_coverage(50, 50) == pytest.approx(1 - 1 / math.e)
    assert state_coverage(0, 50) == 0.0


@given(st.integers(0, 1000), st.floats(0.5, 1e6))
def test_another_state_never_lowers_the_coverage(states: int, scale: float) -> None:
    assert 0 <= state_coverage(states, scale) <= state_coverage(states + 1, scale) <= 1


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.1, 9)), min_size=1, max_size=6))
def test_overall_coverage_is_the_weighted_geometric_mean_of_scipy(pairs: list[tuple[float, float]]) -> None:
    covered, weights = zip(*pairs, strict=True)
    assert overall_coverage(covered) == pytest.approx(gmean(covered))
    assert overall_coverage(covered, weights) == pytest.approx(gmean(covered, weights=weights))


def test_a_dimension_without_coverage_makes_the_whole_zero_unless_it_has_no_weight() -> None:
    assert overall_coverage([1, 0, 0.5]) == 0.0
    assert overall_coverage([1, 0, 0.25], [1, 0, 1]) == pytest.approx(0.5)


def test_chao1_by_hand() -> None:
    # 10 + 4^2 / (2 * 2)
    assert chao1(10, 4, 2) == 14.0
    # no path seen twice: 10 + 4 * 3 / 2
    assert chao1(10, 4, 0) == 16.0
    assert chao1(10, 1, 0) == chao1(10, 0, 0) == chao1(10, 0, 3) == 10
    assert chao1(0, 0, 0) == 0


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_chao1_is_at_least_what_was_observed(once: int, twice: int, more: int) -> None:
    assert chao1(once + twice + more, once, twice) >= once + twice + more


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: state_coverage(-1, 50), "states must be a whole number of at least 0, got -1"),
        (lambda: state_coverage(1, 0), r"scale must be in \(0, inf\), got 0"),
        (lambda: state_coverage(1, math.nan), "scale must be in"),
        (lambda: overall_coverage([]), r"dimensions must not be empty, got \[\]"),
        (lambda: overall_coverage([1.2]), r"dimensions must be in \[0, 1\], got 1.2"),
        (lambda: overall_coverage([0.5], [1, 2]), "weights must be 1, one a dimension, got 2"),
        (lambda: overall_coverage([0.5], [-1]), "weights must be in"),
        (lambda: overall_coverage([0.5], [0]), r"weights must not all be 0, got \[0\]"),
        (lambda: chao1(3, 4, 0), "once must be a whole number of at least 0 and at most 3, got 4"),
        (lambda: chao1(3, 2, 2), "twice must be a whole number of at least 0 and at most 1, got 2"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_arrays_are_taken_like_lists() -> None:
    dimensions: Any = np.array([0.25, 1.0])
    weights: Any = np.array([1.0, 1.0])
    assert overall_coverage(dimensions, weights) == pytest.approx(0.5)  # the root of .25
    with pytest.raises(ValueError, match="dimensions must not be empty"):
        overall_coverage(dimensions[:0])


def test_far_more_states_than_expected_are_all_but_full_coverage() -> None:
    assert state_coverage(1000, 1) == 1.0
    assert state_coverage(30, 1) < 1.0
