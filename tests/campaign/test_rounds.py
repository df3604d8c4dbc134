"""Rounds in a campaign: coarse drops first, stored trials replayed, a valid answer whenever the money ends."""

import shutil
from typing import Any

import pytest

from agentmut._base import UsageError
from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.result import Result
from agentmut.stats.kill.rounds import rounds_to
from agentmut.usecases.campaigns import measure, merge_shards, rescore

pytestmark = pytest.mark.whole

ROUNDS = {"statistics": {"rounds": "auto", "baseline": "auto"}}
STEADY = "\nRATES = {'alpha': 1.0, 'beta': 1.0, 'gamma': 1.0}\nWITHOUT = 0.0\n"


def row(result: Result, text: str) -> MutantRow:
    return next(row for row in result.mutants if text in row.before)


def test_a_needed_rule_dies_in_the_first_round_and_an_idle_one_survives_the_last(projects: Any) -> None:
    result = measure(projects.write(extra=STEADY, **ROUNDS))
    needed, idle = row(result, "alpha"), row(result, "topic number 0")
    assert (needed.status, needed.killed_by) == (Status.KILLED, ("alpha",))
    assert needed.trials <= 15
    assert (idle.status, idle.ruled_out) == (Status.SURVIVED, 0.2)
    # a flawless scenario clears a drop of .2 in eleven trials
    assert {each.trials for each in idle.evidence} == {11}
    assert {each.trials for each in result.baseline} == {100}
    # each scenario's rule was killed, and that took a few of them
    assert all(each.beside for each in result.baseline)


def test_money_for_the_first_round_gives_its_answer_and_more_money_goes_on_from_there(projects: Any) -> None:
    few = measure(projects.write(extra=STEADY, budget={"trials": 150}, **ROUNDS))
    idle = row(few, "topic number 0")
    assert (few.status, few.cost.trials) == ("budget", 150)
    assert (row(few, "alpha").status, idle.status) == (Status.KILLED, Status.SURVIVED)
    assert idle.ruled_out in (0.75, 0.5)
    more = measure(projects.write(extra=STEADY, budget={"trials": 5000}, **ROUNDS))
    assert more.cost.reused >= 140
    assert row(more, "topic number 0").ruled_out == 0.2
    assert {each.trials for each in row(more, "topic number 0").evidence} == {11}


def test_a_budget_below_the_first_baseline_says_how_much_is_missing(projects: Any) -> None:
    with pytest.raises(
        UsageError,
        match=r"budget.trials is 40, too small .* Raise it to 50, or measure a part with `--sample-scenarios 2`",
    ):
        measure(projects.write(budget={"trials": 40}, **ROUNDS))


def test_where_every_mutant_is_killed_no_finer_round_is_paid_for(projects: Any) -> None:
    result = measure(projects.write(idle=0, extra=STEADY, **ROUNDS))
    assert {each.status for each in result.mutants} == {Status.KILLED}
    assert {each.trials for each in result.baseline} == {20}


def test_a_scenario_on_which_a_coarse_drop_cannot_show_waits_for_a_finer_round(projects: Any) -> None:
    """A pass rate of .6 leaves no room for a drop of .75 or .5; of .3 it does."""
    rates = "\nRATES = {'alpha': 0.6}\nWITHOUT = 0.0\n"
    result = measure(projects.write(("alpha",), idle=1, extra=rates, **ROUNDS))
    needed, idle = row(result, "alpha"), row(result, "topic")
    assert needed.status is Status.KILLED
    assert idle.status in (Status.SURVIVED, Status.UNDECIDED)
    assert idle.ruled_out in (None, 0.2, 0.3)


def test_a_scenario_that_always_fails_makes_mutants_untestable_and_no_trial_is_spent(projects: Any) -> None:
    rates = "\nRATES = {'alpha': 1.0, 'beta': 0.0}\nWITHOUT = 0.0\n"
    only_beta = {"mutation": {"operators": ["prompt.drop_instruction"]}}
    result = measure(projects.write(("alpha", "beta"), idle=0, extra=rates, **ROUNDS, **only_beta))
    beta = next(each for each in result.baseline if each.scenario == "beta")
    assert not beta.testable
    assert all(each.scenario == "alpha" for found in result.mutants for each in found.evidence)


