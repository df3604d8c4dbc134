"""A part of alpha for all scenarios together: a small drop everywhere."""

from math import prod
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.lane import Lane, SuiteEvidence
from agentmut.campaign.decision.problems import identity_problem
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import SUITE
from agentmut.nouns.result_figures import CiJob
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.stats.kill.rule import KillDesign
from agentmut.usecases.campaigns import measure, rescore
from tests.campaign.test_arm import FAIL, PASS, TABLES, a_mutant, a_result, play

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
WEAK = """
def follows(config, word):
    rate = 0.92 if "topic number 0" in config.prompt else 0.7 if config.prompt else 0.0
    return uniform(word) < rate
"""


def an_arm(scenarios: int, level: float, left_out: int = 0, window: int = 1) -> Arm:
    """Ten failures in a hundred baseline trials on each scenario."""
    names = [f"s{i}" for i in range(scenarios)]
    table = TABLES.get(10, 100, KillDesign(0.05 / 20))
    lanes = [Lane(name, table, TABLES.evidence(10, 100, 100)) for name in names]
    suite = SuiteEvidence(level, dict.fromkeys(names, TABLES.pooled(10, 100, 100)), left_out)
    return Arm(a_mutant(), lanes, 1, window, suite)


def test_one_failure_on_each_of_many_scenarios_kills_together_and_alone_does_not() -> None:
    arm = an_arm(6, level=0.025)
    while arm.status is None:
        arm.record(arm.launch().number, FAIL)
        if arm.trials.consumed == 6:
            break
    assert arm.killed_by == (SUITE,)
    assert arm.status is Status.KILLED
    assert {(lane.trials, lane.failures) for lane in arm.lanes} <= {(0, 0), (1, 1)}


def test_scenarios_that_were_left_out_make_a_joint_kill_harder() -> None:
    trials = []
    for left_out in (0, 6):
        arm = an_arm(6, level=0.025, left_out=left_out)
        while not arm.killed_by:
            arm.record(arm.launch().number, FAIL)
        trials.append(arm.trials.consumed)
    assert trials[0] < trials[1]


def test_a_joint_kill_needs_a_witness_like_any_other() -> None:
    arm = an_arm(6, level=0.4)
    unseen = a_result(FAIL.outcome, witness=None)
    for _ in range(3):
        arm.record(arm.launch().number, unseen)
    assert arm.killed_by == (SUITE,)
    assert arm.status is Status.NOT_APPLIED


def test_a_joint_kill_stands_although_later_trials_pass() -> None:
    arm = an_arm(6, level=0.025)
    assert arm.suite is not None
    arm.suite = arm.suite.after(
        [Lane(x.scenario, x.table, x.evidence, trials=4, failures=4) for x in arm.lanes]
    )
    arm.record(arm.launch().number, PASS)
    assert arm.status is Status.KILLED


def test_an_unchanged_agent_killed_by_the_suite_is_told_so() -> None:
    arm = an_arm(6, level=0.025)
    while arm.status is None:
        arm.record(arm.launch().number, FAIL)
    trials = arm.trials.consumed
    assert f"by {SUITE} ({trials} of {trials} trials failed)" in identity_problem(arm)


@pytest.mark.parametrize("window", [1, 4])
def test_decisions_do_not_depend_on_the_order_of_arrival(window: int) -> None:
    import random

    for seed in range(8):
        told = [
            (arm.status, arm.killed_by, arm.trials.consumed)
            for disorder in (None, random.Random(1), random.Random(2))
            for arm in [play(an_arm(5, 0.025, window=window), {"s1": 0.3, "s2": 0.3}, seed, disorder)]
        ]
        assert len(set(told)) == 1


@pytest.mark.whole
def test_a_small_drop_everywhere_is_found_sooner_with_a_share_for_the_suite(projects: Any) -> None:
    def weak(share: float) -> Any:
        result = measure(
            projects.write(WORDS, extra=WEAK, idle=1, statistics={"baseline": 60, "suite_share": share})
        )
        return result, next(row for row in result.mutants if "topic" in row.before)

    (alone, before), (shared, after) = weak(0.0), weak(0.5)
    assert (before.status, after.status) == (Status.KILLED, Status.KILLED)
    assert SUITE not in before.killed_by
    assert SUITE in after.killed_by
    assert after.trials < before.trials
    assert (alone.rule["suite_share"], shared.rule["suite_share"]) == (0.0, 0.5)
    assert shared.controls.identity.killed == 0
    assert shared.score.value is not None and shared.score.low is not None
    shown = render_mutant(shared, after)
    assert "Killed by the runs of all these scenarios together." in shown
    assert "together" not in render_mutant(alone, before)
    # its kill has chosen the trials of all scenarios, so each of them has runs after the kill
    assert after.killed_by == (SUITE,) and before.killed_by != (SUITE,)
    assert [job.scenario for job in after.ci_jobs] == list(WORDS)
    assert [job.scenario for job in before.ci_jobs] == list(before.killed_by)
    assert all(job.complete and job.trials for job in after.ci_jobs)
    # one run a scenario: each share is that of the runs after the kill, whose last one gave a red job its colour
    assert after.ci_red[0].value == pytest.approx(1 - prod(_green(job) for job in after.ci_jobs), abs=1e-6)
    assert rescore(projects.load()).result.ci == shared.ci


def _green(job: CiJob) -> float:
    """Return the unbiased estimate of the pass rate of Girshick, Mosteller and Savage."""
    failures = job.trials - job.passes
    red = job.passes < 9  # ten runs at a threshold of .9
    return 1 - (failures - red) / (job.trials - 1)


@pytest.mark.whole
def test_a_single_scenario_keeps_all_of_alpha(projects: Any, told: Any) -> None:
    shared = measure(projects.write(("alpha",), statistics={"suite_share": 0.5}))
    alone = measure(projects.write(("alpha",), statistics={"suite_share": 0.0}), fresh=True)
    assert told(shared) == told(alone)


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, "half"])
def test_a_share_outside_its_range_is_refused(projects: Any, share: object) -> None:
    with pytest.raises(UsageError, match="suite_share"):
        projects.write(statistics={"suite_share": share})
