"""pass@k, pass^k and the summary of one test's runs, against numbers worked out by hand."""

from collections.abc import Callable
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmut.stats.reliability.repeated_runs import (
    Estimator,
    decay_curve,
    graceful_degradation,
    pass_at_k,
    pass_hat_k,
    run_summary,
    variance_amplification,
)
from tests.processor import processor_time

Chance = Callable[..., float]
runs = st.lists(st.booleans(), min_size=1, max_size=40)


def passes(letters: str) -> list[bool]:
    return [letter == "P" for letter in letters]


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_the_unbiased_estimators_count_the_choices_of_k_runs(
    outcomes: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(outcomes)))
    choices = list(combinations(outcomes, k))
    c, n = sum(outcomes), len(outcomes)
    assert pass_at_k(c, n, k) == pytest.approx(sum(map(any, choices)) / len(choices), abs=1e-12)
    assert pass_hat_k(c, n, k) == pytest.approx(sum(map(all, choices)) / len(choices), abs=1e-12)


def test_plug_in_estimators_put_the_observed_rate_in_place_of_the_true_one() -> None:
    # 3 of 4: (3/4)^3 = 27/64, 1 - (1/4)^3 = 63/64; k may exceed n: (3/4)^8 = 6561/65536
    assert pass_hat_k(3, 4, 3, Estimator.PLUG_IN) == 27 / 64
    assert pass_at_k(3, 4, 3, Estimator.PLUG_IN) == 63 / 64
    assert pass_hat_k(3, 4, 8, Estimator.PLUG_IN) == 6561 / 65536


@pytest.mark.parametrize("estimator", Estimator)
@pytest.mark.parametrize("chance", [pass_at_k, pass_hat_k])
def test_one_run_passes_at_the_observed_rate_and_all_or_none_stay_so(
    chance: Chance, estimator: Estimator
) -> None:
    assert chance(3, 8, 1, estimator) == 3 / 8
    assert [chance(5, 5, k, estimator) for k in (1, 3, 5)] == [1, 1, 1]
    assert [chance(0, 5, k, estimator) for k in (1, 3, 5)] == [0, 0, 0]


@given(st.integers(1, 60), st.data(), st.sampled_from(Estimator))
def test_more_runs_make_one_pass_likelier_and_only_passes_rarer(
    n: int, data: st.DataObject, estimator: Estimator
) -> None:
    c = data.draw(st.integers(0, n))
    some = [pass_at_k(c, n, k, estimator) for k in range(1, n + 1)]
    every = [pass_hat_k(c, n, k, estimator) for k in range(1, n + 1)]
    assert some == sorted(some)
    assert every == sorted(every, reverse=True)
    assert all(0 <= low <= high <= 1 for low, high in zip(every, some, strict=True))


def test_thousands_of_runs_neither_overflow_nor_lose_the_digits() -> None:
    # C(9999, 5000)/C(10000, 5000) = 1/2
    assert pass_hat_k(9_999, 10_000, 5_000) == 0.5
    assert pass_at_k(1, 10_000, 5_000) == 0.5


