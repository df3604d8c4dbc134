"""How alpha is divided between a mutant's scenarios and the suite as a whole, on a real campaign's state."""

from typing import Any

import pytest

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.kill_phase import IDENTITY_ALPHA
from agentmut.campaign.decision.reach import ReachingScenarios
from agentmut.campaign.decision.round_tables import RoundTables
from agentmut.campaign.decision.scoring import score
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.plan import Rule
from agentmut.campaign.preparation.plans import make_plan
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.mutant import Status
from agentmut.stats.kill.rule import Decision
from tests.campaign.test_arm import FAIL, PASS, TABLES
from tests.campaign.test_suite_share import an_arm

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@pytest.fixture
def campaign(projects: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A campaign with its baselines recorded: `failures[i]` of the i-th scenario's `trials` failed."""
    # every scenario reaches every mutant: what the trials carried is not the matter here
    monkeypatch.setattr(
        "agentmut.campaign.decision.state.reached",
        lambda *args: ReachingScenarios(dict.fromkeys(args[3], 1.0)),
    )

    def begun(failures: list[int], share: float, trials: int = 20) -> CampaignState:
        session = open_session(projects.write(WORDS[: len(failures)], idle=0))
        plan = make_plan(session, make_mutants(session, Selection()), 1, 0.0)
        rule = Rule(suite_share=share, n_max=30)
        plan = plan.model_copy(
            update={"rule": rule, "baseline": trials, "rounds": (), "baseline_limit": None}
        )
        state = CampaignState(plan, session.suite, session.tests.scenarios, TABLES)
        failing = dict(zip(plan.scenarios, failures, strict=True))
        while not state.baseline_complete:
            launch = state.launch()
            assert launch is not None
            state.record(launch, FAIL if launch.repeat < failing[launch.scenario] else PASS)
        assert not state.problem
        return state

    return begun


def arms(state: CampaignState) -> tuple[list[Arm], list[Arm]]:
    """Those of mutants, and those of identity controls."""
    mutants = [state.arms[m.id] for m in state.plan.mutants]
    return mutants, [state.arms[m.id] for m in state.plan.identity]


def lane_levels(arm: Arm) -> float:
    return sum(lane.table.design.alpha for lane in arm.lanes if not lane.is_untestable)


@pytest.mark.parametrize("scenarios", [2, 6, 10])
def test_scenarios_and_suite_together_spend_no_more_than_alpha(campaign: Any, scenarios: int) -> None:
    state = campaign([2] * scenarios, share=0.4)
    mutants, controls = arms(state)
    assert mutants and controls
    for found, alpha in ((mutants, 0.05), (controls, IDENTITY_ALPHA)):
        for arm in found:
            assert arm.suite is not None
            assert arm.suite.level == pytest.approx(0.4 * alpha)
            assert lane_levels(arm) + arm.suite.level <= alpha * (1 + 1e-9)
            # rounding the number of scenarios up to 2 -> 2, 6 -> 8, 10 -> 12 leaves a little unspent
            assert lane_levels(arm) == pytest.approx(0.6 * alpha * {2: 1, 6: 6 / 8, 10: 10 / 12}[scenarios])


def test_without_a_share_the_scenarios_have_all_of_alpha(campaign: Any) -> None:
    mutants, controls = arms(campaign([2, 2], share=0.0))
    assert {arm.suite for arm in (*mutants, *controls)} == {None}
    assert [lane_levels(arm) for arm in mutants] == pytest.approx([0.05] * len(mutants))
    assert [lane_levels(arm) for arm in controls] == pytest.approx([IDENTITY_ALPHA] * len(controls))


def test_scenarios_with_untestable_baselines_are_counted_as_left_out(campaign: Any) -> None:
    mutants, controls = arms(campaign([2, 2, 20, 2, 20], share=0.5))
    for arm in (*mutants, *controls):
        assert arm.suite is not None
        assert (sum(not lane.is_untestable for lane in arm.lanes), arm.suite.left_out) == (3, 2)


def test_scenarios_with_untestable_baselines_keep_their_part_of_alpha(campaign: Any) -> None:
    mutants, controls = arms(campaign([2, 2, 20, 2, 20], share=0.0))
    assert [lane_levels(arm) for arm in mutants] == pytest.approx([0.05 * 3 / 5] * len(mutants))
    assert [lane_levels(arm) for arm in controls] == pytest.approx([IDENTITY_ALPHA * 3 / 5] * len(controls))


def test_scenarios_with_few_baseline_trials_have_no_part_in_the_suites_evidence(campaign: Any) -> None:
    (arm, *_), _ = arms(campaign([1, 1, 1], share=0.5, trials=19))
    assert arm.suite is None
    assert lane_levels(arm) == pytest.approx(0.05)


def test_scenarios_that_have_survived_stay_in_the_suites_evidence() -> None:
    arm = an_arm(2, level=0.025)
    assert arm.suite is not None
    first = arm.lanes[0]
    while first.decision is Decision.CONTINUE:
        first = first.with_trial(False)
    arm.lanes = [first, *arm.lanes[1:]]
    arm.record(arm.launch().number, FAIL)
    one = an_arm(2, level=0.025)
    one.record(one.launch().number, FAIL)
    assert one.suite is not None
    # the failure on the live scenario weighs as much as alone, less what the passes on the retired one say
    assert first.trials > 5
    assert arm.suite.log_evidence < one.suite.log_evidence - 0.5


def test_kills_by_the_suite_lower_the_low_end_of_the_score() -> None:
    arm = an_arm(6, level=0.025)
    alone = Arm(arm.mutant, arm.lanes, 1)
    arm.tested = alone.tested = (RoundTables({lane.scenario: lane.table for lane in arm.lanes}, 1.0),)
    shared = score([(Status.KILLED, arm)] * 60)
    plain = score([(Status.KILLED, alone)] * 60)
    assert shared.low is not None and plain.low is not None
    assert shared.low < plain.low
    assert shared.value == plain.value == 1
