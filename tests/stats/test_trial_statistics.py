"""Trial statistics, the two pass rates, spread and percentile."""

import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut.nouns.trace import Outcome
from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.verdicts.trial_statistics import (
    nearest_rank,
    pass_rates,
    sample_standard_deviation,
    trial_statistics,
)

P, F, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.INFRASTRUCTURE
numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50)


def test_a_timeout_fails_and_broken_machinery_leaves_one_denominator_only() -> None:
    # 10 passes; per protocol 10 + 5 + 2 = 17 trials, intention to treat 17 + 3 + 1 + 1 = 22
    counts = {P: 10, F: 5, Outcome.TIMEOUT: 2, ERROR: 3, Outcome.PRE_VALIDATION: 1, Outcome.EMPTY_RUN: 1}
    rates = pass_rates(counts)
    assert rates.per_protocol == wilson(10, 17)
    assert rates.intention_to_treat == wilson(10, 22)
    assert str(rates) == (
        "per protocol 0.588 [0.360, 0.784] (95% wilson, n=17); "
        "intention to treat 0.455 [0.269, 0.653] (95% wilson, n=22)"
    )


def test_trials_that_were_all_broken_say_nothing_per_protocol() -> None:
    rates = pass_rates({ERROR: 4})
    assert rates.per_protocol == wilson(0, 0)
    assert rates.intention_to_treat.estimate == 0
    assert pass_rates({}).intention_to_treat.estimate is None


@given(st.dictionaries(st.sampled_from(list(Outcome)), st.integers(0, 50)))
def test_the_pipeline_never_does_better_than_the_agent(counts: dict[Outcome, int]) -> None:
    agent, pipeline = pass_rates(counts)
    assert agent.n <= pipeline.n == sum(counts.values())
    if agent.estimate is not None and pipeline.estimate is not None:
        assert pipeline.estimate <= agent.estimate


def test_the_trials_of_one_test_are_counted_and_scored() -> None:
    found = trial_statistics([P, F, P, ERROR, P], [1, 0.3, 0.9, 0, 1])
    assert (found.trials, found.passes, found.fails, found.errors) == (5, 3, 1, 1)
    assert found.flaky
    assert found.rates.intention_to_treat == wilson(3, 5)
    assert found.rates.per_protocol == wilson(3, 4)
    # sum 3.2; squares 1 + .09 + .81 + 0 + 1 = 2.9; (2.9 - 3.2^2/5)/4 = .213
    assert found.mean_score == pytest.approx(0.64)
    assert found.score_deviation == pytest.approx(math.sqrt(0.213))
    assert str(found).startswith("5 trials: 3 passed, 1 failed, 1 errors, flaky; per protocol 0.750")
    assert str(found).endswith("mean score 0.640 (sample standard deviation 0.462)")


@pytest.mark.parametrize(
    ("outcomes", "flaky"),
    [
        ([P, F], True),
        ([P, Outcome.TIMEOUT], True),
        ([P, ERROR], False),
        ([F, ERROR], False),
        ([P, P], False),
        ([], False),
    ],
)
def test_flaky_needs_a_pass_and_a_fail(outcomes: list[Outcome], flaky: bool) -> None:
    assert trial_statistics(outcomes).flaky is flaky


def test_without_scores_there_is_no_mean_and_one_score_has_no_spread() -> None:
    bare, single = trial_statistics([P]), trial_statistics([P], [0.5])
    assert (bare.mean_score, bare.score_deviation) == (None, None)
    assert (single.mean_score, single.score_deviation) == (0.5, None)
    assert "score" not in str(bare)
    assert str(single).endswith("mean score 0.500 (sample standard deviation n/a)")


@given(numbers)
def test_the_standard_deviation_is_that_of_the_standard_library(values: list[float]) -> None:
    assert sample_standard_deviation(values) == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-9)


def test_equal_values_have_no_spread_and_one_value_none_that_is_known() -> None:
    assert sample_standard_deviation([2.5] * 7) == 0
    assert sample_standard_deviation([2.5]) is None
    assert sample_standard_deviation([]) is None
    assert sample_standard_deviation([1, 0]) == pytest.approx(math.sqrt(0.5))


@given(numbers, st.integers(1, 100))
def test_the_percentile_is_numpys_inverted_distribution_function(values: list[float], percent: int) -> None:
    # numpy's level is a float: it lands between two ranks where percent * n / 100 is whole, so leave those out
    if percent * len(values) % 100:
        assert nearest_rank(values, percent) == np.quantile(values, percent / 100, method="inverted_cdf")


def test_a_whole_rank_is_that_rank() -> None:
    assert nearest_rank(range(1, 21)) == 19  # ceil(0.95 * 20) = 19
    assert nearest_rank(range(1, 101), 7) == 7  # 0.07 * 100 is 7.000000000000001 in floats
    assert nearest_rank([3, 1, 2], 100) == 3
    assert nearest_rank([4]) == 4


def untyped(function: Any) -> Any:
    """The function for a call that a type checker refuses."""
    return function


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nearest_rank([]), "the number of values must be a whole number of at least 1, got 0"),
        (lambda: nearest_rank([1], 0), "percent must be a whole number of at least 1 and at most 100, got 0"),
        (lambda: untyped(nearest_rank)([1], 0.95), "percent must be a whole number"),
        (lambda: nearest_rank([1, math.nan]), "values must be finite numbers, got nan"),
        (lambda: sample_standard_deviation([math.inf, 1]), "values must be finite numbers, got inf"),
        (lambda: trial_statistics([P], [math.nan]), "scores must be finite numbers, got nan"),
        (lambda: untyped(trial_statistics)(["passed"]), "an outcome must be one of pass, fail, timeout"),
        (lambda: pass_rates({P: -1}), r"counts\[pass\] must be a whole number of at least 0, got -1"),
        (lambda: pass_rates({P: 1}, 1.0), r"level must be in \(0, 1\), got 1.0"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_outcome_that_is_none_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match=r"an outcome must be one of pass, fail, timeout, .*, got 'ok'"):
        trial_statistics(["ok"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"an outcome must be one of pass, fail, timeout, .*, got 1"):
        pass_rates({1: 3})  # type: ignore[dict-item]
