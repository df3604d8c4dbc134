import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agentmut.stats.intervals.bootstrap import Method, bootstrap

VALUES = [3.1, 0.2, 7.4, 1.1, 0.5, 2.2, 9.8, 0.9, 1.7, 4.0, 0.1, 2.9]


def seeded() -> np.random.Generator:
    return np.random.default_rng(11)


def test_the_percentile_interval_of_two_values_is_counted_by_hand() -> None:
    # means of resamples of {0, 1}: 0, 1/2, 1 with chances 1/4, 1/2, 1/4. At level 0.4 the quantiles at 0.3 and
    # 0.7 are 1/2; at level 0.6, those at 0.2 and 0.8 are 0 and 1
    narrow = bootstrap([0, 1], np.mean, rng=seeded(), level=0.4, method="percentile")
    wide = bootstrap([0, 1], np.mean, rng=seeded(), level=0.6, method="percentile")
    assert narrow[:3] == (0.5, 0.5, 0.5)
    assert wide[:3] == (0.5, 0.0, 1.0)


def test_the_mean_of_normal_values_has_about_the_normal_interval() -> None:
    values = np.random.default_rng(5).normal(10, 2, 400)
    error = values.std() / 20
    methods: tuple[Method, ...] = ("bca", "percentile")
    for method in methods:
        found = bootstrap(values, np.mean, rng=seeded(), method=method, vectorized=True)
        # bounds are quantiles of 9999 resamples: standard error about 0.027 of one `error`
        assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
        assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


def test_bca_agrees_with_efrons_formula() -> None:
    values, resamples = np.array(VALUES), 999
    rng = seeded()
    found = bootstrap(values, np.mean, rng=rng, resamples=resamples, vectorized=True, level=0.9)
    drawn = stats.bootstrap(
        (values,), np.mean, n_resamples=resamples, method="percentile", random_state=seeded()
    ).bootstrap_distribution
    z0 = stats.norm.ppf(np.mean(drawn < values.mean()) + np.mean(drawn == values.mean()) / 2)
    left_out = np.array([np.delete(values, i).mean() for i in range(values.size)])
    u = left_out.mean() - left_out
    a = np.sum(u**3) / (6 * np.sum(u**2) ** 1.5)
    ends = [z0 + (z0 + z) / (1 - a * (z0 + z)) for z in (-1.644854, 1.644854)]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, stats.norm.cdf(ends))))


def test_the_seed_decides_and_the_call_form_does_not() -> None:
    one = bootstrap(VALUES, np.mean, rng=seeded(), resamples=300, vectorized=True)
    other = bootstrap([VALUES], statistics.fmean, rng=seeded(), resamples=300)
    assert one[:3] == pytest.approx(other[:3])
    assert bootstrap(np.array([VALUES]), np.mean, rng=seeded(), resamples=300)[:3] == pytest.approx(one[:3])
    assert bootstrap(VALUES, np.mean, rng=np.random.default_rng(12), resamples=300)[1:3] != one[1:3]


def test_scaling_the_values_scales_the_interval() -> None:
    plain = bootstrap(VALUES, np.median, rng=seeded(), resamples=400)
    scaled = bootstrap(3 * np.array(VALUES) - 5, np.median, rng=seeded(), resamples=400)
    assert (scaled.low, scaled.high) == pytest.approx((3 * plain.low - 5, 3 * plain.high - 5))


def test_several_samples_are_drawn_from_each_by_itself() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(5, 1, 200), rng.normal(3, 2, 100)
    found = bootstrap([x, y], lambda a, b: a.mean() - b.mean(), rng=seeded(), resamples=2000)
    error = math.sqrt(x.var() / 200 + y.var() / 100)
    assert found.n == 300
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_paired_samples_are_drawn_from_together() -> None:
    x = np.random.default_rng(9).normal(0, 10, 100)
    y = x + np.random.default_rng(10).normal(1, 0.1, 100)

    def difference(a: Any, b: Any) -> float:
        return float(b.mean() - a.mean())

    together = bootstrap([x, y], difference, rng=seeded(), resamples=500, paired=True)
    apart = bootstrap([x, y], difference, rng=seeded(), resamples=500)
    assert together.n == 100
    assert together.high - together.low < 0.06
    assert apart.high - apart.low > 2


