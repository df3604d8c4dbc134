"""`run --shard`, `merge`, `--pair` and `--selective` as a user gives them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.json_of_verbs import problems
from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

AGENT = """
import hashlib
from agentmut.recording.current import current_trial

def run(config, input):
    lucky = int(hashlib.sha256(current_trial().id.encode()).hexdigest(), 16) % 100 < 97
    return "hello" if "greet" in config.prompt and lucky else "hm"
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Always greet the user. Be brief. Never lie."}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 40, n_max: 40}
"""
SCENARIOS = """
- name: greets
  input: "hi"
  evaluators: [{contains: hello}]
"""


def agentmut(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_agentmut(cwd, *arguments)


def document(*arguments: str, cwd: Path) -> Any:
    done = agentmut(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its baseline."""
    folder = tmp_path_factory.mktemp("campaign") / "main"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "scenarios" / "first.yaml").write_text(SCENARIOS)
    assert document("run", "--baseline-only", "--yes", cwd=folder)["mutants"] == []
    return folder


def test_shards_on_two_machines_become_one_report(project: Path) -> None:
    for k in (1, 2):
        folder = project.parent / f"machine{k}"
        shutil.copytree(project, folder)
        part = agentmut("run", "--shard", f"{k}/2", "--yes", cwd=folder)
        assert part.returncode == 0, part.stderr
        assert f"Shard {k}/2" in part.stdout
    unfinished = agentmut("merge", "../machine1", "--json", cwd=project)
    assert unfinished.returncode == 2
    assert "shard 2/2 is missing" in json.loads(unfinished.stdout)["error"]
    merged = agentmut("merge", "../machine1/.agentmut", "../machine2/.agentmut", "--full", cwd=project)
    assert merged.returncode == 0, merged.stderr
    assert "1 killed, 2 survived" in merged.stdout
    assert "Merged from the runs" in merged.stdout
    again = document("merge", "../machine1/.agentmut", "../machine2/.agentmut", cwd=project)
    assert problems("merge", again) == [] and len(again["mutants"]) == 3
    assert max(map(len, merged.stdout.splitlines())) <= 80


def test_a_pair_is_listed_with_its_parts_run_and_explained(project: Path) -> None:
    listed = document("mutants", "--second-order", "5", cwd=project)["mutants"]
    pairs = [m for m in listed if m["class"] == "higher_order"]
    (both,) = [m for m in pairs if "Be brief" not in m["description"]]
    one, other = both["parts"]
    ran = agentmut("run", "--pair", f"{one}+{other}", "--yes", "--full", cwd=project)
    assert ran.returncode == 0, ran.stderr
    assert "higher_order: two changes at once" in ran.stdout
    shown = agentmut("show", both["id"], cwd=project).stdout
    assert f"part {one}  prompt.drop_instruction" in shown
    assert "killed on its own" in shown
    wrong = agentmut("mutants", "--pair", f"{one}+zzzz", cwd=project)
    assert (wrong.returncode, "pair with zzzz" in wrong.stderr) == (2, True)


def test_selective_mutation_is_said_in_the_report(project: Path) -> None:
    document("run", "--yes", cwd=project)
    ran = agentmut("run", "--selective", "0.5", "--yes", "--full", cwd=project).stdout
    assert "Selective score" in ran
    assert "selective mutation (0.5 of the operators" in ran
