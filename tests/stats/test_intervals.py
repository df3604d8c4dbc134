import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from agentmut.stats.intervals.proportion import (
    PROPORTION_INTERVALS,
    Interval,
    ProportionInterval,
    agresti_coull,
    clopper_pearson,
    descriptive,
    jeffreys,
    proportion_interval,
    wald,
    wilson,
)
from benchmarks.calibration.intervals import coverage, least_coverage

EXAMPLES = Path(__file__).with_name("worked_examples.json")


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


STATSMODELS = {
    "wilson": "wilson",
    "wald": "normal",
    "clopper-pearson": "beta",
    "agresti-coull": "agresti_coull",
    "jeffreys": "jeffreys",
}
LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
every_method = pytest.mark.parametrize(
    "interval", PROPORTION_INTERVALS.values(), ids=list(PROPORTION_INTERVALS)
)


@pytest.mark.parametrize("name", PROPORTION_INTERVALS)
@given(n=st.integers(1, 400), data=st.data(), level=LEVELS)
def test_every_method_agrees_with_statsmodels(name: str, n: int, data: st.DataObject, level: float) -> None:
    # away from k = 0 and k = n, where statsmodels' Jeffreys keeps the beta quantile
    k = data.draw(st.integers(1, max(1, n - 1)).filter(lambda k: name != "jeffreys" or 0 < k < n))
    expected = np.clip(proportion_confint(k, n, 1 - level, STATSMODELS[name]), 0, 1)
    found = proportion_interval(k, n, level, name)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-9)
    assert found[3:] == (level, n, name)
    assert found.estimate == k / n


@given(st.integers(1, 300), st.data(), LEVELS)
def test_clopper_pearson_agrees_with_scipy(n: int, data: st.DataObject, level: float) -> None:
    k = data.draw(st.integers(0, n))
    expected = binomtest(k, n).proportion_ci(level, method="exact")
    found = clopper_pearson(k, n, level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_bounds_of_an_all_pass_run_by_hand() -> None:
    # Clopper-Pearson: p^n = 0.025, so p = 0.025^(1/10); Wald has no width
    assert clopper_pearson(10, 10)[1:3] == pytest.approx((0.025**0.1, 1.0))
    assert wald(10, 10)[1:3] == (1.0, 1.0)
    assert jeffreys(10, 10)[1:3] == pytest.approx((beta(10.5, 0.5).ppf(0.025), 1.0))
    # n' = 13.841459, p' = 11.920729/13.841459 = 0.861233, half 1.959964 * 0.0929204
    assert agresti_coull(10, 10)[1:3] == pytest.approx((0.679113, 1.0), abs=1e-6)


@every_method
@given(n=st.integers(1, 200), data=st.data(), level=LEVELS)
def test_exchanging_passes_and_failures_mirrors_the_interval(
    interval: ProportionInterval, n: int, data: st.DataObject, level: float
) -> None:
    k = data.draw(st.integers(0, n))
    one, other = interval(k, n, level), interval(n - k, n, level)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)
    assert 0 <= one.low <= k / n + 1e-12
    assert k / n - 1e-12 <= one.high <= 1


@every_method
def test_bounds_rise_with_the_successes_and_widen_with_the_level(interval: ProportionInterval) -> None:
    found = [interval(k, 30, 0.9) for k in range(31)]
    assert [i.low for i in found] == sorted(i.low for i in found)
    assert [i.high for i in found] == sorted(i.high for i in found)
    for k, narrow in enumerate(found):
        wide = interval(k, 30, 0.99)
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high


@every_method
def test_no_trials_leave_everything_possible_whatever_the_method(interval: ProportionInterval) -> None:
    assert interval(0, 0, 0.9)[:5] == (None, 0.0, 1.0, 0.9, 0)


def test_a_method_is_found_by_the_name_it_prints() -> None:
    for name, method in PROPORTION_INTERVALS.items():
        assert method(3, 7, 0.9).method == name
        assert proportion_interval(3, 7, 0.9, name) == method(3, 7, 0.9)
    with pytest.raises(ValueError, match=r"method must be one of wilson, wald, .*, got 'exact'"):
        proportion_interval(3, 7, 0.9, "exact")


def test_early_stopping_is_part_of_what_is_printed() -> None:
    marked = descriptive(wilson(2, 10))
    assert marked[:5] == wilson(2, 10)[:5]
    assert str(marked).endswith("(95% wilson, descriptive after early stopping, n=10)")
    assert descriptive(marked) == marked


