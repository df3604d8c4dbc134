"""A kill waits for trials of the original beside it: it holds, or it is taken back, and the mutant goes on."""

from collections import Counter
from dataclasses import replace

import pytest

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.confirming import (
    LEAST,
    Confirmation,
    confirmation_of,
    is_sentinel,
    repeat_beside,
)
from agentmut.campaign.decision.sentinels import Sentinels
from agentmut.campaign.trials import Launch
from agentmut.nouns.mutant import Status
from agentmut.stats.kill.beside import KillCounts
from agentmut.stats.kill.rule import Decision
from tests.campaign.test_arm import FAIL, PASS, TROUBLE, an_arm


def confirming(scenarios: int = 3, window: int = 1) -> Arm:
    arm = an_arm(scenarios, window)
    arm.confirms = True
    return arm


def until_killed(arm: Arm, scenario: str = "s0") -> Arm:
    """Let the mutant fail on one scenario until its table says KILLED."""
    while arm.waiting is None:
        launch = arm.launch()
        arm.record(launch.number, FAIL if launch.scenario == scenario else PASS)
    return arm


def beside(arm: Arm, *, original_fails: bool, mutant_fails: bool = True) -> list[Launch]:
    """Carry the confirmation out; returns its launches."""
    launches = []
    while arm.waiting is not None:
        launch = arm.launch()
        failed = original_fails if launch.beside else mutant_fails
        arm.record(launch.number, FAIL if failed else PASS)
        launches.append(launch)
    return launches


def test_a_plain_kill_takes_a_few_trials_of_the_original_and_no_more_of_the_mutant() -> None:
    arm = until_killed(confirming())
    own = arm.trials.own
    launches = beside(arm, original_fails=False)
    assert arm.status is Status.KILLED
    assert LEAST <= len(launches) <= 8
    assert {(launch.mutant, launch.beside, launch.scenario) for launch in launches} == {("", "m1", "s0")}
    assert (arm.trials.own, arm.killed_by) == (own, ("s0",))


def test_a_kill_does_not_hold_where_the_original_fails_as_often() -> None:
    arm = until_killed(confirming())
    beside(arm, original_fails=True)
    assert arm.status is None
    assert [lane.decision for lane in arm.lanes if lane.scenario == "s0"] == [Decision.UNDECIDED]
    while arm.status is None:  # the other scenarios go on, and pass
        launch = arm.launch()
        assert launch.scenario != "s0"
        arm.record(launch.number, PASS)
    assert arm.status is Status.UNDECIDED
    assert "a kill on s0 did not hold: the mutant failed 4 of 4 trials, and the original 4 of 4" in arm.reason


def test_one_chance_failure_beside_a_kill_in_one_trial_does_not_take_it_back() -> None:
    # a mutant that always fails, such as the destroyed agent, is killed in its first trials
    found = Confirmation((("s0", KillCounts(0, 20, 1, 1)),), 0.02).with_original("s0", failed=True)
    assert found.next() == ("s0", False) and not found.given_up
    for _ in range(40):
        scenario, original = found.next()
        found = (
            found.with_original(scenario, failed=False)
            if original
            else found.with_mutant(scenario, failed=True)
        )
        if found.confirmed or found.given_up:
            break
    assert found.confirmed and not found.given_up


def test_a_mutant_whose_kill_is_not_striking_runs_six_trials_alone_first() -> None:
    # five of seven is more than .7, three of seven is not; the levels are those of one round
    seen = {}
    for failures in (5, 3):
        lane = replace(confirming(1).lanes[0], failures=failures, trials=7, decision=Decision.KILLED)
        found, order = confirmation_of([lane], None), ""
        for _ in range(15):
            scenario, original = found.next()
            order += "o" if original else "m"
            found = (
                found.with_original(scenario, failed=False)
                if original
                else found.with_mutant(scenario, failed=True)
            )
        seen[failures] = order
    assert seen == {5: "o" * 7 + "mo" * 4, 3: "m" * 6 + "o" * 9}


def test_after_twenty_trials_of_the_original_it_and_the_mutant_take_turns() -> None:
    found, seen = Confirmation((("s0", KillCounts(2, 100, 6, 30)),), 0.005), ""
    while len(seen) < 26:
        scenario, original = found.next()
        seen += "o" if original else "m"
        found = (
            found.with_original(scenario, failed=False)
            if original
            else found.with_mutant(scenario, failed=False)
        )
    assert seen == "o" * 20 + "mo" * 3


