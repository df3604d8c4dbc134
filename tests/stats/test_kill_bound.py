import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.calibration.bound import divergence, kill_bound, survival_bound


def test_the_divergence_of_two_coins_by_hand() -> None:
    # .5 log(.5/.25) + .5 log(.5/.75) = .5 log 2 + .5 log(2/3) = .5 log(4/3)
    assert float(divergence(0.5, 0.25)) == pytest.approx(0.5 * math.log(4 / 3))
    assert float(divergence(0.3, 0.3)) == 0
    assert float(divergence(0.0, 0.2)) == pytest.approx(-math.log(0.8))
    assert float(divergence(0.2, 0.0)) == math.inf


def test_without_a_baseline_no_trials_suffice() -> None:
    # q = psi explains everything: nothing says that the original was ever better
    assert kill_bound(0.1, 0.3, 0, 0.9, 0.05).trials == math.inf


def test_with_an_endless_baseline_the_bound_is_walds() -> None:
    # q is pinned to phi: d(.9||.05) / KL(.3||.1) = (.9 log 18 + .1 log(.1/.95)) / (.3 log 3 + .7 log(7/9))
    walds = (0.9 * math.log(18) + 0.1 * math.log(0.1 / 0.95)) / (0.3 * math.log(3) + 0.7 * math.log(7 / 9))
    found = kill_bound(0.1, 0.3, 10**8, 0.9, 0.05)
    assert found.trials == pytest.approx(walds, rel=1e-3)
    assert found.q == pytest.approx(0.1, abs=1e-3)
    survive = (0.95 * math.log(9.5) + 0.05 * math.log(0.05 / 0.9)) / (
        0.1 * math.log(1 / 3) + 0.9 * math.log(9 / 7)
    )
    assert survival_bound(0.1, 0.2, 10**8, 0.95, 0.1).trials == pytest.approx(survive, rel=1e-3)


@pytest.mark.parametrize("n0", [30, 100])
def test_no_rate_on_a_fine_grid_gives_more(n0: int) -> None:
    q = np.linspace(1e-5, 1 - 1e-5, 200_000)  # does not hit psi itself

    def kl(a: float, b: Any) -> Any:
        b = np.asarray(b)
        return a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))

    on_grid = ((kl(0.88, 0.05) - n0 * kl(0.1, q)) / kl(0.5, q)).max()
    assert kill_bound(0.1, 0.5, n0, 0.88, 0.05).trials == pytest.approx(on_grid, rel=1e-6)
    q = q * 0.8
    on_grid = ((kl(0.95, 0.1) - n0 * kl(0.1, q)) / kl(0.1, q + 0.2)).max()
    assert survival_bound(0.1, 0.2, n0, 0.95, 0.1).trials == pytest.approx(on_grid, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(phi=st.floats(0.01, 0.5), drop=st.floats(0.05, 0.45), power=st.floats(0.1, 0.99))
def test_more_baseline_never_raises_and_more_power_never_lowers_the_bound(
    phi: float, drop: float, power: float
) -> None:
    bounds = [kill_bound(phi, phi + drop, n0, power, 0.05).trials for n0 in (20, 100, 500)]
    assert bounds[0] >= bounds[1] * (1 - 1e-6) and bounds[1] >= bounds[2] * (1 - 1e-6)
    assert kill_bound(phi, phi + drop, 100, (1 + power) / 2, 0.05).trials >= bounds[1] * (1 - 1e-6)


def test_a_promise_no_better_than_chance_costs_nothing() -> None:
    assert kill_bound(0.1, 0.3, 100, 0.05, 0.05).trials == 0
    assert survival_bound(0.1, 0.2, 100, 0.08, 0.1).trials == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.3, 100, 0.9, 0.05), r"phi must be in \(0, 1\), got 0"),
        ((0.1, 1.0, 100, 0.9, 0.05), r"psi must be in \(0, 1\), got 1"),
        ((0.1, 0.3, -1, 0.9, 0.05), "n0 must be a whole number of at least 0, got -1"),
        ((0.1, 0.3, 2.5, 0.9, 0.05), "n0 must be a whole number"),
        ((0.1, 0.3, 100, 1.1, 0.05), r"power must be in \[0, 1\], got 1.1"),
        ((0.1, 0.3, 100, 0.9, math.nan), r"alpha must be in \(0, 1\), got nan"),
    ],
)
def test_impossible_bounds_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kill_bound(*arguments)


def test_impossible_survivals_are_refused() -> None:
    with pytest.raises(ValueError, match=r"survived must be in \[0, 1\]"):
        survival_bound(0.1, 0.2, 100, -0.1, 0.1)
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\)"):
        survival_bound(0.1, 0.0, 100, 0.9, 0.1)
