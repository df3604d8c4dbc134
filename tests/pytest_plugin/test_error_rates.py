"""The rule of marked tests, without pytest: what it promises, simulated; settings and texts."""

import random

import pytest

from agentmut._base.errors import UsageError
from agentmut.pytest_plugin.stochastic.finding import Finding, found, read_finding
from agentmut.pytest_plugin.stochastic.marker_settings import StochasticSettings, read_settings
from agentmut.pytest_plugin.stochastic.protocol import Ending, Trials
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.scenario_verdict import critical

RUNS = 400


def finished(settings: StochasticSettings, rate: float, rng: random.Random) -> Trials:
    trials = Trials(settings)
    while not trials.ended:
        trials.record(Ending.PASSED if rng.random() < rate else Ending.FAILED)
    return trials


def share(settings: StochasticSettings, rate: float, verdict: Verdict) -> float:
    """Of runs at a true pass rate that end in a verdict."""
    rng = random.Random(20260)
    ended = [finished(settings, rate, rng).passed for _ in range(RUNS)]
    if settings.method == "sprt":
        design = SprtDesign(settings.threshold, 0.1, settings.alpha, 0.1, settings.trials)
        return sum(design.run(passed).verdict is verdict for passed in ended) / RUNS
    bounds = critical(settings.trials, settings.threshold, settings.alpha, "clopper-pearson")
    least, most = (0, bounds.fail_at) if verdict is Verdict.FAIL else (bounds.pass_at, settings.trials)
    return sum(bool(least <= sum(passed) <= most) for passed in ended) / RUNS


def above(expected: float) -> float:
    """Three standard errors more: one simulation in a thousand goes beyond."""
    return expected + 3 * float((expected * (1 - expected) / RUNS) ** 0.5)


def test_a_sequential_test_fails_few_agents_that_meet_their_threshold() -> None:
    settings = StochasticSettings(trials=200, threshold=0.85)
    failed = share(settings, 0.85, Verdict.FAIL)
    assert 0.01 < failed <= above(0.05)
    exact = sprt_characteristics(SprtDesign(0.85, 0.1, 0.05, 0.1, 200), 0.85).failed
    assert failed == pytest.approx(exact, abs=above(exact) - exact)


def test_a_sequential_test_passes_few_agents_that_are_worse_by_the_margin() -> None:
    settings = StochasticSettings(trials=200, threshold=0.85)
    passed = share(settings, 0.75, Verdict.PASS)
    assert 0.02 < passed <= above(0.10)
    assert share(settings, 0.75, Verdict.FAIL) > 0.8


def test_a_fixed_test_errs_in_half_of_alpha_on_each_side() -> None:
    settings = StochasticSettings(trials=60, threshold=0.85, method="fixed")
    assert share(settings, 0.85, Verdict.FAIL) <= above(0.025)
    assert share(settings, 0.85, Verdict.PASS) <= above(0.025)
    assert share(settings, 0.99, Verdict.PASS) > 0.7


def test_trials_that_are_no_evidence_do_not_move_the_verdict() -> None:
    trials = Trials(StochasticSettings(errors=3))
    for ending in (Ending.PASSED, Ending.ERROR, Ending.FAILED, Ending.PASSED):
        trials.record(ending)
    trials.void(Ending.PASSED)  # its teardown went wrong
    assert (trials.passed, trials.errors, trials.ended, trials.count) == ([True, False], 2, False, 4)
    trials.record(Ending.ERROR)
    assert trials.ended and trials.finding().verdict == "ERROR"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"trials": 0}, "trials must be a whole number of at least 1 and at most 10000, got 0"),
        ({"trials": 2.5}, "trials must be a whole number"),
        ({"trials": True}, "trials must be a whole number"),
        ({"threshold": 0}, r"threshold must be in \(0, 1\], got 0"),
        ({"threshold": "0.9"}, "threshold must be in"),
        ({"alpha": 1}, r"alpha must be in \(0, 1\), got 1"),
        ({"alpha": 0.6, "beta": 0.5}, r"alpha \+ beta must be below 1"),
        ({"margin": 0.9, "threshold": 0.8}, r"margin must be in \(1e-06, 0.8\), got 0.9"),
        ({"method": "wald"}, "method must be one of sprt, fixed, got 'wald'"),
        ({"method": ["sprt"]}, "method must be one of sprt, fixed"),
        ({"method": "fixed", "beta": 0.1, "margin": 0.1}, "method 'fixed' takes no margin and no beta"),
        ({"inconclusive": "xfail"}, "inconclusive must be one of fail, pass, skip, got 'xfail'"),
        ({"errors": 0}, "errors must be a whole number of at least 1"),
        ({"raised": "skip"}, "raised must be one of error, fail"),
        ({"treshold": 0.9}, "has no setting 'treshold'. Did you mean 'threshold'?"),
        ({"n": 5}, "has no setting 'n'. It takes trials, threshold, alpha"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=f"^the marker agentmut: {said}"):
        read_settings((), given, "fail", None)


def test_a_cap_lowers_the_trials_and_never_raises_them() -> None:
    assert read_settings((), {"trials": 50}, "fail", 8).trials == 8
    assert read_settings((), {"trials": 5}, "fail", 8).trials == 5


@pytest.mark.parametrize(
    ("given", "least"),
    [
        ({"threshold": 0.9}, 20),  # log 0.1 / log(0.8/0.9) = 19.5
        ({"threshold": 1.0}, 22),  # log 0.1 / log 0.9 = 21.9
        ({"threshold": 0.9, "method": "fixed"}, 36),  # log 0.025 / log 0.9 = 35.01
        ({"threshold": 1.0, "method": "fixed"}, None),
        ({"threshold": 0.05}, 4),  # margin 0.025: log 0.1 / log 0.5 = 3.3
    ],
)
def test_so_many_passes_in_a_row_are_needed(given: dict[str, object], least: int | None) -> None:
    assert read_settings((), given, "fail", None).least_to_pass() == least


def test_a_finding_survives_as_properties() -> None:
    finding = found(StochasticSettings(trials=20), [True, False] * 10, 1)
    assert isinstance(finding, Finding)
    assert read_finding([list(pair) for pair in finding.properties()]) == finding
    assert read_finding([("verdict", "PASS"), ("other", 1)]) is None
