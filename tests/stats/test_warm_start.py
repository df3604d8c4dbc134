"""A test with the help of earlier trials keeps its error rates, and takes fewer trials where the agent is as it was."""

import math

import numpy as np
import pytest

from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.sequential.warm_start import Past, WarmSprt
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.warm_verdict import warm_verdict

DESIGN = SprtDesign(0.8, 0.1, 0.05, 0.1, 100)
PASTS = (Past(0, 0), Past(50, 50), Past(40, 50), Past(20, 50), Past(0, 50), Past(700, 1000))


@pytest.mark.parametrize("past", PASTS)
@pytest.mark.parametrize("rate", [0.8, 0.85, 0.95])
def test_a_false_fail_is_as_rare_as_promised_whatever_the_past_was(past: Past, rate: float) -> None:
    assert characteristics(WarmSprt(DESIGN, past), rate)[1] <= DESIGN.alpha


@pytest.mark.parametrize("past", PASTS)
@pytest.mark.parametrize("rate", [0.7, 0.6, 0.3])
def test_a_false_pass_is_as_rare_as_promised_whatever_the_past_was(past: Past, rate: float) -> None:
    assert characteristics(WarmSprt(DESIGN, past), rate)[0] <= DESIGN.beta


def test_a_past_that_had_passed_by_itself_still_asks_for_trials() -> None:
    assert WarmSprt(DESIGN, Past(1000, 1000)).crossed(0, 0) is None


def test_an_agent_that_goes_on_as_before_needs_half_of_the_trials() -> None:
    cold = sprt_characteristics(DESIGN, 0.99).trials
    assert characteristics(WarmSprt(DESIGN, Past(50, 50)), 0.99)[2] < 0.6 * cold


def test_the_evidence_is_the_mixture_that_a_sum_over_rates_gives() -> None:
    test, n, f = WarmSprt(DESIGN, Past(9, 10)), 20, 1
    a, b = test.prior
    cells = [(i + 0.5) / 20_000 for i in range(20_000)]
    weights = [rate ** (a - 1) * (1 - rate) ** (b - 1) for rate in cells]
    total = sum(weights)
    likelihood = [rate ** (n - f) * (1 - rate) ** f for rate in cells]
    above = [(w / total, q) for w, q, rate in zip(weights, likelihood, cells, strict=True) if rate > 0.7]
    own = 0.8 ** (n - f) * 0.2**f
    mixed = (1 - sum(w for w, _ in above) / 2) * own + sum(w * q for w, q in above) / 2
    expected = math.log(mixed / (0.7 ** (n - f) * 0.3**f))
    assert float(test.evidence_of_pass(n, f)) == pytest.approx(expected, abs=2e-4)


def test_at_a_threshold_of_one_the_first_failure_decides() -> None:
    test = WarmSprt(SprtDesign(1.0, 0.1, 0.05, 0.1, 100), Past(50, 50))
    assert warm_verdict(test, [True, True, False, True]).verdict is Verdict.FAIL
    assert warm_verdict(test, [True] * 3 + [False]).interval.n == 4


def test_a_verdict_reads_no_trial_behind_it() -> None:
    found = warm_verdict(WarmSprt(DESIGN, Past(50, 50)), [True] * 40)
    assert found.verdict is Verdict.PASS
    assert found.interval.n < 15
    assert found.p_fail == 1.0


def test_a_false_fail_has_a_p_value_at_its_level() -> None:
    found = warm_verdict(WarmSprt(DESIGN, Past(0, 0)), [False] * 9)
    assert found.verdict is Verdict.FAIL
    assert found.p_fail <= DESIGN.alpha


@pytest.mark.parametrize("past", [Past(3, 2), Past(-1, 2)])
def test_counts_that_are_none_are_refused(past: Past) -> None:
    with pytest.raises(ValueError, match="passes must be"):
        WarmSprt(DESIGN, past)


def test_a_test_without_a_last_trial_is_refused() -> None:
    with pytest.raises(ValueError, match="last trial"):
        WarmSprt(SprtDesign(0.8, 0.1, n_max=None), Past(0, 0))


def characteristics(test: WarmSprt, rate: float) -> tuple[float, float, float]:
    """Return the exact chances of PASS and of FAIL, and the mean number of trials, at a true pass rate."""
    most = test.design.n_max or 0
    alive, passed, failed, trials = np.zeros(most + 2), 0.0, 0.0, 0.0
    alive[0] = 1.0
    for n in range(1, most + 1):
        trials += float(alive.sum())
        alive[1:] = alive[1:] * rate + alive[:-1] * (1 - rate)
        alive[0] *= rate
        least, most_passing = test.boundary.fail_at[n], test.boundary.pass_at[n]
        failed += float(alive[least:].sum())
        passed += float(alive[: most_passing + 1].sum())
        alive[least:] = 0.0
        alive[: most_passing + 1] = 0.0
    return passed, failed, trials
