"""The evidence of a kill against the original beside it: by brute force, at its ends, and what a drift does to it."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from agentmut.stats.kill.beside import (
    EDGE,
    LARGE,
    LARGE_SHIFTS,
    SMALL,
    STEPS,
    KillCounts,
    log_beside,
    log_confirming,
)


def rates(found: KillCounts, shift: float) -> np.ndarray:
    """4,000 points of the baseline's posterior, shifted."""
    phi = beta.ppf((np.arange(4000) + 0.5) / 4000, found.f0 + 0.5, found.n0 - found.f0 + 0.5)
    return np.asarray(np.clip(phi + shift, EDGE, 1 - EDGE))


def by_hand(found: KillCounts, elsewhere: tuple[KillCounts, ...] = ()) -> float:
    """The same Bayes factor with plain sums."""
    weights = [math.exp(-0.5 * step**2) for step in STEPS]
    shifts = [(SMALL * step, (1 - LARGE) * w / sum(weights)) for step, w in zip(STEPS, weights, strict=True)]
    shifts += [(shift, LARGE / len(LARGE_SHIFTS)) for shift in LARGE_SHIFTS]
    told = []
    for shift, plain in shifts:
        chances = [plain]
        for other in elsewhere:
            failures, trials = other.failures + other.original_failures, other.trials + other.original_trials
            rate = rates(other, shift)
            chances.append(float((rate**failures * (1 - rate) ** (trials - failures)).mean()))
        told.append(math.prod(chances))
    same = worse = 0.0
    for (shift, plain), informed in zip(shifts, told, strict=True):
        weight = 0.2 * plain + 0.8 * informed / sum(told)
        rate = rates(found, shift)
        original = rate**found.original_failures * (1 - rate) ** (
            found.original_trials - found.original_failures
        )
        passes = found.trials - found.failures
        same += weight * float((original * rate**found.failures * (1 - rate) ** passes).mean())
        for loss in (0.1, 0.2, 0.3, 0.45, 0.6, 0.8):
            psi = rate + (1 - rate) * loss
            worse += weight * float((original * psi**found.failures * (1 - psi) ** passes).mean()) / 6
    return math.log(worse / same)


@pytest.mark.parametrize(
    "found", [KillCounts(2, 100, 4, 15), KillCounts(10, 50, 6, 8, 3, 8), KillCounts(0, 100, 4, 4, 0, 3)]
)
def test_the_evidence_is_that_of_plain_sums(found: KillCounts) -> None:
    assert log_beside(found) == pytest.approx(by_hand(found), abs=0.05)


@pytest.mark.parametrize("failures", [0, 9])
def test_what_other_scenarios_say_of_the_shift_is_that_of_plain_sums(failures: int) -> None:
    elsewhere = KillCounts(2, 100, failures, 30), KillCounts(10, 50, failures, 20, 1, 4)
    found = KillCounts(4, 100, 6, 15, 1, 5)
    assert log_beside(found, elsewhere) == pytest.approx(by_hand(found, elsewhere), abs=0.05)


def test_an_original_that_fails_as_often_takes_the_evidence_away() -> None:
    fine, drifted = (log_beside(KillCounts(2, 100, 6, 20, failures, 20)) for failures in (0, 6))
    assert fine > log_confirming(0.05 / 12) > 0 > drifted


def test_few_trials_of_the_original_confirm_a_kill_that_is_plain() -> None:
    assert (
        log_beside(KillCounts(2, 100, 4, 4, 0, 4))
        > log_confirming(0.05 / 12)
        > log_beside(KillCounts(2, 100, 4, 4))
    )


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="failures must"):
        log_beside(KillCounts(2, 100, 5, 4))
