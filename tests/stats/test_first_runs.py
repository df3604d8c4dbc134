"""Trials that stopped at a kill, replayed as a CI job: counted by hand, and summed over every sequence."""

from itertools import product

import pytest

from agentmut.stats.kill.characteristics import endings
from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, decision_table
from agentmut.stats.score.first_runs import KillPlace, killed_where, replayed_green
from agentmut.stats.score.redness import TriedScenario, red_chances


def table(kill_at: tuple[int, ...], survive_at: tuple[int, ...]) -> KillTable:
    return KillTable(0, 50, KillDesign(n_max=len(kill_at) - 1), kill_at, survive_at, 0.0, 0.0)


TWO_OR_THREE = table((1, 2, 2, 3, 3, 3), (-1, -1, -1, -1, -1, 0))
"""Kills at two failures of two, and at three of three, four or five; survives at none of five."""
LATER = table((1, 2, 3, 4, 2, 2), (-1, -1, -1, -1, -1, -1))
"""Kills at two failures of four or five."""
ONE_PASS = table((1, 2, 3, 4, 5, 6), (-1, -1, 0, 0, 0, 0))
"""Survives at two passes of two, and never kills."""


def test_of_three_failures_in_four_trials_the_first_failed_in_two_orders_of_two() -> None:
    # FF is dead after two trials, so 3 of 4 is FPFF or PFFF: of both, the first failed in one
    killed = KillPlace((TWO_OR_THREE,), 4, 3)
    assert replayed_green(killed, 1, 1) == pytest.approx(1 / 2)
    assert replayed_green(killed, 1, 2) == pytest.approx(1)  # one pass among the first two, in both
    assert replayed_green(killed, 2, 3) == 0.0  # one pass among the first three, in both


def test_runs_that_the_sequence_lacks_fail_at_the_estimated_rate() -> None:
    # the first of the two orders failed: rate 1/2. Three of four failed, so two more runs must both pass
    assert replayed_green(KillPlace((TWO_OR_THREE,), 4, 3), 3, 6) == pytest.approx(1 / 4)
    assert replayed_green(KillPlace((TWO_OR_THREE,), 4, 3), 4, 6) == 0.0


def test_a_later_table_takes_over_where_the_one_before_it_has_cleared_the_scenario() -> None:
    rounds = (ONE_PASS, LATER)
    # PP ends the first round; the second kills PPFF. FPPF, FPFP ... are alive in the first round and never killed by it
    assert killed_where(rounds, "0011") == KillPlace(rounds, 4, 2)
    assert replayed_green(KillPlace(rounds, 4, 2), 1, 1) == 1.0
    assert killed_where(rounds, "1001") is None
    assert killed_where((LATER,), "1001") == KillPlace((LATER,), 4, 2)
    assert replayed_green(KillPlace((LATER,), 4, 2), 1, 1) == pytest.approx(1 / 2)


def test_outcomes_after_the_kill_are_not_read_and_a_survivor_was_killed_nowhere() -> None:
    assert killed_where((TWO_OR_THREE,), "1100") == KillPlace((TWO_OR_THREE,), 2, 2)
    assert killed_where((TWO_OR_THREE,), "00000") is None
    assert killed_where((TWO_OR_THREE,), "1") is None


def test_a_place_where_no_order_kills_is_refused() -> None:
    with pytest.raises(ValueError, match="no order kills after 4 trials with 1 failures"):
        replayed_green(KillPlace((TWO_OR_THREE,), 4, 1), 1, 1)


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_over_all_killed_sequences_the_first_runs_are_estimated_without_bias(needed: int) -> None:
    """Over every sequence of five trials, failing at .4, the mean is the share of the killed that are green."""
    estimated = true = 0.0
    for outcomes in product("01", repeat=5):
        found = killed_where((ONE_PASS, TWO_OR_THREE, LATER), "".join(outcomes))
        if found is not None and found.trials >= 3:
            chance = 0.4 ** outcomes.count("1") * 0.6 ** outcomes.count("0")
            estimated += chance * replayed_green(found, needed, 3)
            true += chance * (outcomes[:3].count("0") >= needed)
    assert estimated == pytest.approx(true)
    assert true > 0.01 or needed == 3


@pytest.mark.parametrize("drop", [0.3, 0.5])
def test_the_estimated_rate_of_killed_mutants_is_nearly_the_true_one(drop: float) -> None:
    """Exact, for one baseline. By failures over trials the error is .08, without the last failure .05."""
    kills, failing = decision_table(2, 50, KillDesign(0.05 / 12)), 0.05 + drop
    ends = endings(kills)[Decision.KILLED]
    chances = ends.paths * failing**ends.f * (1 - failing) ** (ends.n - ends.f)
    places = [KillPlace((kills,), int(n), int(f)) for n, f in zip(ends.n, ends.f, strict=True)]
    mean = sum(c * (1 - replayed_green(place, 1, 1)) for c, place in zip(chances, places, strict=True))
    assert mean / chances.sum() == pytest.approx(failing, abs=0.012)
    naive = float((chances * ends.f / ends.n).sum() / chances.sum())
    assert naive > failing + 0.05


def test_a_kill_changes_the_estimate_and_leaves_the_bounds() -> None:
    (stopped,) = red_chances([TriedScenario(1, 4, 0.9, killed=KillPlace((TWO_OR_THREE,), 4, 3))], [1])
    (fixed,) = red_chances([TriedScenario(1, 4, 0.9)], [1])
    assert stopped.interval.estimate == pytest.approx(0.5)
    assert fixed.interval.estimate == pytest.approx(0.75)
    assert (stopped.interval.low, stopped.interval.high) == (fixed.interval.low, fixed.interval.high)
