"""The simulation of a small budget on a part of the scenarios."""

from pathlib import Path

from benchmarks.few_scenarios import KINDS, SCENARIOS, field, play, row

FEW, MANY = KINDS


def test_a_budget_below_the_baseline_of_all_scenarios_is_refused() -> None:
    """Ten trials on each of 60 scenarios are 600, more than .6 of 600."""
    assert row(FEW, 600, SCENARIOS, 1).endswith("| refused | | |")


def test_a_campaign_stops_with_its_budget_and_finds_only_worse_mutants(tmp_path: Path) -> None:
    """Five scenarios of 60 see 5/60 to 1 - (5/6)^3 of mutants that show on few of them: at most 6 of 14 on average."""
    on = field(tmp_path, 5, 600)
    bought = [play(on, KINDS[FEW], 600, seed) for seed in range(3)]
    assert all(0 <= one.found <= one.answered <= 28 for one in bought)
    assert sum(one.found for one in bought) / 3 <= 6
    wide = play(on, KINDS[MANY], 600, 1)
    assert wide.found >= 8  # each of 14 is missed by five scenarios with a chance of (5/6)^5 = .4 at most
    assert play(on, KINDS[MANY], 600, 1) == wide
