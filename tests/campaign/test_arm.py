"""One mutant: table decisions, where its trials go, and independence of the order of arrival."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.lane import Lane
from agentmut.campaign.decision.round_tables import InRound
from agentmut.campaign.decision.scoring import resolution_of
from agentmut.campaign.preparation.tables import Tables
from agentmut.campaign.trials import Launch, TrialResult
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, Status
from agentmut.nouns.trace import Outcome
from agentmut.stats.kill.rule import Decision, KillDesign
from agentmut.trial.witness.witness import Route, Witness

TABLES = Tables(None)
SEEN = Witness(route=Route.SENT, seen=1, edits=1)


def a_mutant(name: str = "m1") -> Mutant:
    edit = Edit(pointer="/prompt", before="a", after="b")
    return Mutant(
        id=name, operator="prompt.x", version=1, operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE, reach=Reach.SENT, description="", edits=(edit,),
    )  # fmt: skip


def an_arm(scenarios: int = 3, window: int = 1, seed: int = 1, f0: int = 10, n0: int = 100) -> Arm:
    design = KillDesign(0.05 / scenarios if scenarios > 1 else 0.05)
    names = [f"s{i}" for i in range(scenarios)]
    evidence = TABLES.evidence(f0, n0, design.n_max)
    lanes = [Lane(name, TABLES.get(f0, n0, design), evidence) for name in names]
    return Arm(a_mutant(), lanes, seed, window)


def a_result(
    outcome: Outcome = Outcome.PASS, witness: Witness | None = SEEN, ending: Ending = Ending.ANSWERED
) -> TrialResult:
    return TrialResult(
        outcome=outcome, ending=ending, reason="because", checks=(), witness=witness, footprint=Footprint(),
        tools=Counter(), tokens=3, usd=0.5, unpriced=frozenset(), seconds=0.1, abandoned=False,
    )  # fmt: skip


FAIL = a_result(Outcome.FAIL)
PASS = a_result(Outcome.PASS)
TROUBLE = a_result(Outcome.INFRASTRUCTURE, None, Ending.INFRASTRUCTURE)


def play(arm: Arm, fails: dict[str, float], seed: int = 0, disorder: random.Random | None = None) -> Arm:
    """Run to the end; outcomes are a function of (scenario, repeat), arrival is shuffled by `disorder`."""
    flying: list[Launch] = []
    while arm.status is None:
        while arm.ready:
            flying.append(arm.launch())
        launch = flying.pop(disorder.randrange(len(flying)) if disorder else 0)
        coin = random.Random(f"{seed}/{launch.scenario}/{launch.repeat}").random()
        arm.record(launch.number, FAIL if coin < fails.get(launch.scenario, 0.1) else PASS)
    return arm


def told(arm: Arm) -> object:
    return (
        arm.status,
        [(x.scenario, x.trials, x.failures, x.decision) for x in arm.lanes],
        arm.trials.consumed,
    )


@pytest.mark.parametrize(("n", "kill_at"), [(3, 3), (6, 4), (10, 5), (20, 7)])
def test_a_lane_is_killed_exactly_where_the_table_of_the_method_says(n: int, kill_at: int) -> None:
    """The rows of the published table for 10 failures in 100 baseline trials at alpha 0.05."""
    table = TABLES.get(10, 100, KillDesign())
    below, at = (Lane("s", table, TABLES.evidence(10, 100, 100)) for _ in range(2))
    for i in range(n):  # one failure first, the others last, so that nothing decides before trial n
        below = below.with_trial(i == 0 or i > n - kill_at + 1)
        at = at.with_trial(i == 0 or i > n - kill_at)
    assert at.decision is Decision.KILLED
    assert below.decision is not Decision.KILLED


def test_a_mutant_that_always_fails_is_killed_in_three_trials_of_one_scenario() -> None:
    arm = play(an_arm(scenarios=1), {"s0": 1.0})
    assert (arm.status, arm.trials.consumed, arm.tally.cost) == (Status.KILLED, 3, 1.5)


def test_a_mutant_survives_only_when_every_scenario_says_so() -> None:
    arm = play(an_arm(), dict.fromkeys(("s0", "s1", "s2"), 0.0))
    assert arm.status is Status.SURVIVED
    assert {lane.decision for lane in arm.lanes} == {Decision.SURVIVED}


def test_n_max_trials_without_a_decision_leave_a_mutant_undecided() -> None:
    design = KillDesign(0.05, 0.1, 0.2, 10)
    arm = Arm(a_mutant(), [Lane("s", TABLES.get(10, 100, design), TABLES.evidence(10, 100, 10))], 1)
    for failed in (True, False, False, False, True, False, False, False, False, False):
        arm.record(arm.launch().number, FAIL if failed else PASS)
    assert arm.status is Status.UNDECIDED
    assert "were not enough" in arm.reason


def test_trials_go_where_the_failures_are() -> None:
    spent: Counter[str] = Counter()
    for seed in range(30):
        arm = play(an_arm(scenarios=5, seed=seed), {"s3": 0.7}, seed)
        spent.update({lane.scenario: lane.trials for lane in arm.lanes})
    assert spent["s3"] > 0.4 * spent.total()


def test_ties_at_the_start_go_to_the_scenario_with_the_largest_affinity() -> None:
    for seed in range(10):
        arm = an_arm(seed=seed)
        arm.lanes = [replace(x, affinity=0.5 * (x.scenario == "s2")) for x in arm.lanes]
        assert arm.launch().scenario == "s2"


def test_ties_are_broken_differently_for_different_seeds_and_alike_for_the_same() -> None:
    first = [an_arm(scenarios=8, seed=seed).launch().scenario for seed in range(20)]
    assert first == [an_arm(scenarios=8, seed=seed).launch().scenario for seed in range(20)]
    assert len(set(first)) > 3


@pytest.mark.parametrize("window", [1, 2, 4, 7])
def test_decisions_do_not_depend_on_the_order_in_which_results_arrive(window: int) -> None:
    for seed in range(15):
        in_order = play(an_arm(window=window, seed=seed), {"s1": 0.4}, seed)
        for shuffle in range(4):
            disorder = random.Random(shuffle)
            other = play(an_arm(window=window, seed=seed), {"s1": 0.4}, seed, disorder)
            assert told(other) == told(in_order)


def test_no_more_trials_than_the_window_are_under_way() -> None:
    arm = an_arm(window=4)
    while arm.ready:
        arm.launch()
    assert arm.trials.in_flight == 4
    arm.record(3, PASS)  # out of order: the next launch may not look at it yet
    assert not arm.ready
    arm.record(0, PASS)
    assert arm.ready


def test_trouble_is_no_failure_and_three_in_a_row_leave_the_mutant_undecided() -> None:
    arm = an_arm(scenarios=1)
    for result in (FAIL, TROUBLE, TROUBLE, FAIL, TROUBLE, TROUBLE):
        arm.record(arm.launch().number, result)
    assert arm.status is None
    assert (arm.lanes[0].trials, arm.lanes[0].failures) == (2, 2)
    arm.record(arm.launch().number, TROUBLE)
    assert arm.status is Status.UNDECIDED
    assert "infrastructure" in arm.reason


def test_trouble_from_the_start_does_not_pass_for_a_change_that_was_not_delivered() -> None:
    arm = an_arm(scenarios=1)
    for _ in range(3):
        arm.record(arm.launch().number, TROUBLE)
    assert arm.status is Status.UNDECIDED


def test_three_trials_without_a_witness_end_a_mutant_as_not_applied_even_if_they_fail() -> None:
    arm = an_arm(scenarios=1)
    for _ in range(3):
        arm.record(arm.launch().number, a_result(Outcome.FAIL, witness=None))
    assert arm.status is Status.NOT_APPLIED
    assert "none of 3 trials showed the change" in arm.reason


def a_faulty_arm(reach: Reach) -> Arm:
    edit = Edit(pointer="/tools/0/fault", before=None, after={"kind": "empty"})
    arm = an_arm(scenarios=1)
    arm.mutant = arm.mutant.model_copy(update={"edits": (edit,), "reach": reach, "subject": "pay"})
    return arm


def calling(calls: int, witness: Witness | None = None) -> TrialResult:
    return a_result(witness=witness)._replace(tools=Counter({"pay": calls, "look_up": 2}))


def test_trials_that_do_not_call_the_faulty_tool_do_not_make_its_fault_not_applied() -> None:
    arm = a_faulty_arm(Reach.CALLED)
    for _ in range(5):
        arm.record(arm.launch().number, calling(0))
    assert arm.status is None
    arm.record(arm.launch().number, calling(1, SEEN))
    while arm.status is None:
        arm.record(arm.launch().number, calling(0))
    assert arm.status is Status.SURVIVED


@pytest.mark.parametrize(("reach", "calls"), [(Reach.CALLED, 1), (Reach.REPEATED, 2)])
def test_a_fault_that_changes_no_result_is_not_applied(reach: Reach, calls: int) -> None:
    arm = a_faulty_arm(reach)
    for _ in range(3):
        arm.record(arm.launch().number, calling(calls))
    assert arm.status is Status.NOT_APPLIED
    assert arm.reason.startswith("the fault changed no result of pay in 3 trials")


@pytest.mark.parametrize(
    ("reach", "calls", "often"), [(Reach.CALLED, 0, ""), (Reach.REPEATED, 1, " more than once")]
)
def test_a_faulty_tool_that_no_trial_calls_is_not_covered(reach: Reach, calls: int, often: str) -> None:
    arm = a_faulty_arm(reach)
    while arm.status is None:
        arm.record(arm.launch().number, calling(calls))
    assert arm.status is Status.NO_COVERAGE
    assert arm.reason.startswith(f"none of {arm.evidence} trials called pay{often}, ")


@pytest.mark.parametrize("ending", [Ending.REFUSED, Ending.UNBUILDABLE])
def test_a_mutant_that_cannot_be_run_is_an_error_after_one_trial(ending: Ending) -> None:
    arm = an_arm()
    arm.record(arm.launch().number, a_result(Outcome.PRE_VALIDATION, None, ending))
    assert (arm.status, arm.reason) == (Status.ERROR, "because")


@pytest.mark.parametrize(("passed", "ends"), [(7, True), (0, False)])
def test_a_mutant_that_can_only_be_undecided_goes_on_where_a_kill_is_likely(passed: int, ends: bool) -> None:
    """20 failures of 100 lie between 10 % and 30 %: `s0` stays undecided, so the mutant cannot survive a drop of .2."""
    arm = an_arm(2)
    lanes = [
        replace(lane, outcomes=told).judged_by(lane.table, lane.evidence)
        for lane, told in zip(arm.lanes, ("00001" * 20, "0" * passed), strict=True)
    ]
    assert [lane.decision for lane in lanes] == [Decision.UNDECIDED, Decision.CONTINUE]
    arm.record(arm.launch().number, PASS)  # the change was seen
    arm.enter(InRound(lanes, None, 0.2, 1.0, is_last=True, hopeful=frozenset({"s0", "s1"})))
    assert arm.status is (Status.UNDECIDED if ends else None)
    assert arm.prospect < 0.004 if ends else arm.prospect > 0.004


def in_two_scenarios(delta: float, n0: int, *, is_last: bool = False) -> InRound:
    """A round of a mutant that two scenarios reach, on which the original fails a fifth of its trials."""
    design = KillDesign(0.005, delta=delta)
    table, evidence = TABLES.get(n0 // 5, n0, design), TABLES.evidence(n0 // 5, n0, design.n_max)
    lanes = [Lane(name, table, evidence) for name in ("a", "b")]
    return InRound(lanes, None, delta, 0.2, is_last, frozenset("ab"))


def test_a_round_leaves_a_mutant_that_cannot_rule_out_its_drop_and_promises_no_kill() -> None:
    """A kill on scenario `b` did not hold, so nothing is ruled out there; scenario `a` passes."""
    now, fine = in_two_scenarios(0.3, 50), in_two_scenarios(0.2, 100, is_last=True)
    a, b = now.lanes
    arm = Arm(a_mutant(), [], 1)
    arm.enter(now._replace(lanes=[a, b.unconfirmed("a kill on b did not hold")]))
    while not arm.is_answered:
        launch = arm.launch()
        assert launch.scenario == "a"
        arm.record(launch.number, PASS)
    seen = arm.lane_on("a")
    assert seen is not None and seen.decision is Decision.CONTINUE
    assert 0 < seen.trials < min(n for n in range(101) if seen.table.survive_at[n] >= 0)
    assert (arm.status, arm.left_open, arm.ruled_out) == (None, frozenset("b"), None)
    # a finer round may not rule out a smaller drop on `b`, whatever its table says of these trials
    arm.enter(fine._replace(lanes=[replace(one, decision=Decision.SURVIVED) for one in fine.lanes]))
    assert (arm.is_answered, arm.cleared, arm.ruled_out) == (True, {"a": 0.2}, None)


def test_untestable_mutants_do_not_make_the_drop_larger_that_a_score_speaks_of() -> None:
    """No drop can be answered for them, so one in ten of these would leave every score at the largest drop."""
    cleared = Arm(a_mutant(), [], 1, hopeful=frozenset("a"), cleared={"a": 0.2})
    drops, survivors = (0.75, 0.5, 0.3, 0.2), [(Status.SURVIVED, cleared)] * 9
    assert resolution_of([*survivors, (Status.UNTESTABLE, an_arm())], drops) == 0.2
    assert resolution_of([*survivors, (Status.UNDECIDED, an_arm())], drops) == 0.75
