"""What a lower bound of the pass rate says about k further runs."""

import math

import numpy as np
import pytest

from agentmut.stats.verdicts.satisfaction import guarantee, windows


def test_the_rate_of_further_runs_by_hand() -> None:
    # Binomial(4, .9): P(>= 4) = .6561, P(>= 3) = .9477, P(>= 2) = .9963
    assert guarantee(0.9, 4, 0.5, chance=0.94).rate == 0.75
    assert guarantee(0.9, 4, 0.5, chance=0.95).rate == 0.5
    assert guarantee(0.9, 4, 0.5, chance=0.6).rate == 1.0


def test_the_chance_of_a_drift_by_hand() -> None:
    # k = 2, delta = .5: rate 0 is .5 below any p >= .5, rate 1/2 below p = 1 alone, where it never comes
    assert guarantee(0.0, 2, 0.5).drift == pytest.approx(0.25)  # (1 - .5)^2
    assert guarantee(0.8, 2, 0.5).drift == pytest.approx(0.04)  # (1 - .8)^2


def test_ends_of_the_range() -> None:
    assert guarantee(1.0, 10, 0.1).rate == 1.0 and guarantee(1.0, 10, 0.1).drift == 0.0
    assert guarantee(0.0, 10, 0.1).rate == 0.0


@pytest.mark.parametrize("lower", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("k", [5, 20, 150])
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_it_is_never_weaker_than_the_bounds_of_the_papers_proof(lower: float, k: int, delta: float) -> None:
    found = guarantee(lower, k, delta)
    assert found.rate >= lower - math.sqrt(math.log(1 / 0.05) / (2 * k)) - 1 / k
    assert found.drift <= math.exp(-2 * k * delta**2) + 1e-12


@pytest.mark.parametrize("true", [0.85, 0.9, 0.97])
def test_both_statements_hold_for_every_rate_above_the_bound(true: float) -> None:
    found = guarantee(0.85, 30, 0.15)
    rates = np.random.default_rng(1).binomial(30, true, 200_000) / 30
    error = 4 * math.sqrt(0.25 / 200_000)
    assert np.mean(rates >= found.rate) >= found.chance - error
    assert np.mean(rates <= true - 0.15) <= found.drift + error


def test_the_bound_of_the_drift_is_reached() -> None:
    found = guarantee(0.85, 30, 0.15)
    grid = np.linspace(0.85, 1, 3001)
    from scipy.stats import binom

    worst = max(binom.cdf(np.floor(30 * (p - 0.15) + 1e-9), 30, p) for p in grid)
    assert found.drift == pytest.approx(worst, rel=1e-3)


def test_windows_of_observed_runs() -> None:
    found = windows([True, True, False, False, True, True], 3)
    assert found is not None and found.lowest == pytest.approx(1 / 3) and found.drop == pytest.approx(1 / 3)
    assert windows([True], 2) is None and windows([True, True], 2) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("lower", "k", "delta"), [(1.1, 5, 0.1), (0.5, 0, 0.1), (0.5, 5, 0.0), (0.5, 5, 1.0)]
)
def test_what_is_no_rate_or_count_is_refused(lower: float, k: int, delta: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        guarantee(lower, k, delta)
