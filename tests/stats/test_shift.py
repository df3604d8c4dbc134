"""A drift of the service over all scenarios: found when it is there, named where it is, and not when it is not."""

from collections.abc import Callable

import numpy as np
import pytest

from agentmut.stats.sequential.shift import Shift, find_shift

NAMES = tuple(f"s{j}" for j in range(10))
Baseline = dict[str, tuple[int, int]]


def trials(
    seed: int, rate: Callable[[int, int], float], later: int
) -> tuple[Baseline, list[tuple[str, bool]]]:
    """A baseline of 100 a scenario, later trials in turn; `rate` of failing by scenario and later trial, -1 before."""
    rng = np.random.default_rng(seed)
    baseline = {name: (int(rng.binomial(100, rate(j, -1))), 100) for j, name in enumerate(NAMES)}
    return baseline, [(NAMES[i % 10], bool(rng.random() < rate(i % 10, i))) for i in range(later)]


def found(seed: int, rate: Callable[[int, int], float], later: int = 400) -> Shift:
    shift = find_shift(*trials(seed, rate, later), np.random.default_rng(seed))
    assert shift is not None
    return shift


def test_scenarios_with_different_rates_are_no_drift() -> None:
    # each at its own level, 120 seeds: at most .05 of them below .05, with three standard errors of .02
    low = sum(found(seed, lambda j, _: 0.02 + 0.03 * j, 200).p <= 0.05 for seed in range(120))
    assert low / 120 <= 0.05 + 3 * 0.02


def test_a_step_at_the_end_of_the_baseline_is_found_with_its_size() -> None:
    shifts = [found(seed, lambda _, i: 0.05 + 0.08 * (i >= 0)) for seed in range(10)]
    assert sum(shift.p <= 0.05 for shift in shifts) >= 9
    assert np.mean([shift.change for shift in shifts]) == pytest.approx(-0.08, abs=0.02)
    assert all(shift.earliest == 0 for shift in shifts)


def test_a_step_in_the_middle_is_placed_there() -> None:
    shift = found(1, lambda _, i: 0.05 + 0.3 * (i >= 240))
    assert shift.p <= 0.01
    assert shift.earliest <= 240 <= shift.latest < 400


def test_an_improvement_has_a_positive_change() -> None:
    assert found(2, lambda _, i: 0.3 - 0.2 * (i >= 0)).change > 0.1


def test_nothing_is_said_of_few_trials_or_of_an_agent_that_never_fails() -> None:
    rng = np.random.default_rng(1)
    assert find_shift({"s0": (1, 10)}, [("s0", True)] * 9, rng) is None
    assert find_shift({"s0": (0, 10)}, [("s0", False)] * 50, rng) is None
