"""`agentmut gate` where the stored runs disagree, or some of them are not used."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import agentmut as package
from agentmut.campaign.selection.selection import Selection
from agentmut.cli import main
from agentmut.nouns.result import BaselineRow, Result
from agentmut.nouns.result_file import read_result, write_result
from agentmut.store.documents.verdict_report import VerdictReport
from agentmut.usecases.gate_decision import Standing
from tests.cli.test_deciding_verbs import PROJECT, SCENARIOS

AGENT = """
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage

def run(config, input):
    call = Step(action=Action.REASON, model="m", usage=Usage(input_tokens=1000, output_tokens=100))
    return AgentTrace(steps=(call,), outputs=(config.prompt.lower(),), seconds=0.5)
"""
GATE = "gate: {min_score: 0.4, min_coverage: 0.1, max_usd: 5, max_usd_per_run: 0.01, max_seconds_per_run: 30}"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a passing test and, after it, a campaign on two of the four mutants."""
    folder = tmp_path_factory.mktemp("weighed")
    (folder / "scenarios").mkdir()
    (folder / "agentmut.yaml").write_text(PROJECT.replace(GATE, "gate: {max_usd: 5}"))
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "scenarios" / "s.yaml").write_text(SCENARIOS)
    assert package.check_suite(folder).verdict == "PASS"
    package.measure(folder, selection=Selection(sample=2))
    return folder


@pytest.fixture
def project(stored: Path, tmp_path: Path) -> Path:
    shutil.copytree(stored, tmp_path / "p")
    return tmp_path / "p"


def campaign_of(project: Path) -> Result:
    (found,) = (project / ".agentmut" / "runs").glob("*/result.json")
    return read_result(found)


def rewrite(project: Path, **changes: Any) -> None:
    found = campaign_of(project)
    write_result(found.model_copy(update=changes), project / ".agentmut" / "runs" / found.run_id)


def failing(project: Path) -> tuple[BaselineRow, ...]:
    return tuple(row.model_copy(update={"passes": 5, "trials": 40}) for row in campaign_of(project).baseline)


def run_of_the_test(project: Path) -> str:
    (found,) = (project / ".agentmut" / "runs").glob("*/verdicts.json")
    return VerdictReport.model_validate_json(found.read_text()).run_id


@pytest.mark.whole
@pytest.mark.parametrize("status", ["finished", "failed"])
def test_a_newer_campaign_whose_baseline_fails_counts_against_an_older_test(
    project: Path, status: str
) -> None:
    """A campaign fails if the agent fails every trial of its baseline: no score, but the clearest evidence."""
    before = package.gate(project)
    assert before.decision == "deploy"
    day = before.requirements[0].run[:8]
    assert f"of {day[:4]}-{day[4:6]}-{day[6:]} " in before.requirements[0].reason
    rewrite(project, baseline=failing(project), status=status)
    found = package.gate(project)
    assert found.decision == "block"
    assert found.requirements[0].run == campaign_of(project).run_id
    assert any("a newer campaign fails" in said for said in found.left_out)


def test_a_test_that_is_named_is_taken_and_what_speaks_against_it_noted(project: Path) -> None:
    rewrite(project, baseline=failing(project))
    found = package.gate(project, run_of_the_test(project))
    assert found.decision == "deploy"
    assert any("speaks against the run named: FAIL" in note for note in found.notes)


def test_a_campaign_that_no_requirement_rests_on_costs_the_gate_nothing(project: Path) -> None:
    """One named, so that its two mutants of four are no reason to leave it out."""
    dear = campaign_of(project).cost.model_copy(update={"usd": 100.0})
    rewrite(project, cost=dear)
    run = campaign_of(project).run_id
    unused = {each.name: each for each in package.gate(project, run).requirements}
    assert unused["cost of the evidence"].standing == "met"
    used = {each.name: each for each in package.gate(project, run, min_score=0.0).requirements}
    assert used["cost of the evidence"].standing == Standing.SHORT


