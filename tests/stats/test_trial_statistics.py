"""The two pass rates, spread and percentile."""

import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut.nouns.trace import Outcome
from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.reliability.durations import nearest_rank, sample_standard_deviation
from agentmut.stats.verdicts.trial_statistics import pass_rates

P, F, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.INFRASTRUCTURE
numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50)


def test_a_timeout_fails_and_broken_machinery_leaves_one_denominator_only() -> None:
    # 10 passes; per protocol 10 + 5 + 2 = 17 trials, intention to treat 17 + 3 + 1 + 1 = 22
    counts = {P: 10, F: 5, Outcome.TIMEOUT: 2, ERROR: 3, Outcome.PRE_VALIDATION: 1, Outcome.EMPTY_RUN: 1}
    rates = pass_rates(counts)
    assert rates.per_protocol == wilson(10, 17)
    assert rates.intention_to_treat == wilson(10, 22)
    assert rates.in_time == wilson(10, 15)
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
    agent, pipeline, _ = pass_rates(counts)
    assert agent.n <= pipeline.n == sum(counts.values())
    if agent.estimate is not None and pipeline.estimate is not None:
        assert pipeline.estimate <= agent.estimate


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
        (lambda: pass_rates({P: -1}), r"counts\[pass\] must be a whole number of at least 0, got -1"),
        (lambda: pass_rates({P: 1}, 1.0), r"level must be in \(0, 1\), got 1.0"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_outcome_that_is_none_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match=r"an outcome must be one of pass, fail, timeout, .*, got 'ok'"):
        pass_rates({"ok": 1})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"an outcome must be one of pass, fail, timeout, .*, got 1"):
        pass_rates({1: 3})  # type: ignore[dict-item]
