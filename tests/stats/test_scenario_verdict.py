"""Verdicts against a threshold, fixed and sequential."""

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from agentmut.stats.sequential.sprt import Boundaries, SprtDesign, SprtState
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.scenario_verdict import (
    FixedMethod,
    critical,
    fixed_verdict,
    p_values,
    sprt_verdict,
)

PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE
METHODS: tuple[FixedMethod, ...] = ("clopper-pearson", "wilson")


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 200),
    st.data(),
    st.sampled_from([0.3, 0.5, 0.8, 0.85, 0.9, 0.95, 0.99]),
    st.sampled_from([0.01, 0.05, 0.1, 0.2]),
    st.sampled_from(METHODS),
)
def test_the_verdict_is_where_the_threshold_lies_to_scipys_interval(
    n: int, data: st.DataObject, threshold: float, alpha: float, method: FixedMethod
) -> None:
    k = data.draw(st.integers(0, n))
    test = binomtest(k, n)
    expected = test.proportion_ci(1 - alpha, "exact" if method == "clopper-pearson" else "wilson")
    assume(min(abs(expected.low - threshold), abs(expected.high - threshold)) > 1e-9)
    found = fixed_verdict(k, n, threshold, alpha, method)
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(expected), abs=1e-9)
    assert (found.verdict is FAIL) == (expected.high < threshold) == (found.p_fail <= alpha)
    assert (found.verdict is PASS) == (expected.low >= threshold)


def test_p_fail_doubles_the_lower_tail() -> None:
    # 1 of 4 at .5: P(X <= 1) = 5/16
    assert fixed_verdict(1, 4, 0.5).p_fail == pytest.approx(5 / 8)
    assert fixed_verdict(4, 4, 0.5).p_fail == 1


def test_an_interval_that_ends_on_the_threshold_is_inconclusive() -> None:
    # 0 of 5 at .5: 2/32 = .0625 is exactly alpha, so the upper end is .5 and not below it
    tied = fixed_verdict(0, 5, 0.5, alpha=0.0625)
    assert tied.verdict is INCONCLUSIVE
    assert tied.p_fail > 0.0625
    assert fixed_verdict(0, 5, 0.5, alpha=0.063).verdict is FAIL


def test_an_interval_that_begins_on_the_threshold_passes() -> None:
    assert fixed_verdict(5, 5, 0.5, alpha=0.0625).verdict is PASS


def test_the_reason_gives_the_numbers() -> None:
    assert fixed_verdict(47, 50, 0.85).reason == "47 of 50 passed (0.94); 0.85 is inside [0.83, 0.99]"
    assert fixed_verdict(30, 50, 0.85).reason == "30 of 50 passed (0.60); 0.85 is above [0.45, 0.74]"
    assert fixed_verdict(50, 50, 0.85).reason == "50 of 50 passed (1.00); 0.85 is not above [0.93, 1.00]"


def test_bounds_are_printed_with_the_digits_that_tell_them_from_the_threshold() -> None:
    # .025^(1/35) = .89997
    assert fixed_verdict(35, 35, 0.9).reason == "35 of 35 passed (1.00); 0.9 is inside [0.89997, 1.00000]"


def test_wilson_fails_on_a_single_failure_and_clopper_pearson_does_not() -> None:
    assert fixed_verdict(0, 1, 0.85, method="wilson").verdict is FAIL
    assert fixed_verdict(0, 1, 0.85).verdict is INCONCLUSIVE


def test_the_result_names_its_method_and_size() -> None:
    found = fixed_verdict(90, 100, 0.85)
    assert (found.n, found.method, found.interval.method) == (100, "clopper-pearson", "clopper-pearson")
    assert found.interval.level == 0.95


@pytest.mark.parametrize("method", METHODS)
def test_no_trials_are_inconclusive_and_say_why(method: FixedMethod) -> None:
    found = fixed_verdict(0, 0, 0.85, method=method)
    assert (found.verdict, found.p_fail, found.n, found.needed) == (INCONCLUSIVE, 1.0, 0, None)
    assert found.reason == "no trials, so nothing is known about 0.85"
    assert (found.interval.low, found.interval.high) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_threshold_of_one_can_fail_but_not_pass(method: FixedMethod) -> None:
    assert fixed_verdict(99, 100, 1.0, method=method).verdict is FAIL
    assert fixed_verdict(99, 100, 1.0, method=method).p_fail == 0
    perfect = fixed_verdict(100, 100, 1.0, method=method)
    assert (perfect.verdict, perfect.needed) == (INCONCLUSIVE, None)