def test_mutants_missing_from_the_score_are_noted(project: Path) -> None:
    found = campaign_of(project)
    rewrite(project, score=found.score.model_copy(update={"killed": 9, "survived": 0, "not_applied": 1}))
    notes = package.gate(project, found.run_id, min_score=0.0).notes
    assert any("1 of 10 mutants are not in the score (1 not applied)" in note for note in notes)


class Keyboard(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("typed", ["n\n", ""])
def test_a_declined_question_is_no_evidence_against_the_agent(
    project: Path, typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 of `run --gate` means: block."""
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    with pytest.raises(SystemExit) as ended:
        main(["run", "--project", str(project), "--gate", "--json"])
    assert ended.value.code == 130
    said = capsys.readouterr()
    assert "nothing was run" in said.err
    assert json.loads(said.out)["exit_code"] == 130


def test_a_rescored_run_is_judged_as_it_was_decided_and_every_page_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By an evaluator that holds of every answer, the mutant that was killed is open; no run has decided so."""
    run = campaign_of(project).run_id
    decided = package.gate(project, run, min_score=0.0)
    scenarios = project / "scenarios" / "s.yaml"
    suite = scenarios.read_text()
    scenarios.write_text(
        suite.replace("{contains: hello}, {contains: bye}, {contains: thanks}", "{regex: '[a-z]'}")
    )
    again = package.rescore(project)
    assert again.after != again.before
    # another suite: nothing current is stored
    assert package.gate(project, min_score=0.0).decision == "manual"

    scenarios.write_text(suite)
    found = package.gate(project, run, min_score=0.0)
    assert found.requirements == decided.requirements
    (said,) = [said for said in found.left_out if "(`agentmut rescore`)" in said]
    assert said.startswith(f"run {run} ") and "`agentmut run` decides" in said
    assert any(f"run {run} was rescored since" in note for note in package.trend(project).notes)
    for format in ("terminal", "markdown"):
        with pytest.raises(SystemExit):
            main(["report", run, "--project", str(project), "--format", format, "--full"])
        page = " ".join(capsys.readouterr().out.split())
        assert f"the stored trials give {again.after.value:.2f} [" in page
        assert "This report shows what the run decided" in page


@pytest.mark.whole
def test_a_run_that_was_judged_by_other_code_does_not_speak_of_the_suite_as_it_is(tmp_path: Path) -> None:
    """An evaluator of the project's own shapes no trial, so stored trials still hold; what was decided does not."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text(PROJECT.replace(GATE, "gate: {max_usd: 5}"))
    (tmp_path / "my_agent.py").write_text(AGENT)
    scenarios = SCENARIOS.replace("evaluators: [", "evaluators: [{python: 'my_checks:fine'}, ")
    assert scenarios != SCENARIOS
    (tmp_path / "scenarios" / "s.yaml").write_text(scenarios)
    (tmp_path / "my_checks.py").write_text("def fine(scenario, trace):\n    return True\n")
    package.measure(tmp_path, selection=Selection(sample=2))
    before = package.gate(tmp_path, min_score=0.0)
    assert not any("changed since" in said for said in before.left_out)
    (tmp_path / "my_checks.py").write_text("def fine(scenario, trace):\n    return bool(trace.outputs)\n")
    after = package.gate(tmp_path, min_score=0.0)
    assert any("the suite (other scenarios or evaluators) changed since" in said for said in after.left_out)


def test_a_score_without_evidence_says_which_run_is_stored_and_what_would_decide(project: Path) -> None:
    found = package.gate(project, min_score=0.4)
    score = {each.name: each for each in found.requirements}["mutation score"]
    assert score.standing == "no evidence"
    run = campaign_of(project).run_id
    part = f"run {run} is stored and does not decide: it measured 2 of the 4 mutants"
    assert score.reason.startswith(part) and "no current result" not in score.reason
    assert "`agentmut run` without options measures all of them" in score.reason


def test_an_interrupted_run_is_resumed_for_the_gate(project: Path) -> None:
    rewrite(project, status="interrupted")
    found = {each.name: each.reason for each in package.gate(project, min_score=0.4).requirements}
    assert "does not decide: it was interrupted. `agentmut resume` goes on" in found["mutation score"]
