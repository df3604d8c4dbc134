import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from agentmut.stats.intervals.differences import newcombe

sample = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@given(sample, sample, levels)
def test_newcombe_agrees_with_statsmodels(
    first: tuple[int, int], second: tuple[int, int], level: float
) -> None:
    expected = confint_proportions_2indep(
        *first, *second, method="newcomb", compare="diff", alpha=1 - level, correction=False
    )
    found = newcombe(*first, *second, level)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        # the examples of Newcombe's Table II, method 10
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((10, 10, 0, 20), 0.6791, 1.0000),
        ((10, 10, 0, 10), 0.6075, 1.0000),
    ],
)
def test_newcombe_gives_his_published_examples(
    counts: tuple[int, int, int, int], low: float, high: float
) -> None:
    found = newcombe(*counts)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(sample, sample, levels)
def test_exchanging_the_samples_negates_the_interval(
    first: tuple[int, int], second: tuple[int, int], level: float
) -> None:
    one, other = newcombe(*first, *second, level), newcombe(*second, *first, level)
    assert one.low == pytest.approx(-other.high)
    assert one.high == pytest.approx(-other.low)
    assert one.estimate is not None
    assert -1 <= one.low <= one.estimate <= one.high <= 1


def test_an_empty_sample_leaves_every_difference_possible() -> None:
    assert newcombe(0, 0, 3, 5, 0.9) == (None, -1.0, 1.0, 0.9, 5, "newcombe")
    assert newcombe(3, 5, 0, 0)[:3] == (None, -1.0, 1.0)
    assert str(newcombe(0, 0, 0, 0)) == "n/a [-1.000, 1.000] (95% newcombe, n=0)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((11, 10, 1, 2, 0.95), "k1 must be a whole number of at least 0 and at most 10, got 11"),
        ((1, 10, 1.5, 2, 0.95), "k2 must be a whole number of at least 0 and at most 2, got 1.5"),
        ((1, -1, 1, 2, 0.95), "n1 must be a whole number of at least 0, got -1"),
        ((1, 2, 1, math.nan, 0.95), "n2 must be a whole number"),
        ((1, 2, 1, 2, 1.0), r"level must be in \(0, 1\), got 1.0"),
    ],
)
def test_bad_input_is_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        newcombe(*arguments)
