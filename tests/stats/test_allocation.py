from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betaln

from agentmut.stats.kill.allocation import LiveScenario, automatic_size, choose, evidence
from benchmarks.calibration.kill import simulated_cost


@pytest.mark.parametrize(("f", "n", "f0", "n0"), [(3, 4, 10, 100), (0, 20, 10, 100), (5, 30, 20, 50)])
def test_the_evidence_is_the_integral_over_the_posterior(f: int, n: int, f0: int, n0: int) -> None:
    a, b = f0 + 0.5, n0 - f0 + 0.5

    def integrand(phi: float) -> float:
        density = np.exp((a - 1) * np.log(phi) + (b - 1) * np.log1p(-phi) - betaln(a, b))
        psi = [phi + (1 - phi) * u for u in (0.1, 0.2, 0.3, 0.45, 0.6, 0.8)]
        return float(density * np.mean([x**f * (1 - x) ** (n - f) for x in psi]))

    m1 = quad(integrand, 0, 1, limit=200, points=[f0 / n0])[0]
    expected = np.log(m1) - (betaln(a + f, b + n - f) - betaln(a, b))
    # a grid of 160 cells
    assert evidence(f0, n0, max(n, 1)).log_ratio[n][f] == pytest.approx(expected, abs=0.01)


def test_evidence_rises_with_failures_and_starts_at_nothing() -> None:
    table = evidence(10, 100, 40).log_ratio
    assert table[0] == (0.0,)
    assert len(table) == 41
    for row in table[1:]:
        assert all(np.diff(row) > 0)
        assert row[0] < 0 < row[-1]


def test_the_next_trial_goes_where_a_drop_is_most_likely() -> None:
    e = evidence(10, 100)
    states = [LiveScenario(e, 4, 1), LiveScenario(e, 3, 2), None, LiveScenario(e, 5, 0)]
    assert choose(states, [1.0] * 4, [1.0] * 4, Random(0)) == 1


def test_weights_multiply_the_evidence() -> None:
    e = evidence(10, 100)
    assert choose([LiveScenario(e, 0, 0), LiveScenario(e, 0, 0)], [0.1, 0.9], [9.0, 1.0], Random(0)) == 1


def test_ties_go_to_affinity_first_and_then_to_chance() -> None:
    start = [LiveScenario(evidence(f0, 100), 0, 0) for f0 in (3, 10, 20)]
    equal = [1 / 3] * 3
    assert {choose(start, equal, [1, 5, 2], Random(seed)) for seed in range(20)} == {1}
    assert {choose(start, equal, [1, 5, 5], Random(seed)) for seed in range(50)} == {1, 2}
    assert choose(start, equal, [1, 1, 1], Random(3)) == choose(start, equal, [1, 1, 1], Random(3))


def test_chance_is_left_alone_when_there_is_no_tie() -> None:
    rng, e = Random(1), evidence(10, 100)
    before = rng.getstate()
    choose([LiveScenario(e, 1, 1), LiveScenario(e, 1, 0)], [0.5, 0.5], [1, 1], rng)
    assert rng.getstate() == before


def test_no_live_scenario_or_uneven_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one live scenario"):
        choose([None, None], [0.5, 0.5], [1, 1], Random(0))
    with pytest.raises(ValueError, match="one entry a scenario"):
        choose([None, None], [0.5], [1, 1], Random(0))


def test_ten_scenarios_with_one_broken_are_killed_within_the_promised_trials() -> None:
    cost = simulated_cost([0.4] + [0.0] * 9, 0.005, runs=800, seed=5)
    assert cost.killed > 0.985
    assert cost.trials <= 48 + 2 * cost.error
    assert cost.error < 2


def test_ten_equivalent_scenarios_cost_what_was_promised_and_are_seldom_killed() -> None:
    cost = simulated_cost([0.0] * 10, 0.005, runs=400, seed=6)
    assert cost.trials == pytest.approx(215, abs=3 * cost.error)
    assert cost.killed <= 0.05 + 0.033  # three standard errors


def test_the_baseline_grows_with_the_number_of_mutants() -> None:
    assert [automatic_size(m) for m in (0, 1, 20, 21, 50, 51, 5000)] == [50, 50, 50, 100, 100, 200, 200]
    with pytest.raises(ValueError, match="mutants must be a whole number"):
        automatic_size(-1)


@settings(max_examples=30, deadline=None)
@given(
    st.permutations(range(4)),
    st.lists(st.integers(0, 4), min_size=4, max_size=4),
    st.lists(st.floats(0, 1), min_size=4, max_size=4, unique=True),
)
def test_names_of_scenarios_do_not_matter(
    order: list[int], failures: list[int], affinity: list[float]
) -> None:
    table = evidence(3, 30, 10)
    states = [LiveScenario(table, 4, f) for f in failures]
    chosen = choose(states, [1.0] * 4, affinity, Random(1))
    again = choose([states[i] for i in order], [1.0] * 4, [affinity[i] for i in order], Random(1))
    assert order[again] == chosen
