"""A random part of the mutants: for a budget that is not enough for all, and for a precision that is asked for."""

import re
from collections import Counter
from typing import Any

import pytest

from agentmut.campaign.decision.scoring import SeenLook, score_of_sample
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.limits import Spend, budget_reached
from agentmut.campaign.preparation.drawing import drawing_order
from agentmut.campaign.preparation.plans import make_plan
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.results.shortage import shortage_notes
from agentmut.campaign.running.work import Stop
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, Status
from agentmut.nouns.result import Result
from agentmut.project.schema import BudgetSettings
from agentmut.usecases.campaigns import measure, rescore
from tests.campaign.test_arm import PASS, TABLES

pytestmark = pytest.mark.whole

ROUNDS = {"statistics": {"rounds": "auto", "baseline": "auto"}}
STEADY = "\nRATES = {'alpha': 1.0, 'beta': 1.0, 'gamma': 1.0}\nWITHOUT = 0.0\n"


def drawn(result: Result) -> set[str]:
    return {row.id for row in result.mutants if row.status is not Status.NOT_DRAWN}


def test_a_budget_below_the_first_round_is_spent_on_a_random_sample_that_has_its_answer(
    projects: Any,
) -> None:
    """Three scenarios, 60 trials of the baseline: the controls and some of 23 mutants are left."""
    result = measure(projects.write(idle=20, extra=STEADY, budget={"trials": 150}, **ROUNDS))
    statuses = Counter(row.status for row in result.mutants)
    assert result.status == "budget" and result.cost.trials <= 150
    assert 5 <= statuses[Status.NOT_DRAWN] <= 18
    assert statuses[Status.UNDECIDED] <= 4
    score = result.score
    assert score.not_drawn == statuses[Status.NOT_DRAWN] and score.value is not None
    assert score.low is not None and score.high is not None
    assert score.low <= 3 / 23 <= score.high < 1
    assert any("mutants at drops of 0.75 or more: a random sample" in note for note in result.notes)
    assert result.sample is not None and set(result.sample.mutants) == drawn(result)


def test_more_money_draws_more_of_the_same_order_and_takes_the_trials_over(projects: Any) -> None:
    few = measure(projects.write(idle=20, extra=STEADY, budget={"trials": 150}, **ROUNDS))
    more = measure(projects.write(idle=20, extra=STEADY, budget={"trials": 190}, **ROUNDS))
    assert drawn(few) < drawn(more)
    assert more.cost.reused >= 100
    everything = measure(projects.write(idle=20, extra=STEADY, budget={"trials": 5000}, **ROUNDS))
    assert everything.sample is None and everything.score.not_drawn == 0


def test_a_run_goes_on_where_its_sample_had_its_answer_before_the_money_ended(projects: Any) -> None:
    """Kills cost less than was planned: the rest is spent on further mutants, and then on finer rounds."""
    result = measure(projects.write(idle=4, extra=STEADY, budget={"trials": 220}, **ROUNDS))
    assert result.sample is None
    assert Status.NOT_DRAWN not in {row.status for row in result.mutants}


def test_a_precision_ends_the_run_once_the_score_is_known_so_well(projects: Any) -> None:
    statistics = {"rounds": "auto", "baseline": "auto", "precision": 0.2}
    result = measure(projects.write(idle=40, extra=STEADY, statistics=statistics))
    score = result.score
    assert (result.status, score.not_drawn > 10) == ("finished", True)
    assert score.low is not None and score.high is not None
    assert score.high - score.low <= 0.4
    assert score.low <= 3 / 43 <= score.high
    assert result.rule["beta"] == 0.01
    assert any("within 0.2 to each side" in note for note in result.notes)


def test_rescoring_a_sample_by_the_same_evaluators_changes_nothing(projects: Any) -> None:
    project = projects.write(idle=20, extra=STEADY, budget={"trials": 150}, **ROUNDS)
    before = measure(project)
    after = rescore(project).result
    assert [row.status for row in after.mutants] == [row.status for row in before.mutants]
    assert (after.score.low, after.score.high) == (before.score.low, before.score.high)


def some(*operators: tuple[str, int]) -> list[Mutant]:
    edit = Edit(pointer="/prompt", before="a", after="b")
    return [
        Mutant(
            id=f"{name}{i}",
            operator=name,
            version=1,
            operator_class=OperatorClass.PROMPT,
            intent=Intent.DEGRADE,
            reach=Reach.SENT,
            description="",
            edits=(edit,),
        )
        for name, number in operators
        for i in range(number)
    ]


def test_every_beginning_of_the_order_has_about_the_operators_shares() -> None:
    mutants = some(("a", 60), ("b", 30), ("c", 10))
    order = drawing_order(mutants, 7)
    assert sorted(order) == sorted(mutant.id for mutant in mutants)
    for size in (10, 25, 50, 75):
        found = Counter(id[0] for id in order[:size])
        assert all(abs(found[o] - size * n / 100) <= 2 for o, n in (("a", 60), ("b", 30), ("c", 10)))
    assert order != drawing_order(mutants, 8)


def test_every_mutant_has_the_same_chance_to_be_drawn() -> None:
    """Of 13 mutants, 4 are drawn 3,000 times: each in 4/13 of the samples, within 4 standard errors (0.034)."""
    mutants = some(("a", 7), ("b", 5), ("c", 1))
    counts = Counter(id for seed in range(3000) for id in drawing_order(mutants, seed)[:4])
    assert max(abs(counts[mutant.id] / 3000 - 4 / 13) for mutant in mutants) < 0.034


