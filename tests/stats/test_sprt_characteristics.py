"""Operating characteristics of the sequential test, against enumeration and closed forms."""

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.sequential import sprt_characteristics as module
from agentmut.stats.sequential.sprt import Boundaries, SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics, stops
from agentmut.stats.three_valued import Verdict
from benchmarks.calibration.sprt import cerberus, wald_trials


@pytest.mark.parametrize("boundaries", ["wald", "strict"])
@pytest.mark.parametrize("p", [0.3, 0.65, 0.9])
def test_the_characteristics_are_those_of_all_sequences_enumerated(boundaries: Boundaries, p: float) -> None:
    design = SprtDesign(0.7, 0.4, 0.2, 0.1, 11, boundaries)
    chance = dict.fromkeys(Verdict, 0.0)
    trials = 0.0
    for sequence in product((True, False), repeat=11):
        weight = p ** sum(sequence) * (1 - p) ** (11 - sum(sequence))
        end = design.run(sequence)
        assert end.verdict
        chance[end.verdict] += weight
        trials += weight * end.n
    found = sprt_characteristics(design, p)
    assert found[:4] == pytest.approx(
        (chance[Verdict.PASS], chance[Verdict.FAIL], chance[Verdict.INCONCLUSIVE], trials), abs=1e-12
    )
    assert min(found[:3]) > 0


def test_a_threshold_of_one_has_a_closed_form() -> None:
    # theta = 1: sixteen passes (.9^16 < .2 < .9^15, strict) or the first failure end it
    p, found = 0.95, sprt_characteristics(SprtDesign(1.0, 0.1, 0.05, 0.2, None), 0.95)
    assert found.passed == pytest.approx(p**16)
    assert found.failed == pytest.approx(1 - p**16)
    assert found.trials == pytest.approx((1 - p**16) / (1 - p))
    assert found.median == 14  # .95^14 = .488 is the first power below one half


@pytest.mark.parametrize(("p", "trials"), [(0.0, 4), (1.0, 14)])
def test_certain_outcomes_take_a_certain_number_of_trials(p: float, trials: int) -> None:
    found = sprt_characteristics(cerberus(0.9), p)
    assert found == (p, 1 - p, 0.0, trials, trials)


def test_cut_off_early_it_says_nothing_and_says_so() -> None:
    found = sprt_characteristics(SprtDesign(0.9, n_max=2), 0.9)
    assert found == (0.0, 0.0, 1.0, 2.0, 2)


DESIGNS = st.builds(
    SprtDesign,
    st.floats(0.55, 0.99),
    st.floats(0.05, 0.5),
    st.floats(0.005, 0.3),
    st.floats(0.005, 0.3),
    st.one_of(st.none(), st.integers(1, 80)),
    st.just("strict"),
)


@settings(max_examples=40, deadline=None)
@given(DESIGNS, st.floats(0, 1))
def test_strict_boundaries_keep_both_levels_at_every_rate(design: SprtDesign, where: float) -> None:
    above = design.threshold + where * (1 - design.threshold)
    assert sprt_characteristics(design, above).failed <= design.alpha + 1e-8
    assert sprt_characteristics(design, where * design.alternative).passed <= design.beta + 1e-8


@settings(max_examples=25, deadline=None)
@given(DESIGNS, st.floats(0, 1), st.floats(0, 1))
def test_a_better_agent_fails_less_and_passes_more(design: SprtDesign, one: float, other: float) -> None:
    worse, better = (sprt_characteristics(design, p) for p in sorted((one, other)))
    assert better.failed <= worse.failed + 1e-9
    assert better.passed >= worse.passed - 1e-9


@settings(max_examples=25, deadline=None)
@given(DESIGNS, st.floats(0, 1))
def test_the_three_chances_sum_to_one(design: SprtDesign, p: float) -> None:
    found = sprt_characteristics(design, p)
    assert sum(found[:3]) == pytest.approx(1, abs=1e-9)
    if design.n_max is None:
        assert found.inconclusive == 0
    else:
        assert found.median <= design.n_max
        assert found.trials <= design.n_max + 1e-9


def test_going_on_from_a_state_is_the_test_given_that_state() -> None:
    # the first two trials have four orders, none of which decides: 1 failure is met twice
    design, p, later = SprtDesign(0.9, 0.2), 0.8, 30
    whole = [stop.alive for stop, _ in zip(stops(design, p), range(later), strict=False)][-1]
    parts = [
        [stop.alive for stop, _ in zip(stops(design, p, 2, f), range(later - 2), strict=False)][-1]
        for f in (0, 1, 2)
    ]
    assert whole == pytest.approx(p * p * parts[0] + 2 * p * (1 - p) * parts[1] + (1 - p) ** 2 * parts[2])


def test_walds_approximations_of_the_papers_example() -> None:
    # theta .9, delta .1, alpha .05, beta .1: a = log(.1/.95) = -2.2513, b = log(.9/.05) = 2.8904;
    # at .9 a step is .9 log(8/9) + .1 log 2 = -.036690, at .8 it is .8 log(8/9) + .2 log 2 = .044403:
    # (.95 a + .05 b)/-.036690 = 54.35, (.1 a + .9 b)/.044403 = 53.51
    found = wald_trials(SprtDesign(0.9, 0.1, 0.05, 0.10, None, "wald"))
    assert found == pytest.approx((54.353, 53.515), abs=1e-3)


def test_walds_approximation_is_close_where_steps_are_small() -> None:
    design = SprtDesign(0.52, 0.02, 0.05, 0.05, None)
    exact = [sprt_characteristics(design, p).trials for p in (0.52, 0.5)]
    assert exact == pytest.approx(list(wald_trials(design)), rel=0.02)


def test_walds_approximations_need_a_threshold_below_one() -> None:
    with pytest.raises(ValueError, match=r"threshold must be below 1 for Wald's approximations, got 1.0"):
        wald_trials(SprtDesign(1.0))


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_a_rate_that_is_none_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"p must be in \[0, 1\]"):
        sprt_characteristics(SprtDesign(0.9), p)


def test_a_test_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 50)
    monkeypatch.setattr(module, "_looks", lambda design, p: 49)
    with pytest.raises(
        ArithmeticError, match=r"at p = 0.85 the test needs more than 50 trials: give it an n_max"
    ):
        sprt_characteristics(SprtDesign(0.9, n_max=None), 0.85)


@pytest.mark.parametrize("n_max", [None, 100_000_000])
@pytest.mark.parametrize("p", [0.9, 0.5])
def test_a_tiny_margin_without_an_end_is_refused_at_once(n_max: int | None, p: float) -> None:
    with pytest.raises(ValueError, match="margin and n_max must let the test end within 200000 trials"):
        sprt_characteristics(SprtDesign(0.9, 1.1e-6, n_max=n_max), p)


@pytest.mark.parametrize("p", [0.0, 0.7, 0.85, 0.9, 1.0])
def test_the_forecast_of_the_last_trial_is_of_the_right_size(p: float) -> None:
    design = SprtDesign(0.9, 0.05, n_max=None)
    last = next(stop.n for stop in stops(design, p) if stop.alive < module.FORGOTTEN)
    assert 0.4 < module._looks(design, p) / last < 2.5
