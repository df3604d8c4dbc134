import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, boschloo_exact, fisher_exact
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

from agentmut.stats.tests.proportions import TwoSampleTest
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.regression import regression_verdict


def test_fisher_by_hand() -> None:
    # 5 of 5 against 2 of 5: 7 passes among 10. P(at most 2 of them in the candidate) is that of just 2,
    # C(5,2) C(5,5) / C(10,7) = 10 / 120
    assert regression_verdict(5, 5, 2, 5, test=TwoSampleTest.FISHER).p_fail == pytest.approx(10 / 120)


def test_the_p_values_are_those_of_scipy_and_statsmodels() -> None:
    table = np.array([[80, 90], [20, 10]])
    found = {test: regression_verdict(90, 100, 80, 100, test=test).p_fail for test in TwoSampleTest}
    assert found[TwoSampleTest.FISHER] == pytest.approx(fisher_exact(table, alternative="less").pvalue)
    assert found[TwoSampleTest.BOSCHLOO] == pytest.approx(boschloo_exact(table, alternative="less").pvalue)
    assert found[TwoSampleTest.Z] == pytest.approx(
        proportions_ztest([80, 90], [100, 100], alternative="smaller")[1]
    )


@pytest.mark.parametrize("test", TwoSampleTest)
def test_a_clear_drop_fails_and_says_how_large_it_is(test: TwoSampleTest) -> None:
    found = regression_verdict(45, 50, 25, 50, test=test)
    assert found.verdict is Verdict.FAIL
    assert found.reason.startswith("worse: 25/50 against 45/50 of the baseline, a change of -0.400, p = ")
    assert (found.n, found.needed, found.method) == (50, None, f"regression ({test})")


def test_no_drop_passes_once_the_margin_is_excluded() -> None:
    found = regression_verdict(90, 100, 89, 100)
    assert found.verdict is Verdict.PASS
    assert found.reason.startswith(
        "not worse by 0.2: 89/100 against 90/100 of the baseline, a change of -0.010"
    )


def test_a_small_but_certain_drop_fails_and_is_called_small() -> None:
    found = regression_verdict(900, 1000, 850, 1000, delta=0.2)
    assert found.verdict is Verdict.FAIL
    assert "though by less than 0.2" in found.reason
    assert "though" not in regression_verdict(900, 1000, 500, 1000, delta=0.2).reason


def test_few_trials_settle_nothing() -> None:
    found = regression_verdict(90, 100, 8, 10)
    assert found.verdict is Verdict.INCONCLUSIVE
    # scipy.stats.boschloo_exact([[8, 90], [2, 10]], "less")
    assert "worse: p = 0.203 > 0.05; not worse by 0.2: p = 0.376 > 0.1" in found.reason


def test_alpha_decides_fail_and_beta_decides_pass() -> None:
    # 90/100 -> 80/100: p of worse is .0367, p of not worse by .2 is .0286
    assert regression_verdict(90, 100, 80, 100, alpha=0.05, beta=0.01).verdict is Verdict.FAIL
    assert regression_verdict(90, 100, 80, 100, alpha=0.01, beta=0.05).verdict is Verdict.PASS
    assert regression_verdict(90, 100, 80, 100, alpha=0.01, beta=0.02).verdict is Verdict.INCONCLUSIVE


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 30), st.integers(0, 30), st.floats(0.01, 0.3), st.sampled_from(list(TwoSampleTest)[::2])
)
def test_fail_is_exactly_a_p_value_of_at_most_alpha(
    k_b: int, k_c: int, alpha: float, test: TwoSampleTest
) -> None:
    found = regression_verdict(k_b, 30, k_c, 30, alpha=alpha, test=test)
    assert (found.verdict is Verdict.FAIL) == (found.p_fail <= alpha)
    assert found.verdict is not Verdict.FAIL or k_c < k_b


@pytest.mark.parametrize("test", TwoSampleTest)
@pytest.mark.parametrize(("k", "n"), [(0, 40), (40, 40), (36, 40)])
def test_equal_samples_never_fail(k: int, n: int, test: TwoSampleTest) -> None:
    found = regression_verdict(k, n, k, n, test=test, alpha=0.49)
    assert found.verdict is not Verdict.FAIL
    assert found.p_fail == 1 if k in (0, n) else 0.3 < found.p_fail < 1


@pytest.mark.parametrize("test", TwoSampleTest)
def test_all_pass_in_both_is_a_pass(test: TwoSampleTest) -> None:
    assert regression_verdict(50, 50, 50, 50, test=test).verdict is Verdict.PASS


@pytest.mark.parametrize("test", TwoSampleTest)
def test_no_trials_are_inconclusive(test: TwoSampleTest) -> None:
    found = regression_verdict(90, 100, 0, 0, test=test)
    assert (found.verdict, found.p_fail, found.n) == (Verdict.INCONCLUSIVE, 1.0, 0)
    assert found.reason == "the candidate has no trials: 0/0 against 90/100 of the baseline"
    assert (found.interval.estimate, found.interval.low, found.interval.high) == (None, -1, 1)
    assert regression_verdict(0, 0, 9, 10, test=test).reason.startswith("the baseline has no trials")
    assert regression_verdict(0, 0, 9, 10, test=test).needed is None


