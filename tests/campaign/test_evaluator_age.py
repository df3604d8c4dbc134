"""Evaluators that may have been chosen by looking at runs are judged on later runs."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentmut.campaign import Selection, make_mutants, make_plan, register
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.running.stored import stored_campaign
from agentmut.nouns.scenario import EvaluatorSpec
from agentmut.nouns.suggestion import AssertionSuggestion, Rate
from agentmut.store.rows import is_later
from agentmut.usecases.campaigns import carry_out_campaign, carry_out_merge, measure, rescore
from agentmut.usecases.planning import plan
from agentmut.usecases.runtime import open_store, opened
from agentmut.usecases.suggestions import keep_proposals
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline

pytestmark = pytest.mark.whole

WORDS = ("alpha", "beta")
SORRY = {"not_contains": "sorry"}


def suggestion(scenario: str, spec: EvaluatorSpec) -> AssertionSuggestion:
    rate = Rate(held=10, of=10)
    return AssertionSuggestion(
        id="0" * 8, scenario=scenario, evaluator=spec, why="", mutants=("m",), baseline=rate, held_out=rate,
        mutant=Rate(held=0, of=10), margin=0.4, generality=1.0,
    )  # fmt: skip


def written(projects: Any, *evaluators: dict[str, Any], **settings: Any) -> Any:
    """The project whose scenario alpha has these evaluators and its own."""
    own = [{"contains": "alpha"}, *evaluators]
    return projects.write(
        WORDS, scenario=lambda word: {"evaluators": own} if word == "alpha" else {}, **settings
    )


def repeats(project: Any, run: str, scenario: str = "alpha", *, original: bool = True) -> set[int]:
    """The repeats of the trials that a run used."""
    with open_store(project) as store:
        ids = {""} if original else set(mutants_of(project, run))
        return {t.repeat for id in ids for t in store.trials_of(run, id) if t.scenario == scenario}


def mutants_of(project: Any, run: str) -> list[str]:
    result = json.loads((project.runs / run / "result.json").read_text())
    return [row["id"] for row in result["mutants"]]


def test_an_evaluator_written_by_hand_judges_new_runs_of_the_original_and_of_mutants(projects: Any) -> None:
    before = measure(projects.write(WORDS))
    project = written(projects, SORRY)
    again = rescore(project)
    assert again.result.evidence_older_than_evaluators == ("alpha",)
    assert again.notes[0].startswith("evidence older than the evaluators: alpha.")
    after = measure(project)
    assert after.evidence_older_than_evaluators == ()
    for original in (True, False):
        old, new = (repeats(project, run.run_id, original=original) for run in (before, after))
        assert min(new) > max(old)
        kept, used = (repeats(project, run.run_id, "beta", original=original) for run in (before, after))
        assert used == kept
    assert after.notes[0] == (
        "evaluators of alpha are newer than the stored runs, which are not used. It takes 40 new runs of the "
        "original, and up to 100 runs of each mutant on each scenario"
    )


def test_the_second_run_with_the_same_evaluators_costs_nothing_and_says_nothing(projects: Any) -> None:
    measure(projects.write(WORDS))
    measure(written(projects, SORRY))
    again = measure(written(projects, SORRY))
    assert again.cost.trials == 0
    assert again.notes == ()
    assert rescore(projects.load()).result.evidence_older_than_evaluators == ()


def test_evaluators_that_agentmut_proposed_keep_the_runs_of_mutants(projects: Any) -> None:
    before = measure(projects.write(WORDS))
    spec = EvaluatorSpec(name="not_contains", argument="sorry")
    with opened(projects.load()) as (session, store):
        keep_proposals(session, store, [suggestion("alpha", spec)], before.run_id)
    project = written(projects, SORRY)  # pasted by hand, not applied
    assert rescore(project).result.evidence_older_than_evaluators == ("alpha",)
    after = measure(project)
    assert min(repeats(project, after.run_id)) > max(repeats(project, before.run_id))
    assert min(repeats(project, after.run_id, original=False)) == 0
    assert "Stored runs of mutants still count" in after.notes[0]
    by_hand_as_well = measure(written(projects, SORRY, {"not_contains": "alas"}))
    assert min(repeats(project, by_hand_as_well.run_id, original=False)) > 0


def test_an_evaluator_that_is_taken_away_or_loosened_is_a_choice_too(projects: Any) -> None:
    first = measure(written(projects, {"regex": "^alpha$"}))
    for evaluators in ((), ({"regex": "^alph"},)):
        project = written(projects, *evaluators)
        assert min(repeats(project, measure(project).run_id)) > max(repeats(project, first.run_id))


def test_evaluators_that_come_back_keep_their_runs(projects: Any) -> None:
    first = measure(projects.write(WORDS))
    measure(written(projects, SORRY))
    back = measure(projects.write(WORDS))
    assert back.cost.trials == 0
    assert repeats(projects.load(), back.run_id) == repeats(projects.load(), first.run_id)


def test_older_evaluators_judge_the_runs_of_newer_ones_without_a_mark(projects: Any) -> None:
    measure(projects.write(WORDS))
    measure(written(projects, SORRY))
    measure(written(projects, {"not_contains": "alas"}))
    assert rescore(written(projects, SORRY)).result.evidence_older_than_evaluators == ()
    assert rescore(projects.write(WORDS)).result.evidence_older_than_evaluators == ()


def test_order_and_comments_give_evaluators_no_new_age(projects: Any) -> None:
    measure(written(projects, SORRY))
    turned = {"evaluators": [SORRY, {"contains": "alpha"}]}
    projects.write(WORDS, scenario=lambda word: turned if word == "alpha" else {})
    with (projects.folder / "scenarios.yaml").open("a") as suite:
        suite.write("# a comment\n")
    assert measure(projects.load()).cost.trials == 0
    assert rescore(projects.load()).result.evidence_older_than_evaluators == ()


def test_the_code_of_an_evaluator_is_part_of_it_and_its_comments_are_not(projects: Any) -> None:
    def with_code(text: str) -> Any:
        (projects.folder / "judging_here.py").write_text(text)
        return projects.write(WORDS, scenario=lambda word: {"evaluators": [{"python": "judging_here:judge"}]})

    code = "def judge(scenario, trace):\n    return scenario.name in trace.text\n"
    sets = []
    for text in (code, f"# says whether it holds\n{code}", code.replace("text\n", "text.lower()\n")):
        with opened(with_code(text)) as (session, _):
            sys.modules.pop("judging_here", None)
            sets.append(session.ages["alpha"].evaluators)
    assert sets[0] == sets[1] != sets[2]


def test_a_scenario_without_runs_has_no_older_ones(projects: Any) -> None:
    with opened(projects.write(WORDS)) as (session, _):
        assert session.ages["alpha"].originals == 0
    with opened(written(projects, SORRY)) as (session, _):
        assert session.ages["alpha"].originals == session.ages["alpha"].mutants == 0


def test_a_scenario_that_is_renamed_has_no_runs_and_so_no_older_ones(projects: Any) -> None:
    """A scenario's name is part of what identifies its trials."""
    measure(projects.write(WORDS))
    renamed = {"name": "omega", "evaluators": [{"contains": "alpha"}, SORRY]}
    after = measure(projects.write(WORDS, scenario=lambda word: renamed if word == "alpha" else {}))
    assert [row.scenario for row in after.baseline] == ["omega", "beta"]
    used = repeats(projects.load(), after.run_id, "omega")
    assert {repeat for repeat in used if not is_later(repeat)} == set(range(40))
    assert not any("older than the evaluators" in note for note in after.notes)


