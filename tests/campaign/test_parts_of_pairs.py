"""Pairs one part of which is a fault of a tool that the agent does not always call."""

from collections import Counter
from typing import Any

import pytest

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.arrival import arrived_nowhere, passed_by, went_past
from agentmut.campaign.decision.lane import Lane
from agentmut.campaign.decision.pairs import PART_PATIENCE, PartsSeen
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import TrialResult
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, Status
from agentmut.nouns.trace import Outcome
from agentmut.stats.kill.rule import KillDesign
from agentmut.trial.witness.witness import Route, Witness

TABLES = Tables(None)


def mutant(id: str, operator: str, edit: Edit, reach: Reach, subject: str = "", *parts: Mutant) -> Mutant:
    kind = OperatorClass(operator.partition(".")[0])
    return Mutant(
        id=id, operator=operator, version=1, operator_class=kind, intent=Intent.DEGRADE, reach=reach,
        subject=subject, description="", edits=(edit,), parts=parts,
    )  # fmt: skip


WORDS = mutant(
    "words", "prompt.x", Edit(pointer="/prompt", before="Be kind.", after="", span=(0, 8)), Reach.SENT
)
FAULT = Edit(pointer="/tools/0/fault", before=None, after={"kind": "empty"})
EMPTY = mutant("empty", "tool.result_empty", FAULT, Reach.CALLED, "stock")
BOTH = mutant("both", "higher_order.pair", FAULT, Reach.SENT, "", WORDS, EMPTY)


def a_pair() -> Arm:
    design = KillDesign(0.05)
    lane = Lane("s", TABLES.get(3, 60, design), TABLES.evidence(3, 60, design.n_max))
    arm = Arm(BOTH, [lane], 1)
    arm.parts = PartsSeen({"s": frozenset({"words", "empty"})}, 3)
    return arm


def result(failed: bool, *shown: str, calls: int = 0, **more: Any) -> TrialResult:
    witness = Witness(route=Route.SENT, seen=len(shown), edits=2, parts=frozenset(shown)) if shown else None
    return TrialResult(
        outcome=Outcome.FAIL if failed else Outcome.PASS, ending=Ending.ANSWERED, reason="", checks=(),
        witness=witness, footprint=Footprint(**more), tools=Counter(stock=calls), tokens=0, usd=0.0,
        unpriced=frozenset(), seconds=0.1, abandoned=False,
    )  # fmt: skip


def play(*results: TrialResult) -> Arm:
    """The results in their order, the last one again and again."""
    arm, given = a_pair(), list(results)
    while arm.status is None and len(arm.trials.launches) < 200:
        arm.record(arm.launch().number, given.pop(0) if len(given) > 1 else given[0])
    return arm


UNCALLED, WHOLE = result(True, "words"), result(True, "words", "empty", calls=1)


def test_trials_without_a_call_do_not_make_a_part_missing() -> None:
    arm = play(*[result(False, "words")] * 5, result(False, "words", "empty", calls=1))
    assert arm.status is Status.SURVIVED


def test_a_kill_before_the_fault_could_show_waits_for_a_trial_that_shows_both() -> None:
    arm = play(*[UNCALLED] * 8, WHOLE)
    assert arm.status is Status.KILLED
    assert arm.trials.consumed == 9
    assert arm.lanes[0].trials < 8  # those after the decision change none


def test_a_pair_whose_fault_never_gets_its_chance_is_undecided() -> None:
    arm = play(UNCALLED)
    assert arm.status is Status.UNDECIDED
    assert arm.trials.consumed == arm.lanes[0].trials + PART_PATIENCE
    assert arm.reason.startswith("killed before its part empty could show: none of ")
    assert "trials called stock" in arm.reason


def test_parts_that_never_show_together_leave_it_open_who_killed() -> None:
    def take_turns(arm: Arm) -> Arm:
        while arm.status is None:
            launch = arm.launch()
            calls = launch.number % 2
            arm.record(launch.number, result(True, "empty" if calls else "words", calls=calls))
            arm.parts.waited.clear()  # type: ignore[union-attr]
        return arm

    arm = take_turns(a_pair())
    assert (arm.status, arm.reason) == (Status.UNDECIDED, "killed before a trial showed both of its parts")


def test_a_fault_that_changes_nothing_though_the_tool_is_called_is_told_with_its_tool() -> None:
    arm = play(result(False, "words", calls=1))
    assert (arm.status, arm.trials.consumed) == (Status.NOT_APPLIED, 3)
    assert "its part empty did not arrive: the fault changed no result of stock" in arm.reason


def test_a_pair_that_survives_without_its_fault_is_not_covered() -> None:
    arm = play(result(False, "words"))
    assert arm.status is Status.NO_COVERAGE
    assert "its part empty did not arrive: none of" in arm.reason
    assert "called stock" in arm.reason


def live(key: str, before: Any, after: Any, reach: Reach = Reach.RAN) -> Mutant:
    kind = "orchestration" if key.startswith("/orchestration") else "context"
    return mutant("live", f"{kind}.x", Edit(pointer=key, before=before, after=after), reach, "draft")


def test_a_key_of_the_state_that_is_never_filled_is_gone_past() -> None:
    drop = live("/orchestration/state/draft/0", "notes", None)
    entered = result(False, marks=("/orchestration",), nodes=("draft",))
    assert went_past(drop, entered, shown=False)
    assert not went_past(drop, entered, shown=True)
    assert passed_by(drop, 4) == "none of 4 trials had anything under notes to withhold from draft"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (live("/orchestration/retries/draft", 2, 0), "did not read orchestration.retries of its config"),
        (live("/orchestration/max_steps", 20, 4), "did not read orchestration.max_steps of its config"),
        (live("/history", "kept", "dropped", Reach.CONVERSED), "had other earlier turns"),
    ],
)
def test_live_changes_are_not_said_to_be_missing_from_requests(found: Mutant, said: str) -> None:
    reason = arrived_nowhere(found, 3, result(False))
    assert said in reason
    assert "of 3 trials" in reason
    assert "sent to the model" not in reason
    assert "at import" not in reason
