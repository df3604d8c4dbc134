"""The choice of mutants in whole projects: `run --in-diff`, ignore comments and stale ignores in a run's report."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

AGENT = """
async def run(config, input):
    return "hello" if "greet" in config.prompt else "hm"
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: system.md}
mutation:
  ignore: [{mutant: "00000000", reason: gone}]
statistics: {baseline: 40}
"""
SCENARIOS = """
- name: greets
  input: "hi"
  evaluators: [{contains: hello}]
"""
SYSTEM = "- Always greet the user.\n- Be brief. <!-- agentmut: ignore prompt: a matter of taste -->\n"


def call(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    who = {
        f"GIT_{role}_{part}": "t@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    environment = {**os.environ, **who, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def agentmut(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return call(*AGENTMUT, *arguments, cwd=cwd)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a subfolder of a repository."""
    root = tmp_path / "bots" / "shop"
    (root / "scenarios").mkdir(parents=True)
    (root / "my_agent.py").write_text(AGENT)
    (root / "agentmut.yaml").write_text(PROJECT)
    (root / "system.md").write_text(SYSTEM)
    (root / "scenarios" / "first.yaml").write_text(SCENARIOS)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        done = call("git", "-c", "init.defaultBranch=main", *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    return root


def test_a_run_has_ignored_mutants_and_says_what_is_stale(project: Path) -> None:
    done = agentmut("run", "--yes", "--json", "--scenario", "greets", cwd=project)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    ignored = {m["before"].strip(): m["reason"] for m in result["mutants"] if m["status"] == "ignored"}
    assert ignored["- Be brief."] == "a matter of taste"
    assert result["notes"] == ["mutation.ignore: 00000000 (gone) names no mutant now; remove the entry"]
    kept = [
        m for m in result["mutants"] if m["operator"] == "prompt.drop_instruction" and m["status"] == "killed"
    ]
    assert [m["before"].strip() for m in kept] == ["- Always greet the user."]


def test_a_run_in_a_diff_tries_only_what_changed(project: Path) -> None:
    unchanged = agentmut("run", "--yes", "--in-diff", "HEAD", cwd=project)
    assert (unchanged.returncode, unchanged.stdout) == (0, "Nothing of the agent changed since HEAD.\n")

    (project / "system.md").write_text(SYSTEM.replace("the user", "every user"))
    asked = agentmut("run", "--in-diff", "HEAD", "--operator", "prompt.drop_instruction", cwd=project)
    assert "changed since HEAD: prompt" in asked.stderr
    assert "1 mutant, 1 scenario," in asked.stderr  # of two instructions
    assert not (project.parents[1] / ".git" / "index.lock").exists()
    assert call("git", "status", "--porcelain", "--untracked-files=no", cwd=project).stdout.split() == [
        "M", "bots/shop/system.md",
    ]  # fmt: skip


def test_the_old_agent_is_loaded_from_the_old_modules(project: Path) -> None:
    """Today's module has a name that the old project cannot import, and the other way round."""
    done = call("git", "mv", "my_agent.py", "new_agent.py", cwd=project)
    assert done.returncode == 0
    (project / "agentmut.yaml").write_text(PROJECT.replace("my_agent", "new_agent"))
    listed = agentmut("mutants", "--in-diff", "HEAD", cwd=project)
    assert (listed.returncode, listed.stdout) == (0, "Nothing of the agent changed since HEAD.\n")


def test_an_ignored_mutant_without_a_reason_says_what_to_write(project: Path) -> None:
    (project / "agentmut.yaml").write_text(PROJECT.replace(", reason: gone", ""))
    done = agentmut("mutants", cwd=project)
    assert done.returncode == 2
    assert "`reason: the greeting is cosmetic`" in done.stderr


UNBUILT = """
version: 1
agent:
  adapter: langgraph
  factory: my_agent:build
  config: {prompt: system.md}
mutation: {classes: [orchestration]}
"""


def test_an_agent_that_cannot_be_built_is_the_reason_of_what_is_missing(project: Path) -> None:
    (project / "my_agent.py").write_text("def build(config):\n    raise ValueError('no key')\n")
    (project / "agentmut.yaml").write_text(UNBUILT)
    done = agentmut("mutants", "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (note,) = [note for note in document["notes"] if "could not build" in note]
    assert note.startswith("agentmut could not build the agent here, so no mutant changes its ")
    assert "no key" in note
    assert "agentmut simulate -- agentmut mutants" in note
    assert {one["reason"].partition(", because ")[2] for one in document["empty"]} == {note}
    assert "no key" in agentmut("mutants", cwd=project).stdout
