"""The order in which a campaign looks for kills."""

import math

import pytest

from agentmut.stats.kill.allocation import evidence
from agentmut.stats.kill.prospect import TrialCounts, kills_per_trial

LEVEL = 0.05 / 12 * 0.4


def of(n: int, f: int, f0: int = 0, n0: int = 20) -> float:
    return kills_per_trial(TrialCounts(f0, n0, n, f), evidence(f0, n0).log_ratio[n][f], LEVEL)


def test_before_any_trial_it_is_the_prior_over_the_trials_that_a_kill_takes() -> None:
    phi = 0.5 / 21
    missing = math.log(1 / LEVEL) - 1.5
    expected = 0.0
    for lost, chance in ((0.22, 0.01), (0.32, 0.015), (0.5, 0.025), (0.75, 0.02), (0.97, 0.02)):
        psi = phi + (1 - phi) * lost
        divergence = psi * math.log(psi / phi) + (1 - psi) * math.log((1 - psi) / (1 - phi))
        expected += chance / max(1, missing / divergence)
    assert of(0, 0) == pytest.approx(expected)


def test_a_failure_raises_the_prospect_and_a_pass_lowers_it() -> None:
    assert of(1, 1) > 5 * of(0, 0)
    assert of(2, 0) < of(1, 0) < of(0, 0)


def test_a_failure_says_less_where_the_original_fails_too() -> None:
    assert of(1, 1, f0=6) < of(1, 1, f0=0) / 3


def test_it_is_a_chance() -> None:
    assert all(0 < of(n, f) <= 1 for n in range(30) for f in range(n + 1))
