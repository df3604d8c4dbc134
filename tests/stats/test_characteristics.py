from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.kill.characteristics import endings, operating_characteristics
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table
from benchmarks.calibration.__main__ import lines
from benchmarks.calibration.false_kills import false_kill_supremum, kill_probability, survive_probability
from benchmarks.calibration.kill import PROMISED, characteristics_row, section

TableOf = Callable[[int, int, KillDesign], KillTable]

PUBLISHED = {
    # true p: false kill, trials if equivalent, drop .2: power, trials; drop .4: trials
    0.99: (0.045, 11.5, 0.91, 7.8, 3.5),
    0.95: (0.044, 15.2, 0.90, 15.1, 5.8),
    0.90: (0.045, 19.6, 0.88, 22.8, 7.9),
    0.80: (0.046, 26.8, 0.83, 33.4, 10.7),
    0.50: (0.048, 32.5, 0.79, 40.5, 11.6),
}


def test_every_figure_of_the_calibration_is_as_promised(table_of: TableOf) -> None:
    found = section(thorough=False, table_of=table_of)
    assert found.figures
    assert not found.failures, "\n".join(lines(found))


@pytest.mark.parametrize("p", PUBLISHED)
def test_operating_characteristics_are_as_published(p: float, table_of: TableOf) -> None:
    assert PROMISED == PUBLISHED
    found = characteristics_row(p, table_of)
    # half a unit of the printed digit, and a little: marginal states may differ
    tolerances = (0.0006, 0.06, 0.006, 0.06, 0.06)
    for value, published, tolerance in zip(found, PUBLISHED[p], tolerances, strict=True):
        assert value == pytest.approx(published, abs=tolerance)


@pytest.mark.parametrize(
    ("n0", "alpha"),
    [
        *((n0, 0.05) for n0 in (10, 20, 30, 50, 100)),
        *((n0, 0.01) for n0 in (5, 20, 30, 50)),
        *((n0, 0.05 / k) for n0, k in ((20, 3), (25, 8), (32, 20), (40, 50), (60, 12))),
    ],
)
def test_false_kills_stay_below_alpha_at_every_true_rate(n0: int, alpha: float, table_of: TableOf) -> None:
    worst = false_kill_supremum(n0, KillDesign(alpha=alpha), table_of)
    assert 0.5 * alpha < worst.value <= alpha


@pytest.mark.parametrize("other", [KillDesign(delta=0.1), KillDesign(n_max=30), KillDesign(beta=0.02)])
def test_false_kills_stay_below_alpha_for_other_designs_too(other: KillDesign) -> None:
    assert false_kill_supremum(25, other).value <= 0.05


def test_the_supremum_at_a_hundred_is_as_published_and_no_grid_point_exceeds_it(table_of: TableOf) -> None:
    worst = false_kill_supremum(100, KillDesign(), table_of)
    assert worst.value == pytest.approx(0.048, abs=0.0006)
    for p in (0.3, 0.35, 0.45, 0.5, 0.6, 0.7):
        assert operating_characteristics(100, KillDesign(), p, 0.0, table_of).killed <= worst.value + 1e-9


def test_chances_of_all_endings_add_up_to_one(table_of: TableOf) -> None:
    table = table_of(10, 100, KillDesign())
    for psi in (0.0, 0.1, 0.37, 1.0):
        ends = endings(table).values()
        total = sum(float(np.sum(e.paths * psi**e.f * (1 - psi) ** (e.n - e.f))) for e in ends)
        assert total == pytest.approx(1.0, abs=1e-9)
    assert kill_probability(table, 1.0) == pytest.approx(1.0)
    assert survive_probability(table, 0.0) == pytest.approx(1.0)


def test_a_rule_of_three_trials_is_counted_by_hand() -> None:
    # killed at 2 of 2 or 3; survived at 0 of 3; 1 of 3 is undecided
    table = KillTable(1, 20, KillDesign(n_max=3), (1, 2, 2, 2), (-1, -1, -1, 0), 0.0, 0.0)
    psi = 0.3
    assert kill_probability(table, psi) == pytest.approx(psi**2 + 2 * psi**2 * (1 - psi))
    assert survive_probability(table, psi) == pytest.approx((1 - psi) ** 3)


def test_exact_characteristics_agree_with_simulated_trials(table_of: TableOf) -> None:
    rng, n0, p, drop, runs = np.random.default_rng(7), 50, 0.9, 0.2, 4000
    exact = operating_characteristics(n0, KillDesign(), p, drop, table_of)
    verdicts = []
    for f0 in rng.binomial(n0, 1 - p, runs).tolist():
        trials = (rng.random(100) < 1 - p + drop).tolist()
        verdicts.append(table_of(f0, n0, KillDesign()).verdict(trials))
    counted = {d: sum(v.decision is d for v in verdicts) / runs for d in Decision}
    assert counted[Decision.KILLED] == pytest.approx(exact.killed, abs=0.02)
    assert counted[Decision.SURVIVED] == pytest.approx(exact.survived, abs=0.02)
    assert counted[Decision.UNDECIDED] == pytest.approx(exact.undecided, abs=0.02)
    assert sum(v.n for v in verdicts) / runs == pytest.approx(exact.trials, abs=1.2)


def test_untestable_baselines_cost_no_trial_and_have_their_own_share() -> None:
    found = operating_characteristics(10, KillDesign(n_max=5), 0.0, 0.2)
    assert found == (0.0, 0.0, 0.0, 1.0, 0.0)
    assert kill_probability(decision_table(10, 10), 0.5) == 0.0


@pytest.mark.parametrize(("p", "drop"), [(-0.1, 0.0), (1.1, 0.0), (0.5, -0.2), (float("nan"), 0.0)])
def test_rates_outside_zero_to_one_are_refused(p: float, drop: float) -> None:
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        operating_characteristics(10, KillDesign(n_max=2), p, drop)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 8), st.lists(st.floats(0, 1), min_size=2, max_size=5).map(sorted))
def test_a_mutant_that_fails_more_often_is_killed_more_often(f0: int, rates: list[float]) -> None:
    table = decision_table(f0, 20, KillDesign(n_max=15))
    killed = [kill_probability(table, phi) for phi in rates]
    survived = [survive_probability(table, phi) for phi in rates]
    assert all(a <= b + 1e-12 for a, b in pairwise(killed))
    assert all(a >= b - 1e-12 for a, b in pairwise(survived))
