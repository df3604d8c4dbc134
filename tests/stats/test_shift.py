"""A drift of the service over all scenarios: found when it is there, named where it is, and not when it is not."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

from agentmut.stats.sequential.shift import LaterTrials, Shift, find_shift

NAMES = tuple(f"s{j}" for j in range(10))
ORIGINAL = tuple((name, "") for name in NAMES)
Baseline = dict[str, tuple[int, int]]


def trials(seed: int, rate: Callable[[int, int], float], later: int) -> tuple[Baseline, LaterTrials]:
    """A baseline of 100 a scenario, later trials in turn; `rate` of failing by scenario and later trial, -1 before."""
    rng = np.random.default_rng(seed)
    baseline = {name: (int(rng.binomial(100, rate(j, -1))), 100) for j, name in enumerate(NAMES)}
    where = np.arange(later) % 10
    return baseline, LaterTrials(
        ORIGINAL, where, [bool(rng.random() < rate(i % 10, i)) for i in range(later)]
    )


def found(seed: int, rate: Callable[[int, int], float], later: int = 400) -> Shift:
    shift = find_shift(*trials(seed, rate, later))
    assert shift is not None
    return shift


def with_mutants(seed: int, rate: Callable[[int, str], float], mutants: int = 12) -> Shift:
    """Return what is found where mutants, in turn, run on the scenario that they failed most, as campaigns do.

    `rate` of failing by trial, counted after the baseline, and mutant; -1 in the baseline, and an empty name for the
    original, which has a sixteenth of the trials. A lane ends after eleven trials and eight more for each failure.
    """
    rng = np.random.default_rng(seed)
    baseline = {name: (int(rng.binomial(100, rate(-1, ""))), 100) for name in NAMES}
    lanes = [*ORIGINAL, *((name, f"m{i}") for i in range(mutants) for name in NAMES)]
    failed, run = np.zeros(len(lanes), dtype=int), np.zeros(len(lanes), dtype=int)
    where: list[int] = []
    outcomes: list[bool] = []
    for number in range(16 * 100):
        first = 10 + 10 * (number % mutants)
        live = [j for j in range(first, first + 10) if run[j] < 11 + 8 * failed[j] and run[j] < 60]
        lane = max(live, key=lambda j: (failed[j], -run[j])) if live and number % 16 else number // 16 % 10
        outcome = bool(rng.random() < rate(number, lanes[lane][1]))
        failed[lane], run[lane] = failed[lane] + outcome, run[lane] + 1
        where.append(lane)
        outcomes.append(outcome)
    shift = find_shift(baseline, LaterTrials(lanes, where, outcomes))
    assert shift is not None
    return shift


def test_scenarios_with_different_rates_are_no_drift() -> None:
    # each at its own level, 20 seeds: at most .05 of them below .05, with three standard errors of .049
    low = sum(found(seed, lambda j, _: 0.02 + 0.03 * j, 200).p <= 0.05 for seed in range(20))
    assert low / 20 <= 0.05 + 3 * 0.049


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


def test_trials_of_mutants_show_a_step_that_those_of_the_original_hardly_show() -> None:
    shifts = [with_mutants(seed, lambda i, _: 0.05 + 0.06 * (i >= 800)) for seed in range(4)]
    assert sum(shift.p <= 0.05 for shift in shifts) >= 3
    assert np.mean([shift.change for shift in shifts]) == pytest.approx(-0.06, abs=0.02)


def test_adaptive_trials_of_a_steady_service_are_no_drift() -> None:
    # 20 seeds: at most .05, with three standard errors of .049
    assert sum(with_mutants(seed, lambda *_: 0.1).p <= 0.05 for seed in range(20)) <= 3


def test_mutants_that_are_a_little_worse_everywhere_are_no_drift() -> None:
    shifts = [with_mutants(seed, lambda _, mutant: 0.05 + 0.06 * bool(mutant)) for seed in range(12)]
    assert sum(shift.p <= 0.05 for shift in shifts) <= 3


def test_the_evidence_is_the_ratio_of_two_sums_over_the_distributions_of_rates() -> None:
    """Two scenarios, three later trials: s0 fails, s1 passes, s0 fails. By plain sums on a fine grid of angles."""
    baseline = {"s0": (1, 50), "s1": (3, 60)}
    ends = [(math.asin(math.sqrt((f + 0.5) / (n + 1))), 1.5 / math.sqrt(n + 1)) for f, n in baseline.values()]
    low, high = min(a - w for a, w in ends), max(a + w for a, w in ends)
    means = np.sin(np.linspace(max(0.02, low), high, 24)) ** 2
    angles = np.linspace(0.01, 0.9, 1501)
    rate = np.sin(angles) ** 2
    jacobian = np.sin(2 * angles)
    densities = [
        stats.beta(m * n, (1 - m) * n).pdf(rate) * jacobian for m in means for n in (4, 16, 64, 256, 1024)
    ]

    def chance(shift: float, split: int) -> float:
        """Return the chance of all trials, where the rates rise by the shift before the trial with that number."""
        moved = np.clip(rate + shift, 5e-4, 1 - 5e-4)
        of = [moved if number >= split else rate for number in range(3)]
        first = rate**1 * (1 - rate) ** 49 * of[0] * of[2]
        second = rate**3 * (1 - rate) ** 57 * (1 - of[1])
        return sum(
            float(integrate.trapezoid(d * first, angles) * integrate.trapezoid(d * second, angles))
            for d in densities
        )

    shifts = [(s, 0.9 / 8) for s in (0.02, 0.035, 0.05, 0.08, 0.12, 0.2, 0.35, 0.6)]
    shifts += [(s, 0.1 / 3) for s in (-0.04, -0.1, -0.25)]
    drifting = sum(w * v * chance(s, split) for s, w in shifts for split, v in enumerate((0.4, 0.3, 0.3)))
    later = LaterTrials((("s0", ""), ("s1", "")), [0, 1, 0], [True, False, True])
    shift = find_shift(baseline, later)
    assert shift is not None
    assert shift.log_evidence == pytest.approx(math.log(drifting / chance(0.0, 3)), abs=0.02)


def test_rates_that_all_baselines_share_are_known_more_closely_than_one_baseline_tells() -> None:
    # ten scenarios at one rate: 30 failures in 200 trials; then 20 in 200. One scenario alone has 3 in 20 and 2 in 20
    def shifted(scenarios: int) -> float:
        lanes = tuple((f"s{j}", "") for j in range(scenarios))
        where = [j for j in range(scenarios) for _ in range(20)]
        later = LaterTrials(lanes, where, [i % 20 < 8 for i in range(20 * scenarios)])
        shift = find_shift({name: (3, 20) for name, _ in lanes}, later)
        assert shift is not None
        return shift.log_evidence

    assert shifted(10) > 5 * shifted(1) > 0


def test_no_later_trial_says_nothing_and_few_say_little() -> None:
    assert find_shift({"s0": (1, 10)}, LaterTrials((), [], [])) is None
    assert find_shift({}, LaterTrials((("s0", ""),), [0], [True])) is None
    calm = find_shift({"s0": (0, 10)}, LaterTrials((("s0", ""),), [0] * 50, [False] * 50))
    assert calm is not None and calm.p == pytest.approx(min(1.0, 0.2 * math.exp(-calm.log_evidence)))
    assert calm.log_evidence < 0


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="failures"):
        find_shift({"s0": (3, 2)}, LaterTrials((("s0", ""),), [0], [True]))
