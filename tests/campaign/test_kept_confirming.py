"""Trials of the original that confirmed kills are baseline trials of the next round, and choose nothing."""

from itertools import product
from math import comb
from types import SimpleNamespace
from typing import Any

import pytest

from agentmut.campaign.decision.baseline_phase import BaselinePhase
from agentmut.campaign.decision.kept_confirming import KeptConfirming

PLAN: Any = SimpleNamespace(
    scenarios=("s",),
    ladder=(SimpleNamespace(baseline=1), SimpleNamespace(baseline=3)),
    baseline_limit=None,
    rounds=(1, 2),
    bounded=False,
    first={},
    stops_at_failing=False,
)


def phase() -> BaselinePhase:
    found = BaselinePhase(PLAN)
    found.by_scenario["s"].trials = found.by_scenario["s"].launched = found.by_scenario["s"].finished = 1
    return found


def test_they_take_the_place_of_new_trials_up_to_the_size_and_the_rest_waits() -> None:
    baseline = (one := phase()).by_scenario["s"]
    one.grow(3, [("s", True), ("s", False), ("s", True)])
    assert (baseline.counts, one.complete, one.grown) == ((1, 3), True, 0)
    one.grow(5, [("s", False)])
    assert (baseline.counts, one.complete) == ((2, 5), True)
    one.grow(8)
    assert (baseline.wanted, one.complete, one.grown) == (4, False, 3)
    assert (baseline.trials, baseline.failures) == (1, 0)  # reports tell these apart


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_baseline_with_them_has_the_law_of_new_trials_although_outcomes_end_each_confirmation(
    rate: float,
) -> None:
    """Two kills run the original until it has passed, three times at most; four trials are wanted. By enumeration."""
    size, found = 4, [0.0] * 5
    for drawn in product((True, False), repeat=3 + 3 + size):
        streams, new = (drawn[:3], drawn[3:6]), list(drawn[6:])
        beside = [each for stream in streams for each in stream[: (*stream, False).index(False) + 1]]
        one = phase()
        one.grow(1 + size, [("s", failed) for failed in beside])
        lacking = 1 + size - one.by_scenario["s"].counts[1]
        failures = one.by_scenario["s"].counts[0] + sum(new[:lacking])
        found[failures] += rate ** sum(drawn) * (1 - rate) ** (len(drawn) - sum(drawn))
    assert found == pytest.approx(
        [comb(size, f) * rate**f * (1 - rate) ** (size - f) for f in range(size + 1)]
    )


def test_each_trial_is_handed_on_once_also_where_an_earlier_mutant_is_killed_later() -> None:
    def arm(*confirmations: list[tuple[str, bool]]) -> Any:
        return SimpleNamespace(confirmations=[SimpleNamespace(originals=each) for each in confirmations])

    kept = KeptConfirming()
    assert list(kept.take(["a", "b", "c"], {"a": arm(), "b": arm([("s", True)])})) == [("s", True)]
    later = {"a": arm([("s", False)]), "b": arm([("s", True)], [("t", False)])}
    assert list(kept.take(["a", "b", "c"], later)) == [("s", False), ("t", False)]
    assert list(kept.take(["a", "b", "c"], later)) == []