def test_a_baseline_that_rarely_passes_can_fail_but_not_pass() -> None:
    unclear, worse = regression_verdict(20, 100, 30, 100), regression_verdict(20, 100, 2, 100)
    assert unclear.verdict is Verdict.INCONCLUSIVE
    assert "passes too rarely (20/100) for a drop of 0.2 to be seen" in unclear.reason
    assert worse.verdict is Verdict.FAIL
    # (failures + 1/2)/(n_b + 1) + delta > .97: 77.5/101 + .2 = .967 leaves room, 78.5/101 + .2 = .977 none
    assert regression_verdict(23, 100, 40, 100).verdict is Verdict.PASS
    assert regression_verdict(22, 100, 40, 100).verdict is Verdict.INCONCLUSIVE


def test_large_samples_are_judged_with_the_score_test() -> None:
    found = regression_verdict(90_000, 100_000, 8_950, 10_000)
    assert found.verdict is Verdict.PASS
    assert found.method == "regression (fisher)"


def test_the_interval_is_newcombes_at_twice_the_one_sided_level() -> None:
    interval = regression_verdict(90, 100, 80, 90, alpha=0.025).interval
    expected = confint_proportions_2indep(80, 90, 90, 100, method="newcomb", compare="diff", alpha=0.05)
    assert (interval.low, interval.high) == pytest.approx(expected)
    assert (interval.level, interval.n) == (0.95, 190)
    assert interval.estimate == pytest.approx(80 / 90 - 0.9)


@pytest.mark.parametrize(
    ("counts", "test"),
    [
        ((90, 100, 8, 10), TwoSampleTest.FISHER),
        ((45, 50, 7, 10), TwoSampleTest.FISHER),
        ((95, 100, 9, 10), TwoSampleTest.Z),
    ],
)
def test_the_needed_trials_give_a_verdict_about_as_often_as_said(
    counts: tuple[int, int, int, int], test: TwoSampleTest
) -> None:
    k_b, n_b, k_c, n_c = counts
    needed = regression_verdict(k_b, n_b, k_c, n_c, test=test).needed
    assert needed is not None

    def settled(extra: int) -> float:
        chances: list[float] = np.asarray(binom.pmf(np.arange(extra + 1), extra, k_c / n_c)).tolist()
        return sum(
            chance
            for k, chance in enumerate(chances)
            if chance > 1e-3
            and regression_verdict(k_b, n_b, k_c + k, n_c + extra, test=test).verdict
            is not Verdict.INCONCLUSIVE
        )

    assert settled(needed) > 0.75
    assert settled(needed // 3) < 0.8


def test_no_number_of_trials_settles_a_drop_halfway_to_the_margin_of_a_small_baseline() -> None:
    # However well the candidate's .6 is known, 7 of 10 has a standard error of .145: neither a drop of .1 nor
    # the .1 that is left to the margin is 1.28 of them.
    assert regression_verdict(7, 10, 6, 10).needed is None


@pytest.mark.parametrize(
    ("arguments", "changed", "message"),
    [
        ((-1, 10, 5, 10), {}, "k_b must be a whole number of at least 0 and at most 10, got -1"),
        ((5, 10, 11, 10), {}, "k_c must be a whole number of at least 0 and at most 10, got 11"),
        ((5, 10, 2.5, 10), {}, "k_c must be a whole number"),
        ((5, -1, 5, 10), {}, "n_b must be a whole number of at least 0, got -1"),
        ((5, 10, 5, math.nan), {}, "n_c must be a whole number"),
        ((5, 10, 5, 10), {"alpha": 0.5}, r"alpha must be in \(0, 0.5\), got 0.5"),
        ((5, 10, 5, 10), {"beta": math.nan}, r"beta must be in \(0, 0.5\), got nan"),
        ((5, 10, 5, 10), {"delta": 1.0}, r"delta must be in \(0, 1\), got 1.0"),
        ((5, 10, 5, 10), {"test": "barnard"}, "test must be one of fisher, boschloo, z, got 'barnard'"),
    ],
)
def test_bad_input_is_named(arguments: Any, changed: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        regression_verdict(*arguments, **changed)


FISHER = TwoSampleTest.FISHER


def _chance_of_a_verdict(counts: tuple[int, int, int, int], more: int, alpha: float, beta: float) -> float:
    """By every outcome of the further trials, at the candidate's observed rate."""
    k_b, n_b, k_c, n_c = counts
    total = 0.0
    for k in range(more + 1):
        found = regression_verdict(k_b, n_b, k_c + k, n_c + more, alpha=alpha, beta=beta, test=FISHER)
        if found.verdict is not Verdict.INCONCLUSIVE:
            total += float(binom.pmf(k, more, k_c / n_c))
    return total


@pytest.mark.parametrize(
    ("counts", "alpha", "beta"),
    [((9, 10, 7, 8), 0.05, 0.1), ((27, 30, 4, 5), 0.01, 0.2), ((90, 100, 9, 10), 0.1, 0.02)],
)
def test_what_is_needed_is_enough_by_the_tests_in_use_and_not_much_more(
    counts: tuple[int, int, int, int], alpha: float, beta: float
) -> None:
    needed = regression_verdict(*counts, alpha=alpha, beta=beta, test=FISHER).needed
    assert needed is not None
    assert _chance_of_a_verdict(counts, needed, alpha, beta) >= 0.8
    assert _chance_of_a_verdict(counts, max(1, needed // 2), alpha, beta) < 0.8