def test_a_store_of_an_earlier_version_tells_the_age_as_far_as_its_plans_know_it(projects: Any) -> None:
    """The plans of 0.1.0 have a digest of the whole suite, and no evaluators."""
    first = measure(projects.write(WORDS))
    forget_ages(projects)
    with opened(projects.load()) as (session, _):
        assert session.ages["alpha"].originals == 0
    assert rescore(projects.load()).result.evidence_older_than_evaluators == ()
    forget_ages(projects)
    with opened(written(projects, SORRY)) as (session, store):
        assert session.ages["alpha"].originals > 0
        assert session.ages["beta"].originals > 0, "nothing tells that beta was as it is"
        assert stored_campaign(session, store).run.id == first.run_id


def forget_ages(projects: Any) -> None:
    """Make the store one of version 0.1.0."""
    with closing(sqlite3.connect(projects.folder / ".agentmut" / "store.db")) as store, store:
        for id, plan_ in store.execute("select id, plan from runs").fetchall():
            left = {n: v for n, v in json.loads(plan_).items() if n not in ("evaluators", "first_of_mutants")}
            store.execute("update runs set plan = ? where id = ?", (json.dumps(left), id))
        newer = ("judged", "fixed", "proposed", "quarantined", "imported", "claims", "alembic_version")
        store.executescript("".join(f"drop table {name};" for name in newer) + "pragma user_version = 1;")


