"""Whole campaigns on coin agents, through `measure`: what becomes of mutants and controls."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from agentmut._base.errors import RunError, UsageError
from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import read_result
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

Told = Callable[[Result], dict[str, tuple[Any, ...]]]


def row(result: Result, text: str) -> MutantRow:
    return next(row for row in result.mutants if text in row.before)


def test_a_needed_rule_is_killed_by_its_scenario_and_an_idle_one_survives(projects: Any) -> None:
    # of mutants without effect, a quarter have a p-value under .25 and the gap `unknown`; with this seed it is not one
    result = measure(projects.write(("alpha", "beta"), idle=1), seed=2)
    assert result.status == "finished"
    assert (row(result, "alpha").status, row(result, "alpha").killed_by) == (Status.KILLED, ("alpha",))
    assert (row(result, "beta").status, row(result, "beta").killed_by) == (Status.KILLED, ("beta",))
    assert row(result, "topic").status is Status.SURVIVED
    # the agent does what it did, as far as eleven runs can show
    assert row(result, "topic").gap == "scenario"
    assert result.controls.destroyed.status is Status.KILLED
    assert result.controls.identity.killed == 0 < result.controls.identity.trials


def test_the_same_seed_gives_the_same_campaign_and_another_seed_another(projects: Any, told: Told) -> None:
    project = projects.write()
    first = measure(project, seed=3)
    again = measure(project, seed=3, fresh=True)
    assert told(again) == told(first)
    assert again.cost.reused == 0 < again.cost.trials == first.cost.trials
    assert told(measure(project, seed=4)) != told(first)


@pytest.mark.parametrize("window", [1, 4])
def test_latency_and_concurrency_change_no_decision(projects: Any, told: Told, window: int) -> None:
    settings = {"execution": {"window": window, "concurrency": 1}}
    calm = measure(projects.write(**settings))
    (projects.folder / ".agentmut" / "store.db").unlink()
    settings["execution"]["concurrency"] = 16
    slow = projects.write(extra="\nLATENCY = 0.01\n", **settings)
    sys.modules.pop(projects.module)
    assert told(measure(slow)) == told(calm)


def test_an_unchanged_campaign_runs_no_trial_again_and_decides_alike(projects: Any, told: Told) -> None:
    first = measure(projects.write())
    again = measure(projects.load())
    assert (again.cost.trials, again.cost.baseline_trials) == (0, 0)
    assert again.cost.reused == first.cost.trials
    assert told(again) == told(first)
    assert again.score == first.score


def test_trials_go_to_the_scenario_that_notices(projects: Any) -> None:
    result = measure(projects.write(("alpha", "beta", "gamma", "delta", "epsilon"), idle=0))
    for word in ("alpha", "delta"):
        trials = {evidence.scenario: evidence.trials for evidence in row(result, word).evidence}
        assert trials[word] == max(trials.values())
        assert sum(trials.values()) <= 25  # in turn, five trials on each would be the least to kill with


def test_a_document_that_only_one_scenario_carries_is_tried_only_there(projects: Any) -> None:
    (projects.folder / "extra.md").write_text("The parcel rate is four euros. " * 40)
    agent = projects.AGENT.replace("word = input", "config.context\n    word = input")

    def scenario(word: str) -> dict[str, Any]:
        return {"context": ["extra.md"]} if word == "beta" else {}

    project = projects.write(
        agent=agent, scenario=scenario, mutation={"operators": ["context.truncate"], "per_operator": 1}
    )
    (found,) = measure(project).mutants
    assert {evidence.scenario for evidence in found.evidence} == {"beta"}


TOOLS = """
TOOLS = [{"name": "lookup", "description": "Look something up.", "parameters": {"type": "object"}}]
"""


def test_a_tool_that_no_scenario_calls_is_no_coverage_for_free(projects: Any) -> None:
    agent = {"config": {"prompt": "prompt.md", "tools": f"{projects.module}:TOOLS"}}
    project = projects.write(extra=TOOLS, agent_section=agent, mutation={"operators": ["tool.remove"]})
    (found,) = measure(project).mutants
    assert (found.status, found.trials, found.usd, found.gap) == (Status.NO_COVERAGE, 0, 0.0, "scenario")
    assert "no scenario makes the agent call lookup" in found.reason


def test_an_uncovered_mutant_stays_in_the_denominator_of_the_score(projects: Any) -> None:
    agent = {"config": {"prompt": "prompt.md", "tools": f"{projects.module}:TOOLS"}}
    operators = {"operators": ["prompt.drop_instruction", "tool.remove"]}
    result = measure(projects.write(("alpha",), idle=0, extra=TOOLS, agent_section=agent, mutation=operators))
    assert (result.score.killed, result.score.no_coverage, result.score.value) == (1, 1, 0.5)
    assert result.classes["tool"].value == 0.0


def test_a_part_that_the_agent_never_reads_is_not_applied_and_not_scored(projects: Any) -> None:
    (projects.folder / "doc.md").write_text("Nobody reads this. " * 40)
    agent = {"config": {"prompt": "prompt.md", "context": ["doc.md"]}}
    project = projects.write(
        agent_section=agent, mutation={"operators": ["context.truncate"], "per_operator": 1}
    )
    result = measure(project)
    (found,) = result.mutants
    assert (found.status, found.trials) == (Status.NOT_APPLIED, 0)
    assert "no baseline trial carried this part of the context" in found.reason
    assert result.score.value is None
    assert (result.score.low, result.score.high, result.score.not_applied) == (None, None, 1)


def test_an_ignored_mutant_is_not_run_and_keeps_its_reason(projects: Any) -> None:
    first = measure(projects.write())
    idle = row(first, "topic number 0")
    ignore = {"ignore": [{"mutant": idle.id, "reason": "cosmetic"}]}
    result = measure(projects.write(mutation={"operators": ["prompt.drop_instruction"], **ignore}))
    found = row(result, "topic number 0")
    assert (found.status, found.reason, found.trials) == (Status.IGNORED, "cosmetic", 0)
    assert result.score.ignored == 1


REFUSES_MUTANTS = """
class Response:
    status_code = 404

