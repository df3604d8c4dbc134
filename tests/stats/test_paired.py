"""McNemar's test, against sums by hand and statsmodels."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from agentmut.stats.tests.paired import mcnemar_test
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


@pytest.mark.parametrize("half", [1, 12, 13, 500])
def test_a_draw_shows_nothing(half: int) -> None:
    assert mcnemar_test(half, half, TWO_SIDED).p_value == 1


@pytest.mark.parametrize(("b", "c", "name"), [(-1, 2, "b"), (1, 2.5, "c"), (math.nan, 1, "b")])
def test_bad_counts_are_named(b: Any, c: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 0"):
        mcnemar_test(b, c, LESS)


@pytest.mark.parametrize("alternative", list(Alternative))
def test_no_discordant_pair_shows_nothing(alternative: Alternative) -> None:
    assert mcnemar_test(0, 0, alternative).p_value == 1