@given(st.integers(1, 100), st.data(), st.sampled_from([0.25, 0.5, 0.75]), st.sampled_from(METHODS))
def test_exchanging_passes_and_failures_exchanges_the_p_values(
    n: int, data: st.DataObject, threshold: float, method: FixedMethod
) -> None:
    k = data.draw(st.integers(0, n))
    one, other = p_values(k, n, threshold, method), p_values(n - k, n, 1 - threshold, method)
    assert (one.fail, one.passing) == pytest.approx((other.passing, other.fail), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 120), st.data(), st.sampled_from([0.5, 0.85, 0.99, 1.0]), st.sampled_from(METHODS))
def test_the_critical_numbers_decide_as_the_verdict_does(
    n: int, data: st.DataObject, threshold: float, method: FixedMethod
) -> None:
    k, bound = data.draw(st.integers(0, n)), critical(n, threshold, 0.05, method)
    expected = FAIL if k <= bound.fail_at else PASS if k >= bound.pass_at else INCONCLUSIVE
    assert fixed_verdict(k, n, threshold, 0.05, method).verdict is expected


@pytest.mark.parametrize(
    ("k", "n", "needed"),
    [
        # at .5 and alpha .05 nothing but passes decides once .5^N <= .025: N = 6; failures likewise
        (3, 3, 3),
        (0, 2, 4),
    ],
)
def test_certain_rates_need_exactly_the_missing_trials(k: int, n: int, needed: int) -> None:
    assert fixed_verdict(k, n, 0.5).needed == needed


def chance_of_a_verdict(k: int, n: int, more: int, threshold: float) -> float:
    decided = 0.0
    for x in range(more + 1):
        ends = binomtest(k + x, n + more).proportion_ci(0.95, method="exact")
        decided += float(binom.pmf(x, more, k / n)) * (ends.high < threshold or ends.low >= threshold)
    return decided


def test_needed_is_the_least_number_that_decides_in_four_cases_of_five() -> None:
    needed = fixed_verdict(47, 50, 0.85).needed
    assert needed == 25
    chances = [chance_of_a_verdict(47, 50, more, 0.85) for more in range(1, 26)]
    assert [chance >= 0.8 for chance in chances] == [False] * 24 + [True]


def test_a_rate_on_the_threshold_needs_more_trials_than_anybody_has() -> None:
    assert fixed_verdict(45, 50, 0.9).needed is None


def test_a_reached_verdict_needs_nothing() -> None:
    assert fixed_verdict(50, 50, 0.85).needed is None


def test_a_sequential_pass_is_evidence_of_a_rate_above_the_alternative() -> None:
    found = sprt_verdict(SprtDesign(0.9), [True] * 60)
    assert (found.verdict, found.n, found.p_fail, found.needed) == (PASS, 20, 1.0, None)
    # 20 log(8/9) = -2.3557, log .1 = -2.3026
    expected = "20 of 20 passed (1.00); log-ratio -2.36 is not above -2.30: evidence of a pass rate above 0.8"
    assert found.reason == expected


def test_a_sequential_fail_is_evidence_of_a_rate_below_the_threshold() -> None:
    found = sprt_verdict(SprtDesign(0.9), [False] * 9)
    # 5 log 2 = 3.4657 over log 20 = 2.9957; p = 2^-5
    assert (found.verdict, found.n) == (FAIL, 5)
    assert found.p_fail == pytest.approx(1 / 32)
    assert found.reason == (
        "0 of 5 passed (0.00); log-ratio 3.47 is not below 3.00: evidence of a pass rate below 0.9"
    )


def test_a_truncated_test_is_inconclusive_and_says_what_is_missing() -> None:
    found = sprt_verdict(SprtDesign(0.9, n_max=12), [True] * 12)
    assert (found.verdict, found.needed) == (INCONCLUSIVE, 8)  # 20 straight passes decide
    # 12 log(8/9) = -1.4134
    expected = "12 of 12 passed (1.00); log-ratio -1.41 is between -2.30 and 3.00, and no trial is left"
    assert found.reason == expected


def test_an_open_test_can_be_judged_from_its_state() -> None:
    design = SprtDesign(0.9)
    state = design.run([True, False])
    found = sprt_verdict(design, state)
    assert found == sprt_verdict(design, [True, False])
    assert (found.verdict, found.n) == (INCONCLUSIVE, 2)
    assert "no trial is left" not in found.reason


def test_a_sequential_interval_says_that_it_is_descriptive() -> None:
    found = sprt_verdict(SprtDesign(0.9, boundaries="wald"), [True] * 60)
    assert found.interval.method == "wilson, descriptive after early stopping"
    assert found.method == "SPRT, wald boundaries"


def test_a_sequential_test_without_trials_knows_nothing() -> None:
    found = sprt_verdict(SprtDesign(0.9), SprtState())
    assert (found.verdict, found.p_fail, found.needed) == (INCONCLUSIVE, 1.0, None)
    assert found.reason == "no trials, so nothing is known about 0.9"


