import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentmut.stats.intervals.clusters import clustered_mean

clustered = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(-50, 50)), min_size=3, max_size=60
).filter(lambda pairs: len({c for c, _ in pairs}) > 1 and len({x for _, x in pairs}) > 1)


@given(clustered, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_standard_error_agrees_with_statsmodels(pairs: list[tuple[str, int]], level: float) -> None:
    labels, values = [c for c, _ in pairs], np.array([x for _, x in pairs], dtype=float)
    groups = np.unique(labels, return_inverse=True)[1]
    fit = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    found = clustered_mean(values, labels, level)
    assert found.standard_error == pytest.approx(fit.bse[0], abs=1e-9)
    low, high = fit.conf_int(1 - level)[0]
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-6)


def test_three_pairs_by_hand() -> None:
    # mean 1/2; totals of deviations 1, 0, -1: SE^2 = 3/2 * 2 / 36 = 1/12, s^2/n = 0.3/6 = 1/20, so the design
    # effect is 5/3 and the effective n 3.6. MSB = 2 (1/4 + 0 + 1/4)/2 = 1/2, MSW = (1/2)/3 = 1/6, m = 2:
    # icc = (1/3)/(2/3)
    found = clustered_mean([1, 1, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"])
    assert found.standard_error == pytest.approx(math.sqrt(1 / 12))
    assert found.design_effect == pytest.approx(5 / 3)
    assert found.effective_n == pytest.approx(3.6)
    assert found.icc == pytest.approx(0.5)
    t = 4.302653  # 0.975 quantile at 2 degrees of freedom
    assert found.interval.high == pytest.approx(0.5 + t * math.sqrt(1 / 12), abs=1e-5)
    assert str(found).endswith("3 clusters, design effect 1.67, effective n 3.6, icc 0.50")


@given(st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=30).filter(lambda x: np.ptp(x) > 0.01))
def test_clusters_of_one_run_give_the_usual_t_interval(values: list[float]) -> None:
    found = clustered_mean(values, range(len(values)))
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-6)
    assert found.design_effect == pytest.approx(1)
    assert found.effective_n == pytest.approx(len(values))
    assert found.icc is None


@given(clustered, st.randoms(use_true_random=False))
def test_order_and_names_of_clusters_do_not_matter(pairs: list[tuple[str, int]], random: Any) -> None:
    other = [(ord(c) * 7, x) for c, x in pairs]
    random.shuffle(other)
    one = clustered_mean([x for _, x in pairs], [c for c, _ in pairs])
    two = clustered_mean([x for _, x in other], [c for c, _ in other])
    assert one.interval[1:3] == pytest.approx(two.interval[1:3], abs=1e-6)


def test_runs_that_repeat_their_cluster_count_once() -> None:
    # 5 clusters of 4 equal runs: as 5 runs; icc 1; design effect 4 (G/(G-1)) / (n/(n-1)) = 4 * (5/4)/(20/19)
    values = [1.0, 3.0, 2.0, 7.0, 4.0]
    found = clustered_mean(np.repeat(values, 4), np.repeat(range(5), 4).tolist())
    alone = clustered_mean(values, range(5))
    assert found.interval[:3] == pytest.approx(alone.interval[:3])
    assert found.icc == pytest.approx(1.0)
    assert found.design_effect == pytest.approx(4.75)


def test_the_intraclass_correlation_of_a_simulated_design_is_found() -> None:
    # between variance 1, within 3: icc 0.25, design effect 1 + 9 * 0.25 = 3.25
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(400), 10)
    found = clustered_mean(
        rng.normal(size=400)[labels] + rng.normal(size=4000) * math.sqrt(3), labels.tolist()
    )
    assert found.icc == pytest.approx(0.25, abs=0.04)
    assert found.design_effect == pytest.approx(3.25, abs=0.35)


def test_one_cluster_says_nothing_of_how_clusters_vary() -> None:
    assert clustered_mean([1, 0, 1], "aaa")[1:] == (None, 1, None, None, None)
    assert clustered_mean([1, 0, 1, 1], "aaaa").interval[:3] == (0.75, -math.inf, math.inf)
    assert clustered_mean([1, 0, 1, 1], "aaaa", bounds=(0, 1)).interval[:3] == (0.75, 0.0, 1.0)
    assert "1 clusters, design effect n/a, effective n n/a, icc n/a" in str(clustered_mean([1], "a"))


def test_equal_values_have_an_interval_without_width() -> None:
    found = clustered_mean([1, 1, 1, 1], "aabb", bounds=(0, 1))
    assert found.interval[:3] == (1.0, 1.0, 1.0)
    assert found[1:] == (0.0, 2, None, None, None)


def test_clusters_of_equal_means_have_no_error_and_a_negative_correlation() -> None:
    # MSB = 0, MSW = 1/2 * 4/2 ... icc = -MSW/MSW/(m - 1) = -1 for pairs
    found = clustered_mean([0, 1, 1, 0, 0, 1], "aabbcc")
    assert (found.standard_error, found.design_effect, found.effective_n) == (0.0, 0.0, math.inf)
    assert found.icc == pytest.approx(-1)


@pytest.mark.parametrize(
    ("values", "labels", "options", "message"),
    [
        ([], [], {}, "values must be one row of at least one number"),
        ([[1, 2]], "ab", {}, r"values must be one row of at least one number, got the shape \(1, 2\)"),
        ([1, 2], "a", {}, "clusters must have one label for each of 2 values, got 1"),
        ([1, math.nan], "ab", {}, "values must be finite numbers"),
        ([1, math.inf], "ab", {}, "values must be finite numbers"),
        ([1, 2], "ab", {"bounds": (0, 1)}, r"values must be finite numbers in \[0, 1\]"),
        ([1, 2], "ab", {"level": 1.0}, r"level must be in \(0, 1\), got 1.0"),
    ],
)
def test_bad_input_is_named(values: Any, labels: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clustered_mean(values, labels, **options)


def test_bounds_that_do_not_rise_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bounds must rise, got \(1, 0\)"):
        clustered_mean([0.5, 0.5], ["a", "b"], bounds=(1, 0))


def test_the_intraclass_correlation_of_unequal_clusters_by_hand() -> None:
    # a: 1, 1, 0; b: 0. Means 2/3 and 0, 1/2 in all. MSB = 3/36 + 1/4 = 1/3 (G - 1 = 1), MSW = (2/3)/(4 - 2) = 1/3:
    # icc = 0. c = 1 instead of b = 0: mean 3/4, MSB = 3 (1/12)^2 + (1/4)^2 = 1/12; m = 4 - 10/4 = 1.5;
    # icc = (1/12 - 1/3) / (1/12 + 1/6) = -1
    assert clustered_mean([1, 1, 0, 0], ["a", "a", "a", "b"]).icc == pytest.approx(0)
    assert clustered_mean([1, 1, 0, 1], ["a", "a", "a", "c"]).icc == pytest.approx(-1)


def test_clusters_of_one_mean_have_no_width_whatever_their_sizes() -> None:
    found = clustered_mean([0, 1, 0, 1, 0, 1], ["a", "a", "b", "b", "b", "b"]).interval
    assert (found.low, found.high) == (0.5, 0.5)
