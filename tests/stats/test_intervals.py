import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from agentmut.stats.intervals import Interval, wilson

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "statistics.json"


def test_wilson_agrees_with_the_quadratic_solved_by_hand() -> None:
    # k = 1, n = 4, z = 1.959964: p = .25, z^2 = 3.841459
    # centre (0.25 + 0.4801824)/1.9603647, half sqrt(3.841459 (0.1875/4 + 3.841459/64))/1.9603647
    assert wilson(1, 4).low == pytest.approx(0.0455873, abs=1e-6)
    assert wilson(1, 4).high == pytest.approx(0.6993582, abs=1e-6)


@given(st.integers(1, 400), st.data(), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))
def test_wilson_agrees_with_scipy(n: int, data: st.DataObject, level: float) -> None:
    k = data.draw(st.integers(0, n))
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    ours = wilson(k, n, level)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0 <= ours.low <= k / n <= ours.high <= 1


def test_no_trials_leave_everything_possible_and_estimate_nothing() -> None:
    assert wilson(0, 0) == Interval(None, 0.0, 1.0, 0.95, 0, "wilson")
    assert str(wilson(0, 0)) == "n/a [0.000, 1.000] (95% wilson, n=0)"


def test_an_interval_prints_estimate_bounds_level_method_and_size() -> None:
    assert str(wilson(90, 100, 0.99)) == "0.900 [0.796, 0.954] (99% wilson, n=100)"


def test_bounds_at_the_edges_are_exactly_zero_and_one() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@pytest.mark.parametrize(
    ("k", "n", "level", "message"),
    [
        (-1, 10, 0.95, "k must be a whole number of at least 0 and at most 10, got -1"),
        (11, 10, 0.95, "k must be a whole number of at least 0 and at most 10, got 11"),
        (1.5, 10, 0.95, "k must be a whole number of at least 0 and at most 10, got 1.5"),
        (math.nan, 10, 0.95, "k must be a whole number"),
        (True, 10, 0.95, "k must be a whole number"),
        (0, -1, 0.95, "n must be a whole number of at least 0, got -1"),
        (1, 2.5, 0.95, "n must be a whole number"),
        (1, 10, 1.0, r"level must be in \(0, 1\), got 1.0"),
        (1, 10, 0.0, r"level must be in \(0, 1\), got 0.0"),
        (1, 10, math.nan, r"level must be in \(0, 1\), got nan"),
        (1, 10, 95, r"level must be in \(0, 1\), got 95"),
    ],
)
def test_bad_input_is_named_with_its_range(k: Any, n: Any, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson(k, n, level)


@pytest.mark.skipif(not GOLDEN.exists(), reason="worked examples are not on this machine")
def test_the_worked_examples_come_out() -> None:
    examples = json.loads(GOLDEN.read_text())["examples"]
    checked = 0
    for example in examples:
        given_, expected = example["inputs"], example["expected"]
        if isinstance(expected, dict) and "wilson" in expected and "k" in given_ and "n" in given_:
            found = wilson(given_["k"], given_["n"], given_.get("conf", 0.95))
            assert [found.low, found.high] == pytest.approx(expected["wilson"], abs=example["tol"]), example
            checked += 1
    assert checked >= 10
