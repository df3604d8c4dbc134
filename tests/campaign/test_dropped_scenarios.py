"""A scenario whose own code goes wrong is given up for the mutant; the others go on."""

from dataclasses import replace

import pytest

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.pairs import PartsSeen
from agentmut.campaign.trials import TrialResult
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.mutant import Status
from agentmut.nouns.trace import Outcome
from tests.campaign.test_arm import FAIL, PASS, TROUBLE, a_result, an_arm, told
from tests.campaign.test_parts_of_pairs import BOTH

BROKEN = a_result(Outcome.PRE_VALIDATION, None, Ending.CASE_ERROR)
LOST = BROKEN._replace(footprint=Footprint(lost=True))


def played(arm: Arm, results: dict[str, TrialResult], backwards: bool = False) -> Arm:
    """Run to the end; by scenario, what each of its trials gives."""
    flying = []
    while arm.status is None:
        while arm.ready:
            flying.append(arm.launch())
        launch = flying.pop(-1 if backwards else 0)
        arm.record(launch.number, results[launch.scenario])
    return arm


@pytest.mark.parametrize("ending", [Ending.CASE_ERROR, Ending.SETUP_FAILED])
def test_tests_that_go_wrong_hide_no_mutant_from_one_that_decides_it(ending: Ending) -> None:
    broken = BROKEN._replace(ending=ending)
    arm = an_arm(scenarios=4)
    # s0 to s2 come first
    arm.lanes = [replace(lane, affinity=0.5 * (lane.scenario != "s3")) for lane in arm.lanes]
    played(arm, {"s0": broken, "s1": broken, "s2": broken, "s3": FAIL})
    assert (arm.status, arm.killed_by) == (Status.KILLED, ("s3",))
    assert all(arm.trials.by_scenario[lane.scenario] <= 3 for lane in arm.lanes[:3])
    assert arm.lanes[3].table.design.alpha == 0.05 / 4  # whatever was given up


def test_a_scenario_that_was_given_up_leaves_a_mutant_undecided_never_survived() -> None:
    arm = played(an_arm(), {"s0": PASS, "s1": BROKEN, "s2": PASS})
    assert arm.status is Status.UNDECIDED
    assert arm.reason == ("s1 was given up: 3 trials in a row gave no evidence: (pre_validation) because")


def test_where_every_test_goes_wrong_nothing_is_said_of_coverage() -> None:
    arm = played(an_arm(scenarios=2), {"s0": LOST, "s1": BROKEN})
    assert arm.status is Status.UNDECIDED
    assert "s0 was given up" in arm.reason and "s1 was given up" in arm.reason
    assert (arm.trials.consumed, arm.tally.lost) == (6, 0)


def test_a_run_of_the_scenario_that_is_evidence_begins_the_count_anew() -> None:
    arm = an_arm(scenarios=1)
    for result in (BROKEN, BROKEN, PASS, BROKEN, TROUBLE, BROKEN):
        arm.record(arm.launch().number, result)
    assert (arm.status, arm.lanes[0].dropped) == (None, "")


def test_what_is_given_up_does_not_depend_on_the_order_of_arrival() -> None:
    results = {"s0": BROKEN, "s1": FAIL, "s2": BROKEN}
    first, second = (played(an_arm(window=4), results, backwards) for backwards in (False, True))
    assert told(first) == told(second)


def test_a_pair_that_can_be_run_nowhere_any_more_ends() -> None:
    arm = an_arm(scenarios=2)
    arm.mutant = BOTH
    arm.parts = PartsSeen({lane.scenario: frozenset(p.id for p in BOTH.parts) for lane in arm.lanes}, 3)
    played(arm, {"s0": BROKEN, "s1": BROKEN})
    assert arm.status is Status.UNDECIDED