def test_a_confirmation_knows_what_the_mutant_and_the_original_did_on_the_other_scenarios() -> None:
    lane = confirming(1).lanes[0]
    lanes = [
        replace(lane, scenario="s0", failures=4, trials=4, decision=Decision.KILLED, outcomes="1111"),
        replace(lane, scenario="s1", failures=1, trials=2, decision=Decision.SURVIVED, outcomes="0100"),
        replace(lane, scenario="s2"),
        replace(lane, scenario="s3", failures=3, trials=3, decision=Decision.UNDECIDED, outcomes="1110"),
    ]
    refuted = Confirmation((("s3", KillCounts(10, 100, 3, 4, 2, 5)),), 0.005)
    found = confirmation_of(lanes, None, refuted=[refuted])
    assert found.by_scenario == (("s0", KillCounts(10, 100, 4, 4)),)
    assert found.elsewhere == (KillCounts(10, 100, 1, 4), KillCounts(10, 100, 3, 4, 2, 5))


def test_the_same_kill_needs_more_where_the_mutant_fails_on_other_scenarios_too() -> None:
    found = (("s0", KillCounts(2, 100, 4, 12, 0, 6)),)
    calm, drifting = (
        Confirmation(found, 0.05 / 12, elsewhere=(KillCounts(2, 100, failures, 40),)) for failures in (1, 8)
    )
    assert calm.log_evidence > Confirmation(found, 0.05 / 12).log_evidence > drifting.log_evidence


def test_a_kill_that_gains_no_evidence_is_taken_back_though_the_evidence_is_for_it() -> None:
    # its logarithm is 1.90: enough after 40 trials (0.6 + 0.03 * 40 = 1.8), too little after 99 (3.57)
    few = Confirmation((("s0", KillCounts(2, 100, 6, 39, 1, 40)),), 0.005, further=0)
    assert 1.8 < few.log_evidence < 3.57 and not few.confirmed and not few.given_up
    assert replace(few, further=60 - 1).given_up


def test_another_scenario_may_still_kill_after_a_kill_was_taken_back() -> None:
    arm = until_killed(confirming())
    beside(arm, original_fails=True)
    beside(until_killed(arm, "s1"), original_fails=False)
    assert (arm.status, arm.killed_by, len(arm.refuted)) == (Status.KILLED, ("s1",), 1)


def test_a_kill_may_hold_on_its_scenario_and_not_amid_a_drift_that_the_others_show() -> None:
    # three of three failed beside an original that passed five times; elsewhere it fails in 20 of 100, after 2 of 100
    found = Confirmation((("s0", KillCounts(2, 100, 3, 3, 0, 5)),), 0.05 / 12)
    assert found.confirmed
    calm, drifting = (
        {name: KillCounts(2, 100, 0, 0, failures, 100) for name in ("s0", "s1", "s2")} for failures in (2, 20)
    )
    assert found.holds_amid(calm) and found.holds_amid({}) and not found.holds_amid(drifting)
    # its own scenario counts once, with the trials beside the kill
    assert found.holds_amid({"s0": KillCounts(2, 100, 0, 0, 20, 100)})


def test_an_original_that_gives_no_evidence_leaves_the_kill_unconfirmed() -> None:
    arm = until_killed(confirming(1))
    while arm.status is None:
        arm.record(arm.launch().number, TROUBLE)
    assert arm.status is Status.UNDECIDED
    assert "could not be confirmed: 3 trials of the original in a row gave no evidence" in arm.reason


@pytest.mark.parametrize("window", [1, 4])
def test_a_kill_that_lies_between_is_decided_in_the_end(window: int) -> None:
    # the original fails every third time and the mutant every second: too little to tell within the further trials
    arm, seen = until_killed(confirming(1, window)), Counter[str]()
    while arm.status is None:
        launch = arm.launch()
        seen[launch.mutant] += 1
        every = 2 if launch.mutant else 3
        arm.record(launch.number, FAIL if seen[launch.mutant] % every == 0 else PASS)
    assert arm.status in (Status.UNDECIDED, Status.KILLED)
    assert len(arm.trials.launches) <= 4 + 2 * 60 + 8


def test_each_mutant_has_trials_of_the_original_for_itself() -> None:
    places = [repeat_beside(f"m{i}", 0) for i in range(500)]
    assert len(set(places)) >= 499
    assert not any(map(is_sentinel, places))
    assert repeat_beside("m1", 7) == repeat_beside("m1", 0) + 7


def test_one_launch_in_twenty_is_a_sentinel_of_the_next_scenario() -> None:
    sentinels = Sentinels(("a", "b"), 0.05)
    launched = [launch for mutants in range(101) if (launch := sentinels.launch(mutants))]
    assert [(x.scenario, x.repeat - 1_000_000) for x in launched] == [
        ("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2),
    ]  # fmt: skip
    assert all(is_sentinel(launch.repeat) and not launch.arm for launch in launched)


def test_trials_that_confirm_kills_make_sentinels_rarer() -> None:
    sentinels = Sentinels(("a", "b"), 0.05)
    assert sentinels.launch(100, of_original=5) is None
    assert sentinels.launch(119, of_original=5) is None
    assert sentinels.launch(120, of_original=5) is not None  # six of 120 are the original's
    assert sentinels.launch(120, of_original=5) is None