def test_a_budget_for_half_the_usual_baseline_takes_the_smallest_one_and_still_gives_a_score(
    projects: Any,
) -> None:
    """Three scenarios: 20 trials each are more than half of 100, 10 each are not."""
    result = measure(projects.write(idle=20, extra=STEADY, budget={"trials": 100}, **ROUNDS))
    assert {row.trials for row in result.baseline} == {10}
    assert result.cost.trials <= 100
    assert result.score.value is not None and result.score.not_drawn > 0


def test_the_first_trial_under_a_budget_in_money_runs_alone() -> None:
    budget = BudgetSettings(usd=1.0)
    assert budget_reached(budget, Spend(), 0) == ""
    assert "no trial has shown yet" in budget_reached(budget, Spend(), 1)
    assert budget_reached(budget, Spend(trials=1, usd=0.1), 8) == ""
    assert "used up" in budget_reached(budget, Spend(trials=1, usd=0.1), 9)
    assert budget_reached(BudgetSettings(trials=20), Spend(), 15) == ""


def test_a_scenario_that_never_passes_costs_a_run_with_a_budget_five_trials_in_the_first_round(
    projects: Any,
) -> None:
    never = STEADY.replace("'gamma': 1.0", "'gamma': 0.0")
    poor = measure(
        projects.write(idle=20, extra=never, budget={"trials": 140}, execution={"concurrency": 1}, **ROUNDS)
    )
    by_name = {row.scenario: row.trials for row in poor.baseline}
    assert (by_name["alpha"], by_name["gamma"]) == (20, 5)
    assert {row.testable for row in poor.baseline if row.scenario == "gamma"} == {False}


def test_an_earlier_look_bounds_the_score_of_a_sample_that_has_grown() -> None:
    """The planned look has most of the error; the next look alone would be wider."""
    seen = [SeenLook(frozenset("abcd"), 0.75), SeenLook(frozenset("abcdef"), 0.01)]
    nobody: list[tuple[Status, Any]] = [(Status.NO_COVERAGE, None)] * 3 + [(Status.NOT_DRAWN, None)] * 5
    both, last = score_of_sample(nobody, (), seen), score_of_sample(nobody, (), seen[1:])
    assert (both.low, both.high, last.high) == (0.0, 0.625, 0.625)


NOISY = "\nRATES = {'alpha': 0.7, 'beta': 0.8, 'gamma': 0.9}\n"


@pytest.mark.parametrize(
    ("trials", "missing"),
    [
        # 10 trials on each scenario, on which no drop of .75 can show; the second round has 30
        (50, r"no drop can show yet, and the next baseline takes 60 further trials\."),
        (75, r"about \d+ further trials are missing for the first one\."),
    ],
    ids=["none can show", "none is answered"],
)
def test_a_budget_that_ends_before_the_first_answer_says_how_much_is_missing(
    projects: Any, trials: int, missing: str
) -> None:
    result = measure(projects.write(idle=10, extra=NOISY, budget={"trials": trials}, **ROUNDS))
    assert result.status == "budget" and result.score.value is None
    said = [note for note in result.notes if "ended before a mutant had its answer" in note]
    assert len(said) == 1 and said[0].startswith(f"the budget ({trials} trials)")
    assert re.search(missing, said[0]), said


def test_a_budget_that_ends_in_the_first_baseline_names_what_is_missing_of_it(projects: Any) -> None:
    """Three scenarios with 20 trials each, of which seven are made; the baselines of later rounds are larger."""
    session = open_session(projects.write(idle=10, extra=STEADY, budget={"minutes": 9}, **ROUNDS))
    plan = make_plan(session, make_mutants(session, Selection()), 1, 0.0)
    state = CampaignState(plan, session.suite, session.tests.scenarios, TABLES)
    for _ in range(7):
        launch = state.launch()
        assert launch is not None
        state.record(launch, PASS)
    (said,) = shortage_notes(state, Stop.BUDGET, state.score_so_far())
    assert plan.ladder[0].baseline == 20 < plan.ladder[-1].baseline
    assert said == (
        "the budget (9 minutes) ended before a mutant had its answer: no mutant is tried yet, and the first baseline "
        "takes 53 further trials. Finished trials are kept: the same command with a larger budget goes on from here"
    )


def test_a_budget_with_an_answer_says_nothing_of_missing_trials(projects: Any) -> None:
    result = measure(projects.write(idle=10, extra=STEADY, budget={"trials": 60}, **ROUNDS))
    assert result.score.value is not None
    assert not any("ended before a mutant" in note for note in result.notes)


def test_the_budget_that_is_said_to_be_enough_for_all_is(projects: Any) -> None:
    few = measure(projects.write(idle=20, extra=STEADY, budget={"trials": 100}, **ROUNDS))
    (said,) = [note for note in few.notes if "a random sample" in note]
    found = re.search(r"About (\d+) trials are enough for all of them", said)
    assert found and few.score.not_drawn, said
    enough = measure(projects.write(idle=20, extra=STEADY, budget={"trials": int(found[1])}, **ROUNDS))
    assert enough.score.not_drawn == 0
