"""Comparisons that hold given the baseline that is kept: exact, with the figures that made them necessary."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import beta, binom

from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table, level_for
from agentmut.stats.tests.proportions import TwoSampleTest
from agentmut.stats.verdicts.given_baseline import doubt_of, false_kill, lowest_rate, table_given
from agentmut.stats.verdicts.regression import chance_of_fail, regression_verdict
from benchmarks.calibration.kept_baselines import chance_of_an_unfit_promise

FISHER = TwoSampleTest.FISHER
tables = cache(decision_table)


@pytest.mark.parametrize(("n0", "rate", "wrong"), [(100, 0.98, 0.187), (50, 0.95, 0.256)])
def test_the_plain_rule_errs_far_more_often_with_a_flawless_baseline_of_a_flawed_agent(
    n0: int, rate: float, wrong: float
) -> None:
    assert false_kill(tables(0, n0, KillDesign()), rate) == pytest.approx(wrong, abs=5e-4)
    lowest = lowest_rate(n0, n0, doubt_of(1))
    assert false_kill(table_given(0, n0, KillDesign(), lowest, tables), rate) <= 0.05


def test_the_lowest_rate_is_clopper_and_pearsons_one_sided_bound() -> None:
    assert lowest_rate(100, 100, 0.05) == pytest.approx(0.05**0.01)  # all passed: p^100 = 0.05
    assert lowest_rate(95, 100, 0.025) == pytest.approx(beta.ppf(0.025, 95, 6))
    assert lowest_rate(0, 10, 0.05) == 0.0
    rates = np.linspace(0.5, 1, 201)
    bounds = np.array([lowest_rate(k, 50, 0.025) for k in range(51)])
    missed = [binom.pmf(np.arange(51), 50, p)[bounds > p].sum() for p in rates]
    assert max(missed) <= 0.025


def test_the_doubts_of_all_sizes_and_scenarios_are_at_most_one_in_twenty() -> None:
    assert doubt_of(1) == pytest.approx(0.025)
    assert sum(doubt_of(7, looks) for looks in range(1, 4000)) * 7 == pytest.approx(0.05, abs=2e-5)
    with pytest.raises(ValueError, match="looks"):
        doubt_of(1, 0)


def test_false_kills_rise_as_the_rate_falls() -> None:
    table = tables(3, 50, KillDesign(alpha=level_for(10)))
    chances = [false_kill(table, rate) for rate in np.linspace(1, 0, 101)]
    assert chances == sorted(chances)


@pytest.mark.parametrize(("rate", "scenarios"), [(0.9, 1), (0.95, 10)])
def test_the_promise_is_broken_for_at_most_one_baseline_in_twenty(rate: float, scenarios: int) -> None:
    assert chance_of_an_unfit_promise(50, rate, scenarios) <= 0.05 / scenarios
    assert chance_of_an_unfit_promise(50, rate, scenarios, plain=True) > 0.05


def test_a_fixed_comparison_fails_only_below_the_lowest_rate_of_the_baseline() -> None:
    # Fisher's one-sided p of 95/100 after 100/100 is C(100, 5) / C(200, 5) = 0.0297; lowest is 0.025^(1/100) = 0.9638
    lowest = lowest_rate(100, 100, doubt_of(1))
    plain = regression_verdict(100, 100, 95, 100, test=FISHER)
    given = regression_verdict(100, 100, 95, 100, test=FISHER, lowest=lowest)
    assert (plain.verdict, given.verdict) == ("FAIL", "PASS")
    assert given.p_fail == pytest.approx(binom.cdf(95, 100, lowest))
    assert regression_verdict(100, 100, 88, 100, test=FISHER, lowest=lowest).verdict == "FAIL"


def test_the_chance_of_fail_is_that_of_the_verdicts() -> None:
    lowest = lowest_rate(48, 50, doubt_of(1))
    fails = [regression_verdict(48, 50, k, 40, lowest=lowest).verdict == "FAIL" for k in range(41)]
    assert fails == sorted(fails, reverse=True)
    wanted = sum(binom.pmf(k, 40, 0.7) for k in range(41) if fails[k])
    assert chance_of_fail(48, 50, 40, 0.7, alpha=0.05, lowest=lowest) == pytest.approx(wanted)
    assert chance_of_fail(48, 50, 40, lowest, alpha=0.05, lowest=lowest) <= 0.05


def test_an_untestable_baseline_kills_nobody() -> None:
    table = table_given(45, 50, KillDesign(), lowest_rate(5, 50, 0.025), tables)
    assert table.untestable
    assert false_kill(table, 0.0) == 0.0


def test_a_tiny_baseline_is_valid_too() -> None:
    found: KillTable = table_given(0, 5, KillDesign(), lowest_rate(5, 5, doubt_of(1)), tables)
    assert false_kill(found, lowest_rate(5, 5, doubt_of(1))) <= 0.05
    assert found.decide(0, 0) is Decision.CONTINUE
