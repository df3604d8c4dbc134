"""The sequential test trial by trial: boundaries, log-ratio, verdicts, p-values."""

import math
import subprocess
import sys
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.sequential.sprt import Boundaries, SprtDesign, SprtState
from agentmut.stats.three_valued import Verdict
from benchmarks.calibration.sprt import cerberus

BOTH: tuple[Boundaries, ...] = ("wald", "strict")
OUTCOMES = st.lists(st.booleans(), max_size=60)


def outcomes(text: str) -> list[bool]:
    return [letter == "P" for letter in text]


def test_walds_boundaries_are_those_of_the_article() -> None:
    # Cerberus, alpha .05, beta .20, the other way up: accept at log(.95/.20) = log 4.75, reject at log(.05/.80)
    design = cerberus(0.9)
    assert -design.lower == pytest.approx(math.log(4.75))
    assert -design.upper == pytest.approx(math.log(0.0625))


def test_strict_boundaries_are_the_logarithms_of_the_two_levels() -> None:
    design = SprtDesign(0.9, 0.1, alpha=0.01, beta=0.2)
    assert (design.lower, design.upper) == pytest.approx((math.log(0.2), math.log(100)))


def test_the_walk_of_a_bad_agent_is_that_of_the_article() -> None:
    design = cerberus(0.9)
    walk, failures = [], 0
    for n, passed in enumerate(outcomes("PFFPFFF"), 1):
        failures += not passed
        walk.append(-design.log_ratio(n, failures))
    # a pass adds log(.9/.8) = .117783, a failure log(.1/.2) = -.693147; the article adds rounded steps
    assert walk == pytest.approx([0.118, -0.575, -1.268, -1.150, -1.843, -2.536, -3.229], abs=1.5e-3)
    assert design.run(outcomes("PFFPFFF"))[:2] == (7, 5)
    assert design.run(outcomes("PFFPFFF")).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("alpha", "beta", "passes", "failures"),
    [
        # strict, theta .9, margin .1: passes ceil(log(1/beta)/log(9/8)), failures ceil(log(1/alpha)/log 2)
        (0.01, 0.20, 14, 7),
        (0.10, 0.02, 34, 4),
        (0.05, 0.10, 20, 5),
    ],
)
def test_straight_outcomes_take_the_trials_of_their_own_level(
    alpha: float, beta: float, passes: int, failures: int
) -> None:
    design = SprtDesign(0.9, 0.1, alpha, beta, None)
    assert design.run(repeat(True)) == SprtState(passes, 0, 0.0, Verdict.PASS)
    failed = design.run(repeat(False))
    assert (failed.n, failed.verdict) == (failures, Verdict.FAIL)


def test_a_tie_with_a_boundary_decides() -> None:
    # four failures add 4 log 2 = log 16, which is log(.8/.05) but for the last digit
    state = cerberus(0.9).run([False] * 9)
    assert (state.n, state.verdict) == (4, Verdict.FAIL)
    assert state.peak == pytest.approx(math.log(16))


def test_one_failure_rejects_a_threshold_of_one() -> None:
    design = cerberus(1.0)
    assert design.run([True, True, False]) == SprtState(3, 1, math.inf, Verdict.FAIL)
    assert design.run([True, True, False]).p_value == 0
    assert design.run([True] * 50).n == 15  # ceil(log 4.75 / log(1/.9))


def test_at_the_last_trial_an_open_test_is_inconclusive() -> None:
    design = SprtDesign(0.9, n_max=10)
    assert design.run([True] * 9).verdict is None
    assert design.run([True] * 30) == SprtState(10, 0, 0.0, Verdict.INCONCLUSIVE)


def test_a_boundary_reached_at_the_last_trial_still_decides() -> None:
    assert SprtDesign(0.9, n_max=20).run([True] * 20).verdict is Verdict.PASS


def test_outcomes_behind_the_verdict_are_not_read() -> None:
    stream = iter([False] * 5 + [True] * 3)
    assert SprtDesign(0.9).run(stream).n == 5
    assert list(stream) == [True] * 3


def test_no_outcomes_leave_the_test_open_with_p_one() -> None:
    state = SprtDesign(0.9).run([])
    assert state == SprtState(0, 0, 0.0, None)
    assert state.p_value == 1


def test_the_p_value_remembers_the_highest_ratio() -> None:
    # two failures: (.2/.1)^2 = 4, so p = 1/4, and passes afterwards do not take it back
    design = SprtDesign(0.9)
    assert design.run(outcomes("FF")).p_value == pytest.approx(0.25)
    assert design.run(outcomes("FFPPPP")).p_value == pytest.approx(0.25)


@given(OUTCOMES, st.sampled_from([(0.05, 0.1), (0.01, 0.2), (0.1, 0.02)]))
def test_with_strict_boundaries_fail_means_a_p_value_within_alpha(
    results: list[bool], levels: tuple[float, float]
) -> None:
    design = SprtDesign(0.85, 0.15, *levels, n_max=60)
    state = design.run(results)
    assert (state.verdict is Verdict.FAIL) == (state.p_value <= design.alpha * (1 + 1e-8))


