import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentmut.stats.intervals.differences import newcombe
from agentmut.stats.intervals.proportion import clopper_pearson, wilson
from agentmut.stats.intervals.simultaneous import bonferroni_intervals, scheffe_intervals, scheffe_proportions

GROUPS = [[4.0, 6.0], [1.0, 3.0, 5.0], [7.0, 8.0, 9.0, 8.0]]
counts = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_two_rates_at_95_jointly_are_two_at_97_5() -> None:
    first, second = bonferroni_intervals([(45, 50), (3, 5)], 0.95, "clopper-pearson")
    assert first[:3] == pytest.approx(clopper_pearson(45, 50, 0.975)[:3])
    assert second[:3] == pytest.approx(clopper_pearson(3, 5, 0.975)[:3])
    assert str(second).endswith("(95% clopper-pearson, jointly for 2 by Bonferroni, 97.5% each, n=5)")


def test_a_family_of_one_is_the_plain_interval() -> None:
    (only,) = bonferroni_intervals([(4, 9)], 0.9)
    assert only[:4] == pytest.approx(wilson(4, 9, 0.9)[:4])
    (joint,) = scheffe_proportions([(4, 9)], None, 0.9)
    assert joint[:3] == pytest.approx(wilson(4, 9, 0.9)[:3])
    (mean,) = scheffe_intervals([GROUPS[2]], None, 0.9)
    low, high = stats.ttest_1samp(GROUPS[2], 0).confidence_interval(0.9)
    assert (mean.low, mean.high) == pytest.approx((low, high))


def test_a_contrast_of_two_groups_is_the_t_interval_of_a_difference() -> None:
    (found,) = scheffe_intervals(GROUPS[:2], [[1, -1]], 0.9)
    low, high = stats.ttest_ind(*GROUPS[:2]).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_scheffes_interval_by_hand() -> None:
    # means 5, 3, 8; squares within 2 + 8 + 2 = 12 at 6 degrees of freedom, s^2 = 2; F(0.95; 2, 6) = 5.143253
    # mean_3 - mean_1: 3 -+ sqrt(2 * 5.143253) sqrt(2 (1/4 + 1/2)) = 3 -+ 3.207258 * 1.224745
    (found,) = scheffe_intervals(GROUPS, [[-1, 0, 1]])
    assert (found.estimate, found.low, found.high) == pytest.approx((3.0, -0.928073, 6.928073), abs=1e-5)
    assert found.n == 6
    assert found.method == "t, jointly for all contrasts of 3 by Scheffe"


def test_the_worst_contrast_excludes_zero_exactly_when_the_f_test_rejects() -> None:
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(60):
        groups = [rng.normal(shift, 1, n) for shift, n in ((0, 4), (0.5, 7), (1.2, 9))]
        sizes, means = np.array([4, 7, 9]), np.array([g.mean() for g in groups])
        contrast = sizes * (means - sizes @ means / 20)
        (found,) = scheffe_intervals(groups, [contrast], 0.9)
        significant = stats.f_oneway(*groups).pvalue < 0.1
        assert (found.low > 0) == significant
        rejected += bool(significant)
    assert 10 < rejected < 55


def test_means_are_no_contrasts_and_get_the_larger_factor() -> None:
    found = scheffe_intervals(GROUPS)
    half = math.sqrt(3 * stats.f.ppf(0.95, 3, 6)) * math.sqrt(2 / 4)
    assert [i.estimate for i in found] == [5.0, 3.0, 8.0]
    assert found[2].high - 8 == pytest.approx(half)
    assert found[0].method == "t, jointly for all linear combinations of 3 by Scheffe"


@given(counts, counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_a_difference_of_two_rates_is_newcombes(
    first: tuple[int, int], second: tuple[int, int], level: float
) -> None:
    # two rates: contrasts have one dimension, and the chi-squared quantile is z^2
    (found,) = scheffe_proportions([first, second], [[1, -1]], level)
    assert found[:3] == pytest.approx(newcombe(*first, *second, level)[:3], abs=1e-9)


@given(st.lists(counts, min_size=2, max_size=6), st.sampled_from([0.8, 0.95]))
def test_rates_alone_are_narrower_by_bonferroni(family: list[tuple[int, int]], level: float) -> None:
    bonferroni, scheffe = bonferroni_intervals(family, level), scheffe_proportions(family, None, level)
    for narrow, wide in zip(bonferroni, scheffe, strict=True):
        assert wide.low <= narrow.low + 1e-9
        assert narrow.high <= wide.high + 1e-9


def test_negated_and_scaled_coefficients_negate_and_scale_the_interval() -> None:
    family = [(9, 10), (20, 20), (3, 8)]
    plain, other = scheffe_proportions(family, [[1.0, -0.5, -0.5], [-2.0, 1.0, 1.0]])
    assert (other.low, other.high) == pytest.approx((-2 * plain.high, -2 * plain.low))
    plain, other = scheffe_intervals(GROUPS, [[1.0, -0.5, -0.5], [-2.0, 1.0, 1.0]])
    assert (other.low, other.high) == pytest.approx((-2 * plain.high, -2 * plain.low))


def test_degenerate_samples_are_defined() -> None:
    (found,) = scheffe_intervals([[1], [2]], [[1, -1]])
    assert found[:3] == (-1.0, -math.inf, math.inf)
    (equal,) = scheffe_intervals([[1, 1], [2, 2]], [[1, -1]])
    assert equal[:3] == (-1.0, -1.0, -1.0)
    empty, full = bonferroni_intervals([(0, 0), (5, 5)])
    assert empty[:3] == (None, 0.0, 1.0)
    assert full.high == 1.0


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (bonferroni_intervals, ([],), "counts must have at least one member, got none"),
        (bonferroni_intervals, ([(1, 2)], 1.0), r"level must be in \(0, 1\), got 1.0"),
        (bonferroni_intervals, ([(3, 2)],), "k must be a whole number"),
        (bonferroni_intervals, ([(1, 2)], 0.9, "t"), "method must be one of"),
        (scheffe_intervals, ([],), "samples must have at least one member, got none"),
        (scheffe_intervals, ([[1], []],), "samples must be rows of at least one finite number"),
        (scheffe_intervals, ([[1, math.nan], [1]],), "samples must be rows of at least one finite number"),
        (scheffe_intervals, ([[1], [2]], None, 2), r"level must be in \(0, 1\), got 2"),
        (scheffe_intervals, ([[1, 2], [2]], [[1, 0, 0]]), "coefficients must be rows of 2 numbers"),
        (scheffe_intervals, ([[1, 2], [2]], [1, 0]), "coefficients must be rows of 2 numbers"),
        (scheffe_intervals, ([[1, 2], [2]], [[0, 0]]), "coefficients must be finite and not all 0 in a row"),
        (scheffe_proportions, ([(0, 0), (1, 2)],), "n must be a whole number of at least 1, got 0"),
        (scheffe_proportions, ([(1, 2)], [[math.nan]]), "coefficients must be finite"),
    ],
)
def test_bad_input_is_named(call: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(*arguments)


def test_many_scenarios_have_scheffe_intervals_too() -> None:
    # m = 55: chi2(.95; 55) = 73.311, z = 8.562, whose two-sided level rounds to 1
    found = scheffe_proportions([(45, 50)] * 55)
    z2 = 73.31149
    low = (0.9 + z2 / 100 - math.sqrt(z2 * (0.09 / 50 + z2 / 10_000))) / (1 + z2 / 50)
    assert found[0].low == pytest.approx(low, abs=1e-6)
    assert len(scheffe_proportions([(45, 50)] * 500)) == 500
