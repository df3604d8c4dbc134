"""Permutation tests, against enumerations by hand and other exact tests."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from agentmut.stats.tests.permutation import least_p, paired_permutation_test, permutation_test
from agentmut.stats.tests.proportions import fisher_test
from agentmut.stats.tests.significance import Alternative

LESS, GREATER, TWO_SIDED = Alternative.LESS, Alternative.GREATER, Alternative.TWO_SIDED
Floats = NDArray[np.float64]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_the_extreme_split_of_six_is_one_of_twenty() -> None:
    assert permutation_test([1, 2, 3], [4, 5, 6], LESS, rng=rng()).p_value == pytest.approx(1 / 20)
    assert permutation_test([1, 2, 3], [4, 5, 6], TWO_SIDED, rng=rng()).p_value == pytest.approx(2 / 20)
    assert permutation_test([1, 2, 3], [4, 5, 6], GREATER, rng=rng()).p_value == 1
    assert permutation_test([1, 2, 3], [4, 5, 6], LESS, rng=rng()).statistic == -3


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=7), st.lists(st.booleans(), min_size=2, max_size=7))
def test_outcomes_of_0_and_1_give_fishers_p(first: list[bool], second: list[bool]) -> None:
    for side in (LESS, GREATER):
        found = permutation_test(first, second, side, rng=rng(), resamples=4000)
        fisher = fisher_test(sum(first), len(first), sum(second), len(second), side)
        assert found.p_value == pytest.approx(fisher.p_value)


def test_sign_flips_by_hand() -> None:
    # differences 4, 2, 3: only the observed signs reach a mean of 3, of eight
    assert paired_permutation_test([5, 4, 6], [1, 2, 3], GREATER, rng=rng()).p_value == 1 / 8
    assert paired_permutation_test([5, 4, 6], [1, 2, 3], TWO_SIDED, rng=rng()).p_value == 2 / 8
    # differences 4, -2, 3: sums 9, 5, 3, 1, ...; at least 5 twice
    assert paired_permutation_test([5, 2, 6], [1, 4, 3], GREATER, rng=rng()).p_value == 2 / 8


def test_sign_flips_of_ranks_are_wilcoxons_test() -> None:
    differences = np.array([1.0, -2, 3, 4, 5, 6, -7, 8, 9])
    expected = wilcoxon(differences, alternative="greater", method="exact").pvalue
    zero = np.zeros(9)
    assert paired_permutation_test(differences, zero, GREATER, rng=rng()).p_value == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=5),
    st.lists(st.integers(-9, 9), min_size=2, max_size=5),
    st.sampled_from([0.0, 1e3]),
)
def test_equal_statistics_count_as_equal_whatever_the_rounding(
    first: list[int], second: list[int], offset: float
) -> None:
    # the enumeration in whole numbers, n1 * n2 * (difference of means); tenths are not exact as floats
    pool, n1, n2 = first + second, len(first), len(second)
    sums = [sum(pool[i] for i in chosen) for chosen in itertools.combinations(range(n1 + n2), n1)]
    expected = sum(s <= sum(first) for s in sums) / len(sums)
    x, y = np.array(first) / 10 + offset, np.array(second) / 10 + offset
    assert permutation_test(x, y, LESS, rng=rng()).p_value == pytest.approx(expected)


def test_any_statistic_will_do() -> None:
    def median_difference(first: Floats, second: Floats, /, *, axis: int) -> Floats:
        return np.asarray(np.median(first, axis=axis) - np.median(second, axis=axis))

    # observed 2 - 30; enumerated with the standard library's combinations
    splits = [
        float(np.median(c) - np.median(sorted({1, 2, 3, 20, 30, 40} - set(c))))
        for c in itertools.combinations([1, 2, 3, 20, 30, 40], 3)
    ]
    expected = sum(s <= -28 for s in splits) / 20
    found = permutation_test([1, 2, 3], [20, 30, 40], LESS, rng=rng(), statistic=median_difference)
    assert (found.p_value, found.statistic) == (expected, -28)


def test_random_relabellings_count_the_observed_one() -> None:
    found = permutation_test(range(30), range(100, 130), LESS, rng=rng(), resamples=99)
    assert found.p_value == 1 / 100
    assert found.method == "permutation, 99 random relabellings"
    assert found.n == 60


def test_random_relabellings_come_close_to_all_of_them() -> None:
    x, y = rng().normal(size=8), rng().normal(size=8) + 0.8
    exact = permutation_test(x, y, LESS, rng=rng(), resamples=20_000).p_value
    drawn = permutation_test(x, y, LESS, rng=rng(), resamples=9999).p_value
    # standard error sqrt(p (1-p) / 9999), at most .005
    assert exact != drawn
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9999))


def test_a_seed_gives_the_same_p_again() -> None:
    x, y = rng().normal(size=20), rng().normal(size=15)
    one, other = (permutation_test(x, y, LESS, rng=rng(), resamples=99) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("alternative", list(Alternative))
def test_constant_data_show_nothing(alternative: Alternative) -> None:
    assert permutation_test([0.3] * 5, [0.3] * 40, alternative, rng=rng(), resamples=99).p_value == 1
    assert paired_permutation_test([0.3] * 5, [0.3] * 5, alternative, rng=rng()).p_value == 1
    assert paired_permutation_test([0.3] * 50, [0.3] * 50, alternative, rng=rng()).p_value == 1


def test_no_data_can_beat_the_least_p() -> None:
    assert least_p(math.comb(6, 3), LESS) == permutation_test([1, 2, 3], [4, 5, 6], LESS, rng=rng()).p_value
    assert least_p(2**3, TWO_SIDED) == 1 / 4
    assert least_p(2**100, TWO_SIDED, 999) == 2 / 1000
    assert least_p(1, TWO_SIDED) == 1


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ([1.0], r"first must be a sequence of at least two finite numbers, got shape \(1,\)"),
        ([1.0, math.nan], "finite numbers, got nan at position 1"),
        ([math.inf, 1.0], "finite numbers, got inf at position 0"),
        ([[1.0, 2.0]], r"finite numbers, got shape \(1, 2\)"),
    ],
)
def test_bad_samples_are_named(first: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        permutation_test(first, [1, 2], LESS, rng=rng())
    with pytest.raises(ValueError, match=message.replace("first", "second")):
        paired_permutation_test([1, 2], first, LESS, rng=rng())


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="of one length, got 2 and 3"):
        paired_permutation_test([1, 2], [1, 2, 3], LESS, rng=rng())


def test_a_statistic_that_is_no_number_is_refused() -> None:
    def ratio(first: Floats, second: Floats, /, *, axis: int) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(first.mean(axis=axis) / second.mean(axis=axis))

    with pytest.raises(ValueError, match="statistic must be finite under every relabelling"):
        permutation_test([0, 1], [0, 1], LESS, rng=rng(), statistic=ratio)


@pytest.mark.parametrize("resamples", [0, -1, 9.5])
def test_resamples_are_counted(resamples: Any) -> None:
    with pytest.raises(ValueError, match="resamples must be a whole number of at least 1"):
        permutation_test([1, 2], [2, 3], LESS, rng=rng(), resamples=resamples)


def test_a_million_pairs_and_large_samples_take_seconds() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=1_000_000)
    found = paired_permutation_test(values + 0.01, values[::-1], Alternative.GREATER, rng=rng, resamples=9)
    assert found.p_value == 0.1  # 7 standard errors: beyond all 9
    assert "9 random relabellings, n=2000000" in str(found)
    assert (
        permutation_test(values[:50_000], values[50_000:100_000], Alternative.LESS, rng=rng, resamples=3).n
        == 100_000
    )


def test_random_signs_come_close_to_all_of_them() -> None:
    first, second = np.arange(12.0) ** 0.5, np.array([0.5, 2, 0, 1, 3, 2, 1, 2.5, 3, 2, 4, 2])
    exact = paired_permutation_test(first, second, Alternative.GREATER, rng=np.random.default_rng(1))
    drawn = paired_permutation_test(
        first, second, Alternative.GREATER, rng=np.random.default_rng(1), resamples=4000
    )
    assert "all 4096" in exact.method
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.03)
