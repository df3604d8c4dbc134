"""What was chosen by looking at runs is judged on other runs of the original."""

from typing import Any

import pytest

from agentmut.nouns.scenario import EvaluatorSpec
from agentmut.nouns.suggestion import AssertionSuggestion, Rate
from agentmut.project.applied import SERIES, first_repeats, note_applied
from agentmut.usecases.campaigns import measure, rescore
from agentmut.usecases.runtime import open_store
from agentmut.usecases.suite_verdicts import check_suite

pytestmark = pytest.mark.whole

WORDS = ("alpha", "beta")


def suggestion(scenario: str, spec: EvaluatorSpec) -> AssertionSuggestion:
    rate = Rate(held=10, of=10)
    return AssertionSuggestion(
        id="0" * 8, scenario=scenario, evaluator=spec, why="", mutants=("m",), baseline=rate, held_out=rate,
        mutant=Rate(held=0, of=10), margin=0.4, generality=1.0,
    )  # fmt: skip


def with_assertion(projects: Any, spec: EvaluatorSpec) -> Any:
    """The project after `spec` was applied to the scenario alpha."""
    own = [{"contains": "alpha"}, {spec.name: spec.argument}]
    project = projects.write(WORDS, scenario=lambda word: {"evaluators": own} if word == "alpha" else {})
    note_applied(project, [suggestion("alpha", spec)])
    return project


def repeats(project: Any, run: str) -> dict[str, list[int]]:
    with open_store(project) as store:
        found: dict[str, list[int]] = {}
        for trial in store.trials_of(run, ""):
            found.setdefault(trial.scenario, []).append(trial.repeat)
        return found


def test_the_baseline_is_made_anew_where_an_evaluator_was_chosen_on_it(projects: Any) -> None:
    before = measure(projects.write(WORDS))
    project = with_assertion(projects, EvaluatorSpec(name="not_contains", argument="sorry"))
    again = rescore(project)
    assert "alpha: evaluators were chosen" in " ".join(again.notes)
    after = measure(project)
    kept = repeats(project, after.run_id)
    assert min(kept["alpha"]) == SERIES
    assert kept["beta"] == repeats(project, before.run_id)["beta"]
    assert "the baseline of alpha" in " ".join(after.notes)
    assert measure(project).cost.trials == 0
    assert not rescore(project).notes


def test_a_second_choice_begins_a_third_series_and_a_removed_one_counts_no_more(projects: Any) -> None:
    first, second = (EvaluatorSpec(name="not_contains", argument=word) for word in ("sorry", "alas"))
    project = with_assertion(projects, first)
    assert first_repeats(project) == {"alpha": SERIES}
    note_applied(project, [suggestion("alpha", first)])  # applied already
    assert first_repeats(project) == {"alpha": SERIES}
    assert first_repeats(with_assertion(projects, second)) == {"alpha": 2 * SERIES}
    assert first_repeats(projects.write(WORDS)) == {}


def test_verdicts_of_the_suite_are_on_new_runs_too(projects: Any) -> None:
    project = with_assertion(projects, EvaluatorSpec(name="not_contains", argument="sorry"))
    report = check_suite(project, method="fixed", trials=3)
    kept = repeats(project, report.run_id)
    assert kept == {"alpha": [SERIES, SERIES + 1, SERIES + 2], "beta": [0, 1, 2]}
