"""The support desk with a suite that asks for hardly anything: survivors get assertions that hold elsewhere too."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.result_file import read_result
from agentmut.nouns.trace import AgentTrace
from agentmut.project.loading import load_project
from agentmut.testing import check_trace
from agentmut.usecases.runtime import open_store
from tests.warm_command import AGENTMUT

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
THIN = """
- name: refund
  input: "I would like a refund for order A-1007. My email is jon@example.com."
  tools: {issue_refund: {returns: {refunded: 89.9, reference: RF-1}}}
  evaluators:
    - contains: "refund"
"""
LINES = (8, 17)
"""Verify the identity before a refund; say that the money arrives within five working days."""


def output(command: list[str], cwd: Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def desk(warm: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of rules that were dropped, and of the same rules negated."""
    project = tmp_path_factory.mktemp("desk") / "support_desk"
    ignored = shutil.ignore_patterns(".agentmut", "__pycache__", "*.yaml")
    shutil.copytree(ROOT / "examples" / "support_desk", project, ignore=ignored)
    document = yaml.safe_load((ROOT / "examples" / "support_desk" / "agentmut.yaml").read_text())
    document["mutation"]["operators"] = ["prompt.drop_instruction", "prompt.negate"]
    document["statistics"] = {"baseline": 30, "seed": 1, "n_max": 40}
    (project / "agentmut.yaml").write_text(yaml.safe_dump(document))
    (project / "scenarios" / "thin.yaml").write_text(THIN)
    targets = [word for line in LINES for word in ("--target", f"prompts/system.md:{line}")]
    output(
        [*AGENTMUT, "simulate", "--port", "0", "--", *AGENTMUT, "run", "--yes", "--json", *targets], project
    )
    return project


@pytest.fixture(scope="module")
def rows(desk: Path) -> dict[tuple[str, int], MutantRow]:
    """By operator and line of the prompt."""
    (path,) = desk.glob(".agentmut/runs/*/result.json")
    found = read_result(path).mutants
    return {(row.operator.partition(".")[2], row.target.line or 0): row for row in found}


@pytest.fixture(scope="module")
def shown(desk: Path, rows: dict[tuple[str, int], MutantRow]) -> dict[int, dict[str, Any]]:
    """What `agentmut show` says of the rules that were dropped; under 0, once the scenario is another one."""
    changed = desk.parent / "changed"
    shutil.copytree(desk, changed)
    thin = changed / "scenarios" / "thin.yaml"
    thin.write_text(thin.read_text().replace("A-1007", "A-1042"))
    ids = [rows["drop_instruction", line].id for line in LINES]
    commands = [["show", id, "--json"] for id in ids] + [
        ["show", ids[0], "--json", "--project", str(changed)]
    ]
    said = [output([*AGENTMUT, *command], desk) for command in commands]
    return dict(zip((*LINES, 0), map(json.loads, said), strict=True))


@pytest.fixture(scope="module")
def fresh(desk: Path) -> list[AgentTrace]:
    """Runs of the unchanged agent that no suggestion was mined from: those of the identity control."""
    with open_store(load_project(desk)) as store:
        (run,) = store.runs()
        (control, *_) = json.loads(run.plan)["identity"]
        return [trial.execution.trace for trial in store.trials_of(run.id, control["id"])]


def test_survivors_whose_behaviour_changed_have_an_assertion_gap(
    rows: dict[tuple[str, int], MutantRow],
) -> None:
    for line in LINES:
        dropped = rows["drop_instruction", line]
        assert (dropped.status, dropped.gap) == ("survived", "assertion")
        assert dropped.behaviour is not None
        assert dropped.behaviour.changed
        assert dropped.behaviour.feature


def test_half_of_what_is_mined_from_a_lost_rule_kills_the_mutant_that_negates_it(
    rows: dict[tuple[str, int], MutantRow], shown: dict[int, dict[str, Any]]
) -> None:
    pairs = [(one, rows["negate", line].id) for line in LINES for one in shown[line]["suggestions"]]
    assert len(pairs) >= 4
    assert sum(other in one["mutants"] for one, other in pairs) >= len(pairs) / 2


def test_the_unchanged_agent_passes_what_is_suggested_on_fresh_runs_as_yaml_and_as_python(
    shown: dict[int, dict[str, Any]], fresh: list[AgentTrace]
) -> None:
    suggestions = [one for document in shown.values() for one in document["suggestions"]]
    assert suggestions
    for one in suggestions:
        assert one["where"] == "scenarios/thin.yaml:2"
        (written,) = yaml.safe_load(one["yaml"])
        assert [*written.items()] == [(one["evaluator"]["name"], one["evaluator"]["argument"])]
        judged = [holds(f"check_trace(trace, {written!r})", trace) for trace in fresh]
        assert judged == [holds(one["pytest"], trace) for trace in fresh]
        assert sum(judged) >= 0.8 * len(fresh), one["why"]


def holds(statements: str, trace: AgentTrace) -> bool:
    try:
        exec(statements, {"trace": trace, "check_trace": check_trace})
    except AssertionError:
        return False
    return True


def test_a_project_that_no_longer_fits_is_stated_and_the_rest_is_shown(
    shown: dict[int, dict[str, Any]],
) -> None:
    document = shown[0]
    assert document["suggestions"] == []
    assert document["behaviour"]["changed"] is True
    assert "scenario refund was another one" in document["suggestion_notes"][0]
