"""McNemar's test, against sums by hand and statsmodels."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from agentmut.stats.tests.paired import mcnemar_paired, mcnemar_test
from agentmut.stats.tests.significance import Alternative

LESS, GREATER, TWO_SIDED = Alternative.LESS, Alternative.GREATER, Alternative.TWO_SIDED


def test_few_pairs_are_judged_by_the_binomial() -> None:
    # 5 to 0: 2/32; one-sided 1/32 and 1
    assert mcnemar_test(5, 0, TWO_SIDED).p_value == pytest.approx(2 / 32)
    assert mcnemar_test(5, 0, GREATER).p_value == pytest.approx(1 / 32)
    assert mcnemar_test(5, 0, LESS).p_value == 1
    assert "exact" in mcnemar_test(24, 0, LESS).method


def test_from_25_pairs_on_chi_square_is_corrected() -> None:
    # 20 to 5: (15 - 1)^2/25 = 7.84, root 2.8: P(|Z| > 2.8) = .005110; one-sided (15 - 1)/5 and (15 + 1)/5 = 3.2
    found = mcnemar_test(20, 5, TWO_SIDED)
    assert found.statistic == pytest.approx(7.84)
    assert found.p_value == pytest.approx(0.005110, abs=1e-6)
    assert mcnemar_test(20, 5, GREATER).p_value == pytest.approx(0.002555, abs=1e-6)
    assert mcnemar_test(20, 5, LESS).p_value == pytest.approx(1 - 0.000687, abs=1e-6)


@given(st.integers(0, 60), st.integers(0, 60))
def test_statsmodels_agrees(b: int, c: int) -> None:
    exact = b + c < 25
    if b + c and (exact or b != c):  # at b = c statsmodels squares a correction of -1
        found = mcnemar([[3, b], [c, 9]], exact=exact, correction=True)
        assert mcnemar_test(b, c, TWO_SIDED).p_value == pytest.approx(found.pvalue, rel=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_swapping_the_versions_swaps_the_alternative(b: int, c: int) -> None:
    assert mcnemar_test(b, c, LESS).p_value == pytest.approx(mcnemar_test(c, b, GREATER).p_value)
    assert mcnemar_test(b, c, TWO_SIDED).p_value == pytest.approx(mcnemar_test(c, b, TWO_SIDED).p_value)


@pytest.mark.parametrize("pairs", [24, 26, 200])
def test_more_pairs_for_the_first_are_more_evidence(pairs: int) -> None:
    p_values = [mcnemar_test(b, pairs - b, GREATER).p_value for b in range(pairs + 1)]
    assert p_values == sorted(p_values, reverse=True)
    assert max(p_values) <= 1


@pytest.mark.parametrize("alternative", list(Alternative))
def test_no_discordant_pair_shows_nothing(alternative: Alternative) -> None:
    assert mcnemar_test(0, 0, alternative).p_value == 1
    assert mcnemar_paired([True, False], [True, False], alternative).p_value == 1


@pytest.mark.parametrize("half", [1, 12, 13, 500])
def test_a_draw_shows_nothing(half: int) -> None:
    assert mcnemar_test(half, half, TWO_SIDED).p_value == 1


def test_pairs_are_counted_by_who_passed_alone() -> None:
    first = [True, True, True, True, False, True, False]
    second = [False, False, False, True, True, False, False]
    assert mcnemar_paired(first, second, GREATER) == mcnemar_test(4, 1, GREATER)
    assert mcnemar_paired(second, first, GREATER) == mcnemar_test(1, 4, GREATER)


def test_arrays_and_ones_are_outcomes_too() -> None:
    first: Any = np.array([1, 1, 0])
    second: Any = np.array([False, True, True])
    assert mcnemar_paired(first, second, LESS) == mcnemar_test(1, 1, LESS)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([True], [True, False], "of one length, at least 1, got 1 and 2"),
        ([], [], "of one length, at least 1, got 0 and 0"),
        ([True, 2], [True, False], "first must hold True and False only, got 2 at position 1"),
        ([True], [math.nan], "second must hold True and False only, got nan at position 0"),
        ([True], [None], "second must hold True and False only, got None at position 0"),
    ],
)
def test_bad_pairs_are_named(first: Any, second: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mcnemar_paired(first, second, LESS)


@pytest.mark.parametrize(("b", "c", "name"), [(-1, 2, "b"), (1, 2.5, "c"), (math.nan, 1, "b")])
def test_bad_counts_are_named(b: Any, c: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 0"):
        mcnemar_test(b, c, LESS)