class NotFoundError(Exception):
    response = Response()
    status_code = 404
    response = "404 Not Found"  # as the exceptions of SDKs have

inner = run
async def run(config, input):
    if "say alpha" not in config.prompt and config.prompt:
        raise NotFoundError("no such model")
    return await inner(config, input)
"""


def test_a_mutant_that_the_service_refuses_is_an_error_and_never_a_kill(projects: Any) -> None:
    result = measure(projects.write(extra=REFUSES_MUTANTS))
    found = row(result, "alpha")
    assert (found.status, found.trials) == (Status.ERROR, 1)
    assert "no such model" in found.reason
    assert result.score.error == 1


def test_evaluators_that_pass_anything_fail_the_destroyed_control(projects: Any) -> None:
    with pytest.raises(RunError, match=r"the destroyed agent .* ended as survived") as raised:
        measure(projects.write(scenario=lambda word: {"evaluators": [{"not_contains": "guarantee"}]}))
    assert raised.value.exit_code == 4
    result = only_result(projects)
    assert result.controls.destroyed.status is Status.SURVIVED
    assert result.cost.baseline_trials == 120


def test_an_agent_without_anything_to_destroy_is_measured_without_that_control(projects: Any) -> None:
    agent = """
from agentmut.recording.current import current_trial
async def run(config, input):
    return "alpha" if config.model.name == "large" or int(current_trial().id, 16) % 2 else "no"
"""
    project = projects.write(
        ("alpha",),
        agent=agent,
        agent_section={"config": {"model": {"name": "large"}}},
        mutation={"operators": ["model.downgrade"], "downgrade_models": ["small"]},
    )
    result = measure(project)
    assert [found.status for found in result.mutants] == [Status.KILLED]
    assert result.controls.destroyed.status is None
    assert "no prompt, tools or context" in result.controls.destroyed.reason


def test_a_scenario_that_the_original_fails_too_often_is_reported_and_not_tried(projects: Any) -> None:
    result = measure(projects.write(extra='\nRATES["beta"] = 0.15\n'))
    baseline = {found.scenario: found for found in result.baseline}
    assert [found.testable for found in result.baseline] == [True, False, True]
    assert "fails too often" in baseline["beta"].reason
    assert all(e.scenario != "beta" for found in result.mutants for e in found.evidence)
    assert any("beta" in note for note in result.notes)


def test_without_a_testable_scenario_the_run_ends_after_the_baseline(projects: Any) -> None:
    with pytest.raises(RunError, match=r"no testable scenario: .*alpha \d+/40") as raised:
        measure(projects.write(extra="\nRATES.update(alpha=0.2, beta=0.15, gamma=0.1)\n"))
    assert raised.value.exit_code == 4
    assert only_result(projects).cost.trials == 120


def test_an_agent_that_never_passes_is_given_up_early_with_its_first_reason(projects: Any) -> None:
    with pytest.raises(RunError, match=r"failed every baseline trial .* First reason: .*alpha"):
        measure(projects.write(("alpha",), extra="\nRATES.update(alpha=0.0)\n", idle=1))
    assert only_result(projects).cost.trials < 40


def test_a_factory_that_raises_ends_the_run_with_what_it_said(projects: Any) -> None:
    extra = """
async def run(config, input):
    raise RuntimeError("the vault is closed")
"""
    with pytest.raises(RunError, match="the vault is closed"):
        measure(projects.write(extra=extra))


def test_no_mutants_is_a_usage_error_before_anything_runs(projects: Any) -> None:
    with pytest.raises(
        UsageError, match=r"no mutants to run: tool: the config has no tools. `agentmut mutants` lists"
    ):
        measure(projects.write(mutation={"operators": ["tool.remove"]}))
    assert not (projects.folder / ".agentmut" / "runs").exists()


def only_result(projects: Any) -> Result:
    (path,) = (projects.folder / ".agentmut" / "runs").glob("*/result.json")
    return read_result(path)
