"""The permutation test on traces: by hand on tiny samples, against slow code, and by what it must not depend on."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import false_discovery_control, norm, permutation_test, rankdata

from agentmut.stats.traces.bigrams import OTHER, bigram_counts
from agentmut.stats.traces.permutation import Stage, labellings, p_values, row_sums, smallest_p, staged
from agentmut.stats.traces.samples import normal_scores, pool, spread_scores
from agentmut.stats.traces.trace_comparison import Aspect, compare_traces

SMALL = arrays(np.float64, st.tuples(st.integers(2, 8), st.just(3)), elements=st.integers(-3, 3).map(float))


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_normal_scores_are_quantiles_of_the_mid_rank() -> None:
    # ranks of 5, 1, 5, 9: 2.5, 1, 2.5, 4, over N + 1 = 5: .5, .2, .5, .8; the .8 quantile is .8416212
    assert normal_scores(np.array([[5.0], [1.0], [5.0], [9.0]]))[:, 0] == pytest.approx(
        [0, -0.8416212, 0, 0.8416212]
    )


def test_spread_scores_rank_the_distance_from_the_middle_rank() -> None:
    # ranks 1, 2, 3, 4, 5 lie 2, 1, 0, 1, 2 from the middle: mid-ranks 4.5, 2.5, 1, 2.5, 4.5, over 6
    found = spread_scores(np.array([[1.0], [3.0], [7.0], [20.0], [90.0]]))[:, 0]
    assert norm.cdf(found) * 6 == pytest.approx([4.5, 2.5, 1, 2.5, 4.5])


def test_traces_that_agree_in_every_column_differ_in_nothing_and_draw_nothing() -> None:
    generator = rng()
    before = generator.bit_generator.state
    found = compare_traces(np.ones((20, 3)), np.ones((4, 3)), generator)
    assert (found.test.p_value, found.test.n, found.moved) == (1.0, 24, None)
    assert [(part.p_value, part.statistic) for part in found.parts] == [(1.0, 0.0)] * 3
    assert generator.bit_generator.state == before


def test_constant_columns_are_dropped_and_the_others_keep_their_index() -> None:
    pooled = pool([[1, 7, 2], [1, 7, 3]], [[1, 8, 2]])
    assert pooled.columns.tolist() == [1, 2]
    assert pooled.values.tolist() == [[7, 2], [7, 3], [8, 2]]


def test_labellings_start_with_the_observed_one_and_keep_the_sizes() -> None:
    labels = labellings(4, 2, 500, rng())
    assert labels[0].tolist() == [0, 0, 0, 0, 1, 1]
    assert set(labels.sum(axis=1)) == {2.0}
    assert len({tuple(line) for line in labels.tolist()}) == math.comb(6, 2)


def test_every_labelling_is_drawn_equally_often() -> None:
    labels = labellings(3, 2, 5000, rng())[1:]
    counts = [int((labels == line).all(axis=1).sum()) for line in np.unique(labels, axis=0)]
    # ten labellings, 500 each expected, standard deviation 21
    assert len(counts) == 10
    assert max(abs(count - 500) for count in counts) < 90


def test_a_p_value_counts_the_observed_labelling_and_ties() -> None:
    assert p_values(np.array([3.0, 1.0, 3.0, 5.0])).tolist() == [0.75, 1.0, 0.75, 0.25]
    assert p_values(np.array([[3.0, 0.0], [1.0, 0.0]])).tolist() == [[0.5, 1.0], [1.0, 1.0]]


def test_statistics_that_differ_by_rounding_are_ties() -> None:
    assert p_values(np.array([0.1 + 0.2, 0.3, 0.0])).tolist() == [2 / 3, 2 / 3, 1.0]


def test_the_smallest_p_is_compared_with_the_smallest_of_every_line() -> None:
    # smallest by line: .25, .25, .5, .75: two of four are at most the first
    assert smallest_p(np.array([[0.25, 1], [1, 0.25], [0.5, 0.5], [0.75, 0.75]])) == 0.5


def test_two_separated_samples_of_one_feature_have_the_p_of_all_labellings() -> None:
    # 3 + 3 traces: 2 of the 20 labellings separate the samples completely, so p is near .1
    test = compare_traces([[1], [2], [3]], [[4], [5], [6]], rng(), permutations=4000)
    assert test.parts[0].p_value == pytest.approx(0.1, abs=0.02)
    assert test.moved is not None
    assert (test.moved.column, test.moved.aspect) == (0, Aspect.LOCATION)
    # scores of ranks 1..6 over 7, mean 0, sum of squares 3.5177; those above sum to 1.8158;
    # variance 3.5177 * 3 * 3 / (6 * 5) = 1.0553
    scores = norm.ppf(np.arange(1, 7) / 7)
    assert test.moved.z == pytest.approx(scores[3:].sum() / math.sqrt((scores**2).sum() * 9 / 30))


def test_parts_agree_with_all_labellings_by_scipy() -> None:
    first, second = np.array([1.0, 4, 2, 8, 5]), np.array([7.0, 9, 3, 11])
    scores = normal_scores(np.r_[first, second][:, None])[:, 0]

    def difference(x: Any, y: Any, axis: int) -> Any:
        return np.abs(x.mean(axis=axis) - y.mean(axis=axis))

    exact = permutation_test(
        (scores[:5], scores[5:]), difference, n_resamples=10_000, alternative="greater", vectorized=True
    )
    test = compare_traces(first, second, rng(), permutations=10_000)
    # with one feature T2 is the squared difference of mean scores
    assert test.parts[1].p_value == pytest.approx(exact.pvalue, abs=0.02)


def test_t2_of_the_scores_is_the_slow_formula() -> None:
    from agentmut.stats.traces.shrinkage import ledoit_wolf

    both = rng(3).standard_normal((25, 4)) @ rng(4).standard_normal((4, 4))
    scores = normal_scores(both)
    d = scores[15:].mean(axis=0) - scores[:15].mean(axis=0)
    slow = 15 * 10 / 25 * d @ np.linalg.inv(ledoit_wolf(scores).covariance) @ d
    assert compare_traces(both[:15], both[15:], rng(), 9).parts[1].statistic == pytest.approx(slow)


def test_a_shift_a_spread_and_a_new_order_are_found_and_named() -> None:
    draw = rng(5)
    baseline, candidate = draw.standard_normal((100, 6)), draw.standard_normal((30, 6))
    lower, wider = candidate.copy(), candidate.copy()
    lower[:, 4] -= 2
    wider[:, 2] *= 6
    low, wide = compare_traces(baseline, lower, draw), compare_traces(baseline, wider, draw)
    assert low.test.p_value <= 0.003 and wide.test.p_value <= 0.003
    assert low.moved is not None and wide.moved is not None
    assert low.moved[:2] == (4, Aspect.LOCATION) and low.moved.z < 0
    assert wide.moved[:2] == (2, Aspect.SCALE) and wide.moved.z > 0
    assert str(low).startswith("p = 0.00") and "column 4: location down" in str(low)


def test_an_order_only_change_is_seen_in_pairs_of_calls_and_nowhere_else() -> None:
    forth, back = ["look", "check", "pay"], ["check", "look", "pay"]
    pairs = bigram_counts([forth] * 20, [back] * 10)
    assert compare_traces(pairs.baseline, pairs.candidate, rng()).test.p_value <= 0.003
    counts = np.ones((20, 3)), np.ones((10, 3))
    assert compare_traces(*counts, rng()).test.p_value == 1.0


def test_samples_without_a_varying_column_are_not_different() -> None:
    test = compare_traces(np.ones((4, 2)), np.ones((3, 2)), rng())
    assert (test.test.p_value, test.moved) == (1.0, None)
    assert [part.p_value for part in test.parts] == [1.0, 1.0, 1.0]
    assert "no feature varies" in str(test)
    assert compare_traces(np.ones((4, 0)), np.ones((3, 0)), rng()).test.p_value == 1.0


def test_columns_that_are_copies_of_each_other_count_once_in_t2() -> None:
    # two points, equally often: the shrinkage is 0 and the covariance has rank 1
    one = compare_traces([[0], [0], [1]], [[0], [1], [1]], rng(), 99).parts[1]
    three = compare_traces([[0] * 3, [0] * 3, [1] * 3], [[0] * 3, [1] * 3, [1] * 3], rng(), 99).parts[1]
    assert three.statistic == pytest.approx(one.statistic)
    assert three.p_value == one.p_value


def test_one_trace_against_many_can_be_compared() -> None:
    test = compare_traces(rng(2).standard_normal((99, 2)), [[9.0, 9.0]], rng())
    # of 100 places for the extreme trace one is the candidate's
    assert test.test.p_value == pytest.approx(0.01, abs=0.012)


def test_the_statistic_is_the_smallest_p_value_of_the_parts() -> None:
    test = compare_traces(rng(2).standard_normal((20, 3)), rng(3).standard_normal((20, 3)), rng())
    assert test.test.statistic == min(part.p_value for part in test.parts)


@settings(max_examples=25, deadline=None)
@given(SMALL, SMALL)
def test_units_order_preserving_maps_and_column_order_do_not_matter(first: Any, second: Any) -> None:
    plain = compare_traces(first, second, rng(), 99)
    mapped = compare_traces(np.exp(first)[:, ::-1], np.exp(second)[:, ::-1], rng(), 99)
    assert mapped.test.p_value == plain.test.p_value
    assert [p.p_value for p in mapped.parts] == [p.p_value for p in plain.parts]


@settings(max_examples=25, deadline=None)
@given(SMALL, SMALL)
def test_p_is_one_of_the_possible_shares_and_parts_agree_with_it(first: Any, second: Any) -> None:
    test = compare_traces(first, second, rng(), 99)
    smallest = test.test.statistic
    assert smallest <= test.test.p_value <= 1.0
    assert test.test.p_value * 100 == pytest.approx(round(test.test.p_value * 100))
    # three parts of equally exchangeable lines: at most the sum of the three shares
    assert test.test.p_value <= min(1.0, 3 * smallest) + 1e-12


def test_type_one_error_of_all_labellings_of_one_data_set_is_exact() -> None:
    """Every split of nine given traces into 5 + 4: at most a tenth of them may have p <= .1."""
    data = np.array([[1, 0], [1, 2], [3, 0], [2, 2], [9, 1], [4, 0], [4, 3], [0, 0], [2, 1.0]])
    small = 0
    for chosen in itertools.combinations(range(9), 4):
        others = [i for i in range(9) if i not in chosen]
        small += compare_traces(data[others], data[list(chosen)], rng(sum(chosen)), 199).test.p_value <= 0.1
    # exchangeable over the 126 splits; the permutations add a standard error of about .02 to each p
    assert small / 126 <= 0.14
    assert small > 0


@pytest.mark.parametrize(
    ("baseline", "candidate", "message"),
    [
        ([[1, 2]], [[1]], "must have the same features, got 2 and 1 columns"),
        (np.ones((0, 2)), [[1, 2]], "baseline must have at least 1 rows"),
        ([[1, 2]], np.ones((0, 2)), "candidate must have at least 1 rows"),
        ([[1, math.nan]], [[1, 2]], "baseline must hold numbers from -1e.70 to 1e.70, got nan"),
        ([[1, 2]], [[math.inf, 2]], "candidate must hold numbers .* got inf"),
        (np.ones((2, 2, 2)), [[1, 2]], "baseline must be a matrix of traces by features, got shape"),
    ],
)
def test_bad_samples_are_named(baseline: Any, candidate: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_traces(baseline, candidate, rng())


@pytest.mark.parametrize("permutations", [0, -1, 9.5])
def test_permutations_are_a_count(permutations: Any) -> None:
    with pytest.raises(ValueError, match="permutations must be a whole number of at least 1"):
        compare_traces([[1], [2]], [[3]], rng(), permutations)


def test_pairs_are_counted_with_first_and_last_marked() -> None:
    found = bigram_counts([["a", "b", "b"]], [["b"], []])
    assert found.pairs == (("", ""), ("", "a"), ("", "b"), ("a", "b"), ("b", ""), ("b", "b"))
    assert found.baseline.tolist() == [[0, 1, 0, 1, 1, 1]]
    assert found.candidate.tolist() == [[0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 0]]


def test_pairs_beyond_the_limit_are_counted_together() -> None:
    # a-b is in two of four, x-y and its ends in one each; pairs that all traces share tell nothing
    found = bigram_counts([["a", "b"], ["a", "b"]], [["b", "a"], ["b", "a"]], limit=4)
    full = bigram_counts([["a", "b"], ["a", "b"]], [["b", "a"], ["b", "a"]])
    assert found.pairs == (("", "a"), ("", "b"), ("a", ""), OTHER)
    assert found.baseline.sum(axis=1).tolist() == full.baseline.sum(axis=1).tolist() == [3, 3]


def test_pairs_that_vary_are_kept_before_those_that_do_not() -> None:
    found = bigram_counts([["a", "b", "c"]] * 3, [["a", "b", "d"]] * 2, limit=5)
    assert found.pairs == (("b", "c"), ("b", "d"), ("c", ""), ("d", ""), OTHER)


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=2, max_size=8), st.integers(1, 9))
def test_each_sequence_has_one_pair_more_than_calls(sequences: list[list[str]], limit: int) -> None:
    found = bigram_counts(sequences[:1], sequences[1:], limit)
    both = np.concatenate([found.baseline, found.candidate])
    assert both.sum(axis=1).tolist() == [len(sequence) + 1 for sequence in sequences]
    assert both.shape[1] == len(found.pairs) <= limit


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=2, max_size=8))
def test_which_pairs_are_kept_does_not_depend_on_the_labels(sequences: list[list[str]]) -> None:
    there, back = (bigram_counts(order[:1], order[1:], 4).pairs for order in (sequences, sequences[::-1]))
    assert there == back


@pytest.mark.parametrize("sequence", ["abc", ["a", ""]])
def test_a_sequence_holds_names(sequence: Any) -> None:
    with pytest.raises(ValueError, match="a sequence must hold tool names that are not empty"):
        bigram_counts([sequence], [["a"]])


def test_the_limit_is_a_count() -> None:
    with pytest.raises(ValueError, match="limit must be a whole number of at least 1, got 0"):
        bigram_counts([["a"]], [["b"]], 0)


def test_ranks_of_scores_are_the_ranks_of_the_values() -> None:
    values = rng(8).integers(0, 9, (40, 3)).astype(float)
    assert (rankdata(normal_scores(values), axis=0) == rankdata(values, axis=0)).all()


def test_p_values_under_no_change_are_spread_evenly() -> None:
    draw = rng(11)
    found = [
        compare_traces(draw.poisson(2, (30, 4)), draw.poisson(2, (8, 4)), draw, 99).test.p_value
        for _ in range(300)
    ]
    # a uniform p has mean 1/2 with standard error .017, and is significant somewhere in 5 % after control
    assert np.mean(found) == pytest.approx(0.5, abs=0.07)
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.05)
    assert false_discovery_control(found, method="bh").min() > 0.01


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([[10**400]], "baseline must hold numbers from -1e.70 to 1e.70, got a larger one"),
        ([["1"]], "baseline must hold numbers, got text"),
        ([[b"1"]], "baseline must hold numbers, got text"),
        ([[object()]], "baseline must hold numbers, got other objects"),
    ],
)
def test_what_is_no_number_is_no_feature(sample: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_traces(sample, [[1.0]], np.random.default_rng(1))


def test_labellings_with_the_same_smallest_p_are_told_apart_by_the_next() -> None:
    parts = np.array([[0.25, 0.5], [0.25, 1.0], [0.5, 0.25], [1.0, 0.75]])
    assert smallest_p(parts) == 2 / 4  # lines 0 and 2; by the smallest alone, line 1 would be a third
    assert smallest_p(parts[[1, 0, 2, 3]]) == 3 / 4
    assert smallest_p(np.ones((5, 3))) == 1


STAGES = (Stage(19, 0.2), Stage(39, 0.1))


def test_a_test_that_may_end_early_exceeds_no_level() -> None:
    """Exchangeable lines: the share of p-values at or below a level, within four standard errors of it."""
    draw = rng(12)
    statistics = lambda lines: draw.random((len(lines), 3))  # noqa: E731
    found = np.array(
        [
            smallest_p(p_values(staged(lambda size: np.zeros((size + 1, 1)), 99, STAGES, statistics)))
            for _ in range(1500)
        ]
    )
    for level in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 0.8):
        assert np.mean(found <= level) <= level + 4 * math.sqrt(level * (1 - level) / 1500)
    assert np.mean(found <= 0.05) > 0.02  # and it is no test that never finds anything


def test_stages_draw_the_same_labellings_and_end_where_nothing_can_be_found() -> None:
    draw = rng(6)
    baseline, alike, lower = draw.poisson(9, (40, 3)), draw.poisson(9, (9, 3)), draw.poisson(3, (9, 3))
    one, other = rng(), rng()
    clear = compare_traces(baseline, lower, one, 199, STAGES)
    assert clear == compare_traces(baseline, lower, other, 199)
    assert one.bit_generator.state == other.bit_generator.state
    nothing, whole = (
        compare_traces(baseline, alike, one, 199, STAGES),
        compare_traces(baseline, alike, other, 199),
    )
    assert nothing.test.p_value > 0.2 and whole.test.p_value > 0.2
    assert one.bit_generator.state != other.bit_generator.state
    assert nothing.test.p_value * 20 == pytest.approx(round(nothing.test.p_value * 20))


@pytest.mark.parametrize("stages", [(Stage(9, 0.2), Stage(9, 0.1)), (Stage(9, 0.2), Stage(19, 0.2))])
def test_stages_that_do_not_narrow_are_refused(stages: Any) -> None:
    with pytest.raises(ValueError, match="ever more permutations and ever smaller p-values"):
        compare_traces([[1], [2]], [[3]], rng(), 99, stages)


def test_a_line_of_labels_has_the_sum_of_its_rows() -> None:
    values = np.array([[1.0, 10], [2, 20], [4, 40]])
    assert row_sums(np.array([[0.0, 1, 1], [1, 0, 0]]), values).tolist() == [[6, 60], [1, 10]]