def test_a_low_pass_rate_is_judged_by_the_large_baseline_before_the_agent_is_given_up(projects: Any) -> None:
    """At a true rate of .28 the first 20 trials of this seed leave no room for a drop of .2; a hundred do."""
    rates = "\nRATES = {'alpha': 0.28}\nWITHOUT = 0.0\n"
    (alpha,) = measure(projects.write(("alpha",), idle=0, extra=rates, **ROUNDS)).baseline
    assert (alpha.trials, alpha.testable) == (100, True)


def test_the_same_trials_give_the_same_answer_in_a_second_run(projects: Any, told: Any) -> None:
    first = measure(projects.write(**ROUNDS))
    again = measure(projects.load())
    assert again.cost.trials == 0
    assert told(again) == told(first)
    assert [each.ruled_out for each in again.mutants] == [each.ruled_out for each in first.mutants]


def test_concurrency_changes_no_answer(projects: Any) -> None:
    found = []
    for concurrency in (1, 16):
        settings = {**ROUNDS, "execution": {"concurrency": concurrency}}
        result = measure(projects.write(extra="\nLATENCY = 0.002\n", **settings), fresh=True)
        found.append({each.before: (each.status, each.ruled_out, each.trials) for each in result.mutants})
    assert found[0] == found[1]


def test_the_plan_keeps_its_rounds(projects: Any) -> None:
    from agentmut.campaign import Selection, make_mutants, make_plan, open_session

    session = open_session(projects.write(**ROUNDS))
    plan = make_plan(session, make_mutants(session, Selection()), 1, 0.0)
    assert type(plan).model_validate_json(plan.model_dump_json()).rounds == rounds_to(0.2)
    assert plan.baseline == 100
    off = open_session(projects.write(statistics={"rounds": "one"}))
    assert make_plan(off, make_mutants(off, Selection()), 1, 0.0).rounds == ()


def test_merged_shards_tell_what_an_undivided_run_tells(
    projects: Any, told: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    measure(projects.write(extra=STEADY, **ROUNDS), baseline_only=True)
    folders = [tmp_path_factory.mktemp(f"shard{k}") / "project" for k in (1, 2)]
    for k, folder in enumerate(folders, 1):
        shutil.copytree(projects.folder, folder, symlinks=True)
        measure(folder, shard=f"{k}/2")
    whole = measure(projects.load())
    merged = merge_shards(folders, projects.load())
    assert told(merged) == told(whole)
    assert merged.score == whole.score


def test_rescoring_by_the_same_evaluators_changes_nothing(projects: Any) -> None:
    project = projects.write(extra=STEADY, **ROUNDS)
    before = measure(project)
    rescored = rescore(project)
    assert rescored.flipped == ()
    assert [each.ruled_out for each in rescored.result.mutants] == [each.ruled_out for each in before.mutants]
    assert rescored.after.killed == before.score.killed


def test_rescoring_goes_through_the_rounds_in_which_no_scenario_can_show_the_drop(
    projects: Any, told: Any
) -> None:
    """At a pass rate of .6 the rounds for .75 and .5 ask for no trial, so the baseline grows at once."""
    rates = "\nRATES = {'alpha': 0.6, 'beta': 0.6}\nWITHOUT = 0.0\n"
    project = projects.write(("alpha", "beta"), extra=rates, **ROUNDS)
    before = measure(project)
    rescored = rescore(project)
    assert row(before, "alpha").status is Status.KILLED
    assert rescored.flipped == ()
    assert told(rescored.result) == told(before)
    assert rescored.after == before.score


def test_rescoring_begins_no_round_whose_baseline_the_money_did_not_pay(projects: Any) -> None:
    """After 120 trials or so the first round is over, and the baseline is between 20 and 30 trials."""
    project = projects.write(budget={"trials": 139}, **ROUNDS)
    before = measure(project)
    assert {each.status for each in before.mutants} == {Status.KILLED, Status.SURVIVED}
    assert 60 < sum(each.trials for each in before.baseline) < 90
    assert rescore(project).after == before.score


def test_a_share_for_the_suite_leaves_out_scenarios_that_wait_for_a_finer_round(projects: Any) -> None:
    rates = "\nRATES = {'alpha': 1.0, 'beta': 1.0, 'gamma': 0.6}\nWITHOUT = 0.0\n"
    share = {"statistics": {**ROUNDS["statistics"], "suite_share": 0.3}}
    result = measure(projects.write(extra=rates, **share))
    assert row(result, "gamma").status is Status.KILLED
    assert row(result, "topic number 0").status is Status.SURVIVED