@given(
    st.lists(st.booleans(), max_size=50),
    st.sampled_from(["wald", "strict"]),
    st.sampled_from([(0.05, 0.2), (0.01, 0.2), (0.1, 0.02), (0.0625, 0.2)]),
)
@settings(max_examples=60, deadline=None)
def test_fail_means_p_fail_within_alpha_for_both_boundaries(
    results: list[bool], boundaries: Boundaries, levels: tuple[float, float]
) -> None:
    found = sprt_verdict(SprtDesign(0.9, 0.1, *levels, 50, boundaries), results)
    assert (found.verdict is FAIL) == (found.p_fail <= levels[0])


def test_a_tie_with_the_boundary_fails_with_p_at_alpha() -> None:
    # four failures: 1/16 = .0625, which rounding could put above alpha
    found = sprt_verdict(SprtDesign(0.9, 0.1, 0.0625, 0.2), [False] * 4)
    assert (found.verdict, found.n) == (FAIL, 4)
    assert found.p_fail <= 0.0625


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (SprtState(5, 6), "failures must be a whole number of at least 0 and at most 5, got 6"),
        (SprtState(101, 6), "n must be a whole number of at least 0 and at most 100, got 101"),
        (SprtState(5, 1, math.nan), r"peak must be at least .*, got nan"),
        (SprtState(5, 0, -0.1), r"peak must be at least 0, .*, got -0.1"),
        # two failures: 2 log 2 + 3 log(.8/.9) = 1.033
        (SprtState(5, 2, 1.0), r"peak must be at least 1.03.*, got 1.0"),
    ],
)
def test_a_state_with_impossible_counts_is_refused(state: SprtState, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sprt_verdict(SprtDesign(0.9), state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": -1}, "k must be a whole number of at least 0 and at most 50, got -1"),
        ({"k": 51}, "k must be a whole number of at least 0 and at most 50, got 51"),
        ({"k": 4.5}, "k must be a whole number"),
        ({"n": -2}, "n must be a whole number of at least 0, got -2"),
        ({"threshold": 0.0}, r"threshold must be in \(0, 1\], got 0.0"),
        ({"threshold": math.nan}, r"threshold must be in \(0, 1\], got nan"),
        ({"alpha": 0.0}, r"alpha must be in \(0, 1\), got 0.0"),
        ({"alpha": math.nan}, r"alpha must be in \(0, 1\), got nan"),
        ({"method": "wald"}, "method must be one of clopper-pearson, wilson, got 'wald'"),
    ],
)
def test_bad_input_is_named_with_its_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fixed_verdict(**{"k": 45, "n": 50, "threshold": 0.85, **changes})


def test_a_judgement_prints_in_one_line() -> None:
    open_, reached = fixed_verdict(47, 50, 0.9), fixed_verdict(50, 50, 0.9)
    assert str(open_).startswith(
        "INCONCLUSIVE: 47 of 50 passed (0.94); 0.9 is inside [0.83, 0.99]; interval 0.940 ["
    )
    assert str(open_).endswith(f"; p_fail 1; about {open_.needed} further trials")
    assert str(reached).startswith("PASS: 50 of 50 passed")
    assert str(reached).endswith("; p_fail 1")


def test_going_on_once_with_what_is_needed_may_exceed_the_level() -> None:
    # 28 trials at a rate of .8, alpha = .01, then `needed` more where it is known: the docstring's warning
    n, alpha, theta = 28, 0.01, 0.8
    total = 0.0
    for k in range(n + 1):
        first = fixed_verdict(k, n, theta, alpha)
        chance = float(binom.pmf(k, n, theta))
        if first.verdict is Verdict.FAIL:
            total += chance
        elif first.needed is not None:
            fails = int(critical(n + first.needed, theta, alpha, "clopper-pearson").fail_at)
            total += chance * float(binom.cdf(fails - k, first.needed, theta))
    assert total == pytest.approx(0.01132, abs=1e-5)


def test_the_sequential_p_fail_of_wald_boundaries_has_a_factor_and_that_of_strict_ones_has_not() -> None:
    # two failures add 2 log 2: exp(-peak) = 1/4; times 1 - beta = .8 with Wald's boundaries
    wald, strict = (SprtDesign(0.9, 0.1, 0.05, 0.2, 50, boundaries) for boundaries in ("wald", "strict"))
    assert sprt_verdict(wald, [False] * 2).p_fail == pytest.approx(0.2)
    assert sprt_verdict(strict, [False] * 2).p_fail == pytest.approx(0.25)
    assert sprt_verdict(wald, [True]).p_fail == 1
