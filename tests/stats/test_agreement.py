"""Krippendorff's alpha against published values, by hand, and in its degenerate cases."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from agentmut.stats.reliability.agreement import Scale, krippendorff_alpha

N = math.nan
PUBLISHED: list[list[float]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
"""Four observers, twelve units: Krippendorff (2011), section C."""


@pytest.mark.parametrize(
    ("scale", "alpha"), [(Scale.NOMINAL, 0.743), (Scale.ORDINAL, 0.815), (Scale.INTERVAL, 0.849)]
)
def test_the_published_example_comes_out(scale: Scale, alpha: float) -> None:
    found = krippendorff_alpha(PUBLISHED, default_rng(1), scale=scale, resamples=100)
    assert found.alpha == pytest.approx(alpha, abs=5e-4)
    assert (found.units, found.ratings) == (11, 40)  # the twelfth unit has one rating


def test_two_judges_with_binary_ratings_by_hand() -> None:
    # Krippendorff (2011), section A: 10 units, 4 disagreements; values 14 zeros and 6 ones:
    # 1 - (20 - 1) * 4 / (14 * 6) = 1 - 76/84 = .095
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = krippendorff_alpha([first, second], default_rng(1), resamples=100)
    assert found.alpha == pytest.approx(1 - 76 / 84)


@given(st.integers(0, 2**31), st.sampled_from(Scale))
@settings(max_examples=20, deadline=None)
def test_the_order_of_judges_and_units_does_not_matter(seed: int, scale: Scale) -> None:
    rng = default_rng(seed)
    ratings = rng.integers(0, 3, (3, 8)).astype(float)
    ratings[0, :3] = np.nan
    shuffled = rng.permutation(rng.permutation(ratings, axis=0), axis=1)
    found, other = (
        krippendorff_alpha(r, default_rng(1), scale=scale, resamples=100) for r in (ratings, shuffled)
    )
    assert found.alpha == pytest.approx(other.alpha)
    if found.alpha is not None:
        assert -1 <= found.low <= found.alpha <= found.high <= 1


def test_nominal_ratings_may_be_renamed_and_interval_ones_rescaled() -> None:
    table = np.array(PUBLISHED, dtype=float)
    renamed = np.array([N, 9, 2, 7, 1, 4])[np.nan_to_num(table).astype(int)]
    for scale, other in ((Scale.NOMINAL, renamed), (Scale.INTERVAL, 10 - 3 * table)):
        one, two = (krippendorff_alpha(t, default_rng(1), scale=scale, resamples=100) for t in (table, other))
        assert one.alpha == pytest.approx(two.alpha)


def test_equal_ratings_throughout_say_nothing() -> None:
    found = krippendorff_alpha([[1] * 20, [1] * 20], default_rng(1))
    assert (found.alpha, found.low, found.high) == (None, -1.0, 1.0)
    assert str(found).startswith("alpha n/a [-1.000, 1.000] (95% percentile bootstrap over units, nominal")


def test_variation_among_ratings_that_cannot_be_compared_is_no_variation() -> None:
    assert krippendorff_alpha([[1.0, 1, 0], [1, 1, N]], default_rng(1)).alpha is None


def test_perfect_agreement_with_hardly_any_variation_has_a_wide_interval() -> None:
    found = krippendorff_alpha([[1] * 19 + [0]] * 2, default_rng(1))
    # a third of the resamples, .95^20, lack the one unit that differs
    assert (found.alpha, found.low, found.high) == (1.0, 0.0, 1.0)


def test_the_interval_depends_on_the_seed_only() -> None:
    one, same, other = (krippendorff_alpha(PUBLISHED, default_rng(s), resamples=200) for s in (5, 5, 6))
    assert one == same
    assert one != other


def test_agreement_by_chance_is_about_zero() -> None:
    # 400 units, two judges who toss coins: the standard error of alpha is about 1/sqrt(400) = .05
    found = krippendorff_alpha(default_rng(3).integers(0, 2, (2, 400)), default_rng(1), resamples=200)
    assert found.alpha == pytest.approx(0, abs=0.2)
    assert found.low < 0 < found.high


def untyped(function: Any) -> Any:
    """The function for a call that a type checker refuses."""
    return function


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: krippendorff_alpha([[1.0, N], [N, 1]], default_rng(1)),
            "unit that two judges or more rated",
        ),
        (lambda: krippendorff_alpha([[1, 0, 1]], default_rng(1)), "unit that two judges or more rated"),
        (
            lambda: krippendorff_alpha([1, 0], default_rng(1)),
            r"a table of finite numbers .* got shape \(2,\)",
        ),
        (
            lambda: krippendorff_alpha([[1.0, math.inf], [1.0, 0.0]], default_rng(1)),
            "a table of finite numbers",
        ),
        (lambda: krippendorff_alpha(PUBLISHED, default_rng(1), level=1.0), r"level must be in \(0, 1\)"),
        (
            lambda: krippendorff_alpha(PUBLISHED, default_rng(1), resamples=10),
            "resamples must be .* at least 100",
        ),
        (
            lambda: untyped(krippendorff_alpha)(PUBLISHED, default_rng(1), scale="ratio"),
            "scale must be one of nominal, ordinal, interval, got 'ratio'",
        ),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("size", [1e308, 1.0, 5e-324])
def test_the_size_of_amounts_does_not_matter(size: float) -> None:
    # units (1, 1) and (-1, 0): mean squared difference within units 1/2; between any two of 1, 1, -1, 0 it is
    # (0 + 4 + 1 + 4 + 1 + 1)/6 = 11/6: alpha = 1 - 3/11
    found = krippendorff_alpha([[size, -size], [size, 0]], np.random.default_rng(1), scale=Scale.INTERVAL)
    assert found.alpha == pytest.approx(8 / 11)
    assert -1 <= found.low <= found.high <= 1