@pytest.mark.parametrize("chance", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(
    ("c", "n", "k", "message"),
    [
        (3, 5, 6, "k must be a whole number of at least 1 and at most 5, got 6"),
        (3, 5, 0, "k must be a whole number of at least 1 and at most 5, got 0"),
        (6, 5, 1, "c must be a whole number of at least 0 and at most 5, got 6"),
        (-1, 5, 1, "c must be a whole number of at least 0"),
        (0, 0, 1, "n must be a whole number of at least 1, got 0"),
        (1, 5, 1.5, "k must be a whole number"),
        (1, float("nan"), 1, "n must be a whole number"),
    ],
)
def test_bad_counts_are_named(chance: Chance, c: Any, n: Any, k: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chance(c, n, k)


@pytest.mark.parametrize(
    ("letters", "curve"),
    [
        ("PPPF", (100, 100, 100, 31)),  # (3/4)^4 = 81/256 = .3164
        ("PPPPF", (100, 100, 100, 100, 32)),  # (4/5)^5 = .32768
        ("PFP", (100, 25, 29)),  # (2/3)^3 = 8/27 = .2963
        ("FFFF", (0, 0, 0, 0)),
        ("FP", (0, 25)),
    ],
)
def test_the_decay_curve_truncates(letters: str, curve: tuple[int, ...]) -> None:
    assert decay_curve(passes(letters)) == curve


@given(st.lists(st.sampled_from([True] * 9 + [False]), min_size=1, max_size=120))
def test_the_decay_curve_is_that_of_whole_numbers(outcomes: list[bool]) -> None:
    counts = [sum(outcomes[:k]) for k in range(1, len(outcomes) + 1)]
    assert decay_curve(outcomes) == tuple(100 * c**k // k**k for k, c in enumerate(counts, start=1))


@pytest.mark.parametrize(
    "outcomes", [[True, False] * 5000, [False] + [True] * 9999, [False] * 4 + [True] * 9996]
)
def test_ten_thousand_runs_take_no_time(outcomes: list[bool]) -> None:
    with processor_time() as used:
        found = run_summary(outcomes)
    assert used.seconds < 1.5
    # the limits of (1 - f/k)^k are e^-f: .3679 and .0183; half of the runs failing leaves nothing
    assert found.pass_hat_k == {5000: 0, 9999: 36, 9996: 1}[found.passes]


def test_a_percent_that_is_whole_is_not_truncated_to_the_one_below() -> None:
    assert decay_curve(passes("PF"))[1] == 25
    assert variance_amplification(passes("PPPPF")) == 80  # 200 sqrt(4 * 1)/5 = 80
    assert variance_amplification(passes("P" * 9 + "F")) == 60  # 200 sqrt(9)/10 = 60


@given(runs)
def test_the_variance_amplification_is_the_standard_deviation_over_one_half(outcomes: list[bool]) -> None:
    assert abs(variance_amplification(outcomes) - 200 * np.std(outcomes)) <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("letters", "score"),
    [
        ("FPPP", 90),  # (2 + 3 + 4)/10
        ("PPPF", 60),  # (1 + 2 + 3)/10
        ("PFPF", 40),  # (1 + 3)/10
        ("FFFFFFFFPFFPPPP", 53),  # (9 + 12 + 13 + 14 + 15)/120 = 52.5, half up
        ("PPPP", 100),
        ("FFFF", 0),
        ("P", 100),
    ],
)
def test_graceful_degradation_weighs_a_pass_by_its_position(letters: str, score: int) -> None:
    assert graceful_degradation(passes(letters)) == score


@given(runs)
def test_a_failure_costs_more_the_later_it_comes(outcomes: list[bool]) -> None:
    assert graceful_degradation(sorted(outcomes)) >= graceful_degradation(outcomes)
    assert graceful_degradation(sorted(outcomes, reverse=True)) <= graceful_degradation(outcomes)


@given(runs)
def test_the_summary_ends_in_the_plug_in_pass_hat_k_and_stays_in_percent(outcomes: list[bool]) -> None:
    summary = run_summary(outcomes)
    n, c = len(outcomes), sum(outcomes)
    assert summary.pass_hat_k <= 100 * (c / n) ** n + 1e-9 < summary.pass_hat_k + 1 + 2e-9
    assert summary.pass_at_k == (100 if c else 0)
    assert summary.flaky == (0 < c < n)
    shares = (*summary.curve, summary.variance_amplification, summary.graceful_degradation)
    assert all(0 <= share <= 100 for share in shares)


def test_numpy_outcomes_are_outcomes() -> None:
    assert run_summary(np.array([True, False])) == run_summary([True, False])


@pytest.mark.parametrize("summary", [run_summary, decay_curve, variance_amplification, graceful_degradation])
@pytest.mark.parametrize(
    ("outcomes", "given_"), [([], "none"), ("PPF", "'P'"), ([True, 1], "1"), ([0.5], "0.5")]
)
def test_only_booleans_are_outcomes(summary: Callable[[Any], object], outcomes: Any, given_: str) -> None:
    with pytest.raises(ValueError, match=f"one boolean a run, at least one, got {given_}"):
        summary(outcomes)


def test_the_largest_spread_is_at_half() -> None:
    # 200 sqrt(1 * 2)/3 = 94.28
    assert variance_amplification(passes("PFF")) == 94 == round(200 * sqrt(2) / 3)
    assert variance_amplification(passes("PF")) == 100


def test_an_estimator_may_be_given_by_its_name_and_is_not_taken_for_another() -> None:
    assert pass_at_k(2, 4, 2, "plug-in") == 0.75  # type: ignore[arg-type]
    assert pass_hat_k(4, 5, 2, "plug-in") == 0.64  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="estimator must be one of unbiased, plug-in, got 'plugin'"):
        pass_at_k(2, 4, 2, "plugin")  # type: ignore[arg-type]