def test_what_was_done_is_printed() -> None:
    found = bootstrap(VALUES, np.mean, rng=seeded(), resamples=300, level=0.9)
    assert str(found).endswith("(90% bca bootstrap, 300 resamples, n=12)")


def test_equal_values_have_an_interval_without_width() -> None:
    found = bootstrap([2.5] * 6, np.mean, rng=seeded(), resamples=50)
    assert found[:3] == (2.5, 2.5, 2.5)
    zero = bootstrap([0, 0, 0], np.mean, rng=seeded(), resamples=50)
    assert zero[:3] == (0.0, 0.0, 0.0)


def test_one_value_says_nothing_of_how_values_vary() -> None:
    assert bootstrap([2.5], np.mean, rng=seeded())[:3] == (2.5, -math.inf, math.inf)
    two = bootstrap([[2.5], [1.0, 2.0, 3.0]], lambda a, b: a.mean() - b.mean(), rng=seeded())
    assert two[:3] == (0.5, -math.inf, math.inf)


def test_where_bca_is_undefined_the_percentile_interval_is_named() -> None:
    # the median is 1 whichever value is left out: acceleration is 0/0; it is 0 in about one resample of 50
    values = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    found = bootstrap(values, np.median, rng=seeded(), resamples=500, level=0.99)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.method == "percentile bootstrap (bca undefined), 500 resamples"


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ([], {}, "a sample must be one row of at least one number"),
        ([[1, 2], []], {}, "a sample must be one row of at least one number"),
        ([[[1, 2]]], {}, "a sample must be one row of at least one number"),
        ([1, math.nan], {}, "samples must be finite numbers"),
        ([1, math.inf], {}, "samples must be finite numbers"),
        ([[1, 2], [1, 2, 3]], {"paired": True}, r"paired samples must have one length, got \[2, 3\]"),
        ([1, 2], {"resamples": 1}, "resamples must be a whole number of at least 2, got 1"),
        ([1, 2], {"level": 95}, r"level must be in \(0, 1\), got 95"),
        ([1, 2], {"method": "basic"}, "method must be one of bca, percentile, got 'basic'"),
    ],
)
def test_bad_input_is_named(samples: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap(samples, lambda *rows: float(rows[0].mean()), rng=seeded(), **options)


def test_a_statistic_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="got NaN or infinity on the sample"):
        bootstrap([1, 2], lambda x: math.nan, rng=seeded())
    with pytest.raises(ValueError, match="got NaN or infinity on a resample"):
        # 1/variance is infinite where the resample is constant
        bootstrap([1, 2, 4], lambda x: 1 / x.var() if x.var() else math.inf, rng=seeded(), resamples=200)


@pytest.mark.parametrize("rng", [None, 1])
def test_a_generator_must_be_given(rng: Any) -> None:
    with pytest.raises(ValueError, match=r"rng must be a numpy.random.Generator, got"):
        bootstrap([1, 2, 3], np.mean, rng=rng)


def test_bca_of_many_values_is_the_percentile_interval_and_says_so() -> None:
    values = np.random.default_rng(1).normal(size=20_001)
    found = bootstrap(values, np.mean, rng=np.random.default_rng(2), resamples=50, vectorized=True)
    plain = bootstrap(
        values, np.mean, rng=np.random.default_rng(2), resamples=50, vectorized=True, method="percentile"
    )
    assert found[:3] == plain[:3]
    assert "percentile bootstrap (bca beyond 20000 values takes too long), 50 resamples" in str(found)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=15), st.integers(-100, 100), st.integers(0, 9))
def test_shifting_the_values_shifts_the_interval(values: list[int], shift: int, seed: int) -> None:
    one, other = (
        bootstrap(np.array(values) + by, np.mean, rng=np.random.default_rng(seed), resamples=50)
        for by in (0, shift)
    )
    assert [x + shift for x in (one.low, one.high)] == pytest.approx([other.low, other.high], abs=1e-9)
