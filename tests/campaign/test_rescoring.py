"""Stored trials are judged by the evaluators of today; no trial is run, and what cannot be said is said."""

import re
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.results.rescoring import TO_CONFIRM
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Result
from agentmut.report.terminal.rescored_page import render_rescored
from agentmut.usecases.campaigns import measure, rescore
from agentmut.usecases.runtime import opened

pytestmark = pytest.mark.whole

WEAK = {"evaluators": [{"regex": "[a-z]"}]}
"""Holds of every answer."""
WORDS = ("alpha", "beta", "gamma")
COUNTING = """
from pathlib import Path

async def counted(config, input):
    with (Path(__file__).parent / "runs.txt").open("a") as file:
        file.write("x")
    return await run(config, input)
"""


def weak_for(word: str) -> Any:
    return lambda one: WEAK if one == word else {}


def statuses(result: Result) -> dict[str, Status]:
    return {row.before: row.status for row in result.mutants}


def test_the_evaluators_that_were_there_decide_as_they_did(projects: Any) -> None:
    before = measure(projects.write(WORDS))
    again = rescore(projects.folder)
    assert statuses(again.result) == statuses(before)
    assert again.before == again.after == before.score
    assert (again.flipped, again.fresh, again.notes) == ((), (), ())
    assert again.trials == before.cost.trials


def test_what_does_not_depend_on_evaluators_is_kept(projects: Any) -> None:
    before = measure(projects.write(WORDS))
    again = rescore(projects.folder).result
    told = [(row.id, row.gap, row.behaviour, row.group, row.subsumed_by) for row in before.mutants]
    assert [(row.id, row.gap, row.behaviour, row.group, row.subsumed_by) for row in again.mutants] == told
    assert any(row.behaviour for row in again.mutants)


def test_a_stronger_evaluator_kills_a_survivor_without_a_run(projects: Any) -> None:
    section = {"run": f"{projects.module}:counted"}
    before = measure(projects.write(WORDS, scenario=weak_for("alpha"), extra=COUNTING, agent_section=section))
    runs = (projects.folder / "runs.txt").read_text()
    projects.write(WORDS, extra=COUNTING, agent_section=section)
    again = rescore(projects.folder)
    (flip,) = again.flipped
    assert (flip.before, flip.after, flip.by) == (Status.SURVIVED, Status.KILLED, "alpha (contains)")
    assert again.before.killed == before.score.killed == 2
    assert again.after.killed == 3
    (waiting,) = [one for one in again.fresh if one.why == TO_CONFIRM]
    assert (waiting.mutant, waiting.scenarios) == (flip.mutant, ("alpha",))
    page = " ".join(render_rescored(again).split())
    assert TO_CONFIRM in page and "killed (not final)" in page
    assert not flip.final
    assert again.after.low == 0.2  # of five mutants two have final kills, and one of these may be false
    assert (projects.folder / "runs.txt").read_text() == runs


def test_what_the_stored_trials_decide_is_what_a_run_on_them_decides(projects: Any) -> None:
    with opened(projects.write(WORDS)):
        pass  # evaluators that were there before the first run: so the run takes the stored trials
    measure(projects.write(WORDS, scenario=weak_for("alpha")))
    projects.write(WORDS)
    again = rescore(projects.folder)
    anew = measure(projects.folder)
    decided = {row.id: row for row in again.result.mutants if row.status is not Status.UNDECIDED}
    assert len(decided) >= 3
    assert {row.id: row.status for row in anew.mutants if row.id in decided} == {
        id: row.status for id, row in decided.items()
    }
    assert anew.baseline == again.result.baseline


def test_a_mutant_whose_trials_ended_with_a_kill_that_no_longer_holds_needs_new_ones(projects: Any) -> None:
    measure(projects.write(WORDS))
    projects.write(WORDS, scenario=weak_for("alpha"))
    again = rescore(projects.folder)
    (needy,) = again.fresh
    assert "alpha" in needy.scenarios
    assert "ended with a kill by alpha" in needy.why
    assert again.after.undecided == 1
    said = render_rescored(again)
    assert re.search(r"score now +\S+ \[\S+ \S+\], 1 mutant undecided\n", said)
    assert re.search(r"score before +\S+ \[\S+ \S+\]\n", said)
    assert "may differ a lot" in " ".join(said.split())


def test_a_new_scenario_is_told_of_and_counts_for_nothing(projects: Any) -> None:
    before = measure(projects.write(WORDS[:2]))
    project = projects.write(WORDS[:2])
    scenarios = (projects.folder / "scenarios.yaml").read_text()
    extra = "- {name: new, input: please say beta, evaluators: [{contains: beta}]}\n"
    (projects.folder / "scenarios.yaml").write_text(scenarios + extra)
    again = rescore(project.root)
    assert again.after == before.score
    assert [note for note in again.notes if "new: no stored trials" in note]
    open_ones = {row.id for row in before.mutants if row.status is Status.SURVIVED}
    assert open_ones and {one.mutant for one in again.fresh} == open_ones
    assert {(one.scenarios, one.certain) for one in again.fresh} == {(("new",), True)}
    said = " ".join(render_rescored(again).split())
    assert f"new has no runs: {len(open_ones)} mutants that are not killed reach it, perhaps 0 more" in said
    assert "every scenario that was run sends this part of the prompt" in said


def test_a_changed_scenario_is_left_out_and_said_to_be(projects: Any) -> None:
    measure(projects.write(WORDS))
    projects.write(WORDS, scenario=lambda word: {"input": f"now say {word}"} if word == "beta" else {})
    again = rescore(projects.folder)
    assert "beta was another one" in " ".join(again.notes)
    assert [row.scenario for row in again.result.baseline] == ["alpha", "gamma"]


def test_trials_of_another_config_are_refused_with_the_reason(projects: Any) -> None:
    measure(projects.write(WORDS))
    projects.write(WORDS, idle=3)
    with pytest.raises(UsageError, match="another version of the agent's config"):
        rescore(projects.folder)


def test_without_a_campaign_there_is_nothing_to_rescore(projects: Any) -> None:
    projects.write(WORDS)
    with pytest.raises(UsageError, match="no stored campaign"):
        rescore(projects.folder)