def test_evaluators_that_a_run_of_an_earlier_version_judged_older_runs_with_are_newer(projects: Any) -> None:
    """Version 0.1.0 took the first run's baseline over in the second, whose evaluators were newer."""
    measure(projects.write(WORDS))
    project = written(projects, SORRY)
    session = open_session(project)  # without a store, as that version did
    with open_store(project) as store:
        made = make_plan(session, make_mutants(session, Selection()), None, 1.0)
        register(store, made)
        assert carry_out_campaign(session, made, store).cost.baseline_trials == 0
    forget_ages(projects)
    with opened(project) as (session, _):
        assert session.ages["alpha"].originals > 0
        assert session.ages["beta"].originals > 0, "the first run's suite was another one"
    assert rescore(project).result.evidence_older_than_evaluators == ("alpha", "beta")


def test_plan_says_the_price_before_it_is_spent(projects: Any) -> None:
    measure(projects.write(WORDS))
    assert "evaluators of alpha are newer" in plan(written(projects, SORRY)).notes[0]
    assert "40 new runs of the original" in plan(projects.load()).notes[0]


def test_verdicts_of_the_suite_are_on_new_runs_too(projects: Any) -> None:
    check_suite(projects.write(WORDS), method="fixed", trials=3)
    project = written(projects, SORRY)
    report = check_suite(project, method="fixed", trials=3)
    assert min(repeats(project, report.run_id)) > 2
    assert repeats(project, report.run_id, "beta") == {0, 1, 2}
    assert "new runs of the agent there" in report.notes[0]
    assert report.evidence_older_than_evaluators == ()


def test_a_comparison_with_a_baseline_that_is_older_than_the_evaluators_is_marked(projects: Any) -> None:
    save_baseline(projects.write(WORDS), trials=30)
    assert compare_with_baseline(projects.load()).evidence_older_than_evaluators == ()
    report = compare_with_baseline(written(projects, SORRY))
    assert report.evidence_older_than_evaluators == ("alpha",)
    assert report.notes[0].startswith("evidence older than the evaluators: alpha.")
    save_baseline(projects.load(), trials=30)
    assert compare_with_baseline(projects.load()).evidence_older_than_evaluators == ()


def test_a_merge_takes_over_when_the_evaluators_of_its_shards_were_fixed(
    projects: Any, make_projects: Any
) -> None:
    measure(projects.write(WORDS))
    project = written(projects, SORRY)
    measure(project, baseline_only=True)
    copy = Path(make_projects("copy").folder) / "store"
    shutil.copytree(projects.folder / ".agentmut", copy, ignore=shutil.ignore_patterns("tables"))
    for number in (1, 2):
        measure(project, shard=f"{number}/2")
    (projects.folder / ".agentmut" / "store.db").rename(copy / "store.db")
    for left in (projects.folder / ".agentmut").glob("store.db-*"):
        left.unlink()
    with open_store(project) as store:
        merged = carry_out_merge(open_session(project), store, [copy])
    assert merged.evidence_older_than_evaluators == ()
    again = measure(project)  # an undivided run may have some sentinels more than its shards
    assert (again.cost.baseline_trials, again.cost.reused > 150) == (0, True)
