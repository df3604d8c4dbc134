"""Bursts of failures over lanes with rates of their own: exact chances by hand, and error rates by simulation."""

import random
from itertools import product
from math import comb

import pytest

from agentmut.stats.sequential.burst import EndedTrial, Excess, Totals, burst_at_end, excess
from agentmut.stats.tests.stratified import Share, tail


def test_the_tail_of_one_lane_is_hypergeometric() -> None:
    # 3 of 10 trials failed, 4 lie in the window, 2 of these failed: (C(3,2) C(7,2) + C(3,3) C(7,1)) / C(10,4)
    assert tail([Share(10, 3, 4, 2)]) == pytest.approx((3 * 21 + 7) / 210)


def test_the_tail_of_two_lanes_is_that_of_their_sum() -> None:
    lanes = [Share(6, 2, 3, 2), Share(8, 5, 2, 1)]
    chance = 0.0
    for x, y in product(range(3), range(3)):
        if x + y >= 3:
            chance += comb(2, x) * comb(4, 3 - x) / comb(6, 3) * comb(5, y) * comb(3, 2 - y) / comb(8, 2)
    assert tail(lanes) == pytest.approx(chance)


def test_a_lane_that_always_fails_or_lies_in_the_window_tells_nothing() -> None:
    assert tail([Share(9, 9, 4, 4), Share(5, 5, 5, 5), Share(5, 3, 5, 3)]) == 1.0


def trials(original: str, mutants: dict[str, str]) -> list[EndedTrial]:
    """`1` failed, `0` passed; a trial of each agent in turn."""
    rows = {"": original, **mutants}
    turns = max(map(len, rows.values()))
    return [
        EndedTrial(name, "s", row[i] == "1")
        for i in range(turns)
        for name, row in rows.items()
        if i < len(row)
    ]


def totals(seen: list[EndedTrial]) -> Totals:
    found = Totals()
    for one in seen:
        found.add(one)
    return found


def test_the_original_and_several_mutants_have_to_agree() -> None:
    late = "0" * 20 + "1" * 4
    seen = trials(late, {"a": late, "b": late})
    assert burst_at_end(seen, len(seen), totals(seen)) >= 8
    alone = trials("0" * 24, {"a": late, "b": late})
    assert burst_at_end(alone, len(alone), totals(alone)) == 0


def test_a_window_without_a_failure_is_no_burst_whatever_its_signs() -> None:
    quiet = [EndedTrial(m, "s", i < 3) for i in range(20) for m in ("", "a", "b")]
    signed = [EndedTrial(m, "s", False, sign=True) for _ in range(8) for m in ("", "a", "b")]
    known = totals(quiet + signed)
    assert not excess(signed, known).is_burst  # all is counted
    assert burst_at_end(signed, len(signed), known) == 0  # nothing is


def test_failures_that_fall_on_signs_of_trouble_are_a_burst_without_the_original() -> None:
    quiet = [EndedTrial(m, "s", False) for _ in range(20) for m in "abcd"]
    stormy = [EndedTrial(m, "s", i % 2 == 0, sign=i % 2 == 0) for i in range(4) for m in "abcd"]
    found = excess(stormy, totals(quiet + stormy))
    assert found.original == 1.0 and found.is_burst
    calm = [one._replace(sign=False) for one in stormy]
    assert not excess(calm, totals(quiet + calm)).is_burst


def test_what_is_a_burst() -> None:
    assert Excess(1e-7, 1.0, 1.0, 1.0, 0).is_burst
    assert not Excess(1e-4, 1.0, 1.0, 1.0, 5).is_burst
    assert Excess(1e-4, 1e-4, 1.0, 1.0, 2).is_burst
    assert not Excess(1e-4, 1e-4, 1.0, 1.0, 1).is_burst
    assert not Excess(1.0, 1e-9, 1.0, 1.0, 9).is_burst


def campaign(rng: random.Random, degraded: float) -> int:
    """Bursts found in a campaign without an outage; mutants end when a crude rule kills them."""
    seen: list[EndedTrial] = []
    known = Totals()
    found = 0

    def run(mutant: str, scenario: int, chance: float) -> bool:
        nonlocal found
        seen.append(EndedTrial(mutant, str(scenario), rng.random() < chance, rng.random() < 0.1))
        known.add(seen[-1])
        found += burst_at_end(seen, len(seen), known) > 0
        return bool(seen[-1].failed)

    rates = [rng.choice([0.02, 0.1, 0.2]) for _ in range(4)]
    for _, scenario in product(range(30), range(4)):
        run("", scenario, rates[scenario])
    for block in range(8):
        drops = {f"{block}.{i}": 0.7 if rng.random() < degraded else 0.0 for i in range(4)}
        failures = dict.fromkeys(drops, 0)
        for turn in range(25):
            for mutant, drop in drops.items():
                scenario = turn % 4
                if failures[mutant] < 4 + turn / 4:
                    failures[mutant] += run(mutant, scenario, max(rates[scenario], drop))
    return found


@pytest.mark.parametrize("degraded", [0.3, 1.0])
def test_a_campaign_with_many_kills_in_a_row_is_no_burst(degraded: float) -> None:
    alarms = sum(campaign(random.Random(seed), degraded) > 0 for seed in range(25))
    assert alarms == 0  # of about 10,000 windows at a level of 1e-6 each
