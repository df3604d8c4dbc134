"""Runs of killed mutants after their kills: as many as a CI job needs, after all verdicts, which they leave alone."""

import random
from typing import Any

import pytest

from agentmut.campaign.decision.after_kills import AfterKills, is_after_kill
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.trials import Launch
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Result
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.run_page import render
from agentmut.store.rows import LATER
from agentmut.usecases.campaigns import carry_out_campaign, measure, rescore, stored_plan
from agentmut.usecases.runtime import open_store
from benchmarks.calibration.ci_engine import pooled_mean
from benchmarks.calibration.drift import a_result

WORDS = ("alpha", "beta")


def played(failing: dict[str, str], concurrency: int, seed: int = 1) -> AfterKills:
    """Play the runs after kills of `failing`: mutant -> outcomes, `1` for a failure. They end in a random order."""
    jobs, under_way, rng = AfterKills({"s": (9, 10)}, {"s": 7}), list[Launch](), random.Random(seed)
    jobs.begin((mutant, "s") for mutant in failing)
    while True:
        while len(under_way) < concurrency and (launch := jobs.launch()):
            under_way.append(launch)
        if not under_way:
            return jobs
        launch = under_way.pop(rng.randrange(len(under_way)))
        assert is_after_kill(launch) and launch.repeat == 7 + LATER + launch.number
        jobs.record(launch, a_result(launch, failing[launch.mutant][launch.number] == "0", 0.0))


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_a_job_ends_with_its_colour_and_no_run_is_wasted_whatever_is_under_way(concurrency: int) -> None:
    jobs = played({"a": "11", "b": "0101", "c": "0000100000", "d": "000000000"}, concurrency)
    found = {
        mutant: (job.counts.passes, job.counts.failures, job.launched)
        for (mutant, _), job in jobs.jobs.items()
    }
    assert found == {"a": (0, 2, 2), "b": (2, 2, 4), "c": (9, 1, 10), "d": (9, 0, 9)}


def test_a_scenario_without_a_job_and_a_kill_by_the_whole_suite_take_no_run() -> None:
    jobs = AfterKills({"s": (9, 10)})
    jobs.begin([("a", "the suite as a whole"), ("a", "t")])
    assert jobs.launch() is None and jobs.on("a", "t") is None
    empty = jobs.on("a", "s")
    assert empty is not None and empty.due == 2


def test_where_nothing_can_be_run_the_stored_runs_are_taken_and_no_other() -> None:
    jobs = AfterKills({"s": (9, 10)}, stored={("a", "s", LATER)})
    jobs.begin([("a", "s"), ("b", "s")])
    launch = jobs.launch()
    assert launch == Launch("a", "s", LATER, 0)
    jobs.record(launch, a_result(launch, False, 0.0))
    assert jobs.launch() is None
    assert jobs.jobs["a", "s"].counts.trials == 1


def killed(result: Result) -> list[Any]:
    return [row for row in result.mutants if row.status is Status.KILLED]


def resumed(project: Any) -> Result:
    with open_store(project) as store:
        session = open_session(project)
        return carry_out_campaign(session, stored_plan(session, store.runs()[0]), store)


@pytest.mark.whole
def test_a_budget_that_ends_first_leaves_kills_out_and_a_later_run_makes_the_runs(projects: Any) -> None:
    whole = measure(projects.write(WORDS, idle=1))
    jobs = [job for row in killed(whole) for job in row.ci_jobs]
    assert len(jobs) == 2 and all(job.complete for job in jobs)
    assert whole.ci[0].killed.mutants == 2 and whole.ci[0].killed.left_out == 0
    made = sum(job.trials for job in jobs)
    few = measure(
        projects.write(WORDS, idle=1, budget={"trials": whole.cost.trials - made + 1}),
        fresh=True,
    )
    assert few.status == "finished"  # every mutant has its verdict
    left = few.ci[0].killed.left_out
    assert left and few.ci[0].killed.mutants == len(killed(few)) - left
    text = " ".join(render(few).split())
    assert (
        f"{left} killed mutant{'s' * (left > 1)} without enough runs after the kill: left out here." in text
    )
    without = next(row for row in killed(few) if row.ci_red[0].value is None)
    assert "too few for the chance of red" in " ".join(render_mutant(few, without).split())
    assert "the chance of red rests on them" in " ".join(render_mutant(whole, killed(whole)[0]).split())
    assert rescore(projects.load()).result.ci == few.ci  # the runs that are stored, and no other
    projects.write(WORDS, idle=1)
    later = resumed(projects.load())
    assert later.run_id == few.run_id and later.cost.trials > few.cost.trials
    assert later.ci[0].killed.left_out == 0
    assert rescore(projects.load()).result.ci == later.ci


@pytest.mark.whole
def test_without_them_the_kill_itself_is_read_and_verdicts_are_the_same(projects: Any) -> None:
    whole = measure(projects.write(WORDS, idle=1))
    none = measure(projects.write(WORDS, idle=1, suite={"ci_after_kill": False}))
    assert none.cost.trials == 0 and all(not row.ci_jobs for row in none.mutants)
    assert all(row.ci_red[0].value is not None for row in killed(none))
    assert [row.status for row in none.mutants] == [row.status for row in whole.mutants]
    assert none.score == whole.score and none.service == whole.service


def test_errors_of_one_campaign_are_taken_together() -> None:
    mean, error = pooled_mean([[1.0, 1.0], [-1.0, -1.0]])
    assert (mean, error) == pytest.approx((0.0, 8**0.5 / 4))