@given(OUTCOMES, st.sampled_from(BOTH))
def test_trial_by_trial_equals_the_first_crossing_of_the_counts(
    results: list[bool], boundaries: Boundaries
) -> None:
    design = SprtDesign(0.7, 0.2, 0.1, 0.05, 40, boundaries)
    counts = [(n, results[:n].count(False)) for n in range(1, len(results) + 1)]
    first = next(((n, f) for n, f in counts if design.decide(n, f)), counts[-1] if counts else (0, 0))
    state = design.run(results)
    assert (state.n, state.failures) == first
    assert state.verdict == design.decide(*first)


@settings(max_examples=50)
@given(st.integers(1, 80), st.data())
def test_more_failures_never_turn_a_fail_into_anything_else(n: int, data: st.DataObject) -> None:
    design = SprtDesign(0.9, n_max=80)
    failures = data.draw(st.integers(0, n - 1))
    order: list[Verdict | None] = [Verdict.PASS, None, Verdict.FAIL]
    fewer, more = (design.decide(n, f) for f in (failures, failures + 1))
    if n < 80:
        assert order.index(fewer) <= order.index(more)


def test_cerberus_tests_against_a_rate_of_at_least_one_percent() -> None:
    assert cerberus(0.9).alternative == pytest.approx(0.8)
    assert cerberus(0.11).alternative == pytest.approx(0.01)
    assert cerberus(0.05).alternative == pytest.approx(0.01)
    assert (cerberus(0.9, 0.99).alpha, cerberus(0.9, 0.99).beta) == pytest.approx((0.01, 0.2))
    assert cerberus(0.9).n_max == 50


def test_an_ended_test_takes_no_further_trial() -> None:
    design = SprtDesign(0.9)
    with pytest.raises(ValueError, match="state must be open to further trials, got one that ended in FAIL"):
        design.after(design.run([False] * 5), True)


@pytest.mark.parametrize("score", [0.7, math.nan, 7, None])
def test_a_score_is_no_outcome(score: Any) -> None:
    with pytest.raises(ValueError, match="passed must be true or false, got"):
        SprtDesign(0.9).run([True, score])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": 0.0}, r"threshold must be in \(0, 1\], got 0.0"),
        ({"threshold": 1.01}, r"threshold must be in \(0, 1\], got 1.01"),
        ({"threshold": math.nan}, r"threshold must be in \(0, 1\], got nan"),
        ({"margin": 0.9}, r"margin must be in \(1e-06, 0.9\), got 0.9"),
        ({"margin": 0.0}, r"margin must be in \(1e-06, 0.9\), got 0.0"),
        ({"alpha": 0.0}, r"alpha must be in \(0, 1\), got 0.0"),
        ({"beta": 1.0}, r"beta must be in \(0, 1\), got 1.0"),
        ({"alpha": 0.6, "beta": 0.4}, "alpha [+] beta must be below 1, got 0.6 and 0.4"),
        ({"n_max": 0}, "n_max must be a whole number of at least 1, got 0"),
        ({"n_max": 2.5}, "n_max must be a whole number of at least 1, got 2.5"),
        ({"boundaries": "loose"}, "boundaries must be one of wald, strict, got 'loose'"),
    ],
)
def test_a_design_out_of_range_is_named_with_its_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SprtDesign(**{"threshold": 0.9, **changes})


@pytest.mark.parametrize(
    ("n", "failures", "message"),
    [
        (5, 6, "failures must be a whole number of at least 0 and at most 5, got 6"),
        (-1, 0, "n must be a whole number"),
        (101, 0, "n must be a whole number of at least 0 and at most 100, got 101"),
        (5, 1.0, "failures must be a whole number"),
    ],
)
def test_counts_that_are_no_counts_are_refused(n: Any, failures: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SprtDesign(0.9).decide(n, failures)


@pytest.mark.parametrize(
    ("threshold", "confidence", "message"),
    [
        (0.01, 0.95, r"threshold must be in \(0.01, 1\], got 0.01"),
        (1.1, 0.95, r"threshold must be in \(0.01, 1\], got 1.1"),
        (0.9, 0.2, r"confidence must be in \(0.2, 1\), got 0.2"),
        (0.9, 1.0, r"confidence must be in \(0.2, 1\), got 1.0"),
    ],
)
def test_cerberus_refuses_what_has_no_design(threshold: float, confidence: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cerberus(threshold, confidence)


@pytest.mark.process
def test_the_module_needs_no_numpy() -> None:
    modules = ("sequential.sprt", "verdicts.scenario_verdict", "verdicts.preview")
    code = "import sys, " + ", ".join(f"agentmut.stats.{name}" for name in modules) + "; "
    code += "sys.exit(any(name in sys.modules for name in ('numpy', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