@pytest.mark.parametrize(
    ("estimate", "low", "high", "shown"),
    [
        (0.5, 0.25, 0.75, "0.500 [0.250, 0.750]"),
        (-0.3, -1.2, 0.5, "-0.30 [-1.20, 0.50]"),
        (0.1, -0.00001, 0.2, "0.100 [0.000, 0.200]"),
        (1234.6, 1180.25, 1290.0, "1235 [1180, 1290]"),
        (26.2, 1.5, 460.4, "26.2 [1.5, 460.4]"),
        (1e-5, -2e-5, 3e-5, "1.00e-05 [-2.00e-05, 3.00e-05]"),
        (2.5e9, 2e9, 3e9, "2.50e+09 [2.00e+09, 3.00e+09]"),
        (0.99999, 0.99987, 0.999999, "0.999990 [0.999870, 0.999999]"),
        (4.0, -math.inf, math.inf, "4.000 [-inf, inf]"),
        (None, 0.0, math.inf, "n/a [0.000, inf]"),
        (0.0, 0.0, 0.0, "0.000 [0.000, 0.000]"),
    ],
)
def test_numbers_of_any_size_print_with_the_digits_that_matter(
    estimate: float | None, low: float, high: float, shown: str
) -> None:
    assert str(Interval(estimate, low, high, 0.95, 3, "x")) == f"{shown} (95% x, n=3)"


def test_levels_print_without_rounding_errors() -> None:
    assert "(97.5% " in str(wilson(1, 2, 1 - 0.05 / 2))
    assert "(99% " in str(wilson(1, 2, 1 - (1 - 0.99)))


def test_coverage_is_counted_by_hand_for_two_trials() -> None:
    # Wald, n = 2: [0, 0], 0.5 -+ 1.96 sqrt(1/8) cut to [0, 1], [1, 1]: only k = 1 covers 0.3
    assert coverage(wald, 2, 0.3) == pytest.approx(2 * 0.3 * 0.7)
    assert coverage(wald, 2, 0.0) == 1.0
    assert coverage(wald, 0, 0.3) == 1.0


@given(st.integers(1, 60), st.floats(0.001, 0.999), LEVELS)
def test_coverage_agrees_with_the_sum_over_scipys_binomial(n: int, p: float, level: float) -> None:
    inside = [k for k in range(n + 1) if jeffreys(k, n, level).low <= p <= jeffreys(k, n, level).high]
    assert coverage(jeffreys, n, p, level) == pytest.approx(
        sum(binom.pmf(k, n, p) for k in inside), abs=1e-12
    )


def test_coverage_of_an_array_of_rates_has_its_shape() -> None:
    rates = np.array([[0.1, 0.5], [0.9, 1.0]])
    found = coverage(wilson, 20, rates, 0.9)
    assert found.shape == (2, 2)
    assert found[1, 0] == coverage(wilson, 20, 0.9, 0.9)
    with pytest.raises(ValueError, match=r"p must be in \[0, 1\], got"):
        coverage(wilson, 20, 1.2)


def test_no_rate_of_a_fine_grid_is_covered_less_than_the_least() -> None:
    for interval in PROPORTION_INTERVALS.values():
        least = least_coverage(interval, 12, 0.9)
        on_grid = coverage(interval, 12, np.linspace(0.0001, 0.9999, 9999), 0.9).min()
        assert least <= on_grid + 1e-9
        assert on_grid <= least + 0.01


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 17, 40])
def test_clopper_pearson_never_covers_less_than_it_says(n: int, level: float) -> None:
    assert least_coverage(clopper_pearson, n, level) >= level - 1e-9


@pytest.mark.process
def test_the_module_needs_no_numpy() -> None:
    code = (
        "import sys; from agentmut.stats.intervals.proportion import wilson, wald; wilson(3, 5); wald(3, 5);"
        "assert not {'numpy', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


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
@every_method
def test_bad_input_is_named_with_its_range(
    k: Any, n: Any, level: float, message: str, interval: ProportionInterval
) -> None:
    with pytest.raises(ValueError, match=message):
        interval(k, n, level)


def test_the_worked_examples_come_out() -> None:
    checked = 0
    for example in json.loads(EXAMPLES.read_text()):
        given_, expected = example["inputs"], example["expected"]
        if isinstance(expected, dict) and "wilson" in expected and "k" in given_ and "n" in given_:
            for name in set(expected) & {"wilson", "wald", "clopper_pearson"}:
                method = name.replace("_", "-")
                found = proportion_interval(given_["k"], given_["n"], given_.get("conf", 0.95), method)
                assert list(found[1:3]) == pytest.approx(expected[name], abs=example["tol"]), example
                checked += 1
    assert checked >= 18
