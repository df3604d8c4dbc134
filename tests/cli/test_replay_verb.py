"""`agentmut replay`: a recorded trial again, with nobody to ask."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.json_of_verbs import problems
from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

AGENT = """
from pathlib import Path
from openai import OpenAI

def run(config, input):
    said = [{"role": "system", "content": config.prompt}, {"role": "user", "content": input}]
    if Path("other.txt").exists():
        said.append({"role": "user", "content": "And now?"})
    reply = OpenAI(max_retries=0).chat.completions.create(model="sim-large", messages=said)
    return reply.choices[0].message.content
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config:
    prompt: |
      - End every answer with "Take care!"
    model: {name: sim-large}
    tools: [{name: refund, description: Pays back.}]
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 20, n_max: 10}
execution: {record: true, retries: 0}
"""
SCENARIOS = """
- name: polite
  input: "Hello, the password is correct-horse-battery-staple."
  evaluators: [{contains: "Take care!"}]
"""


@pytest.fixture
def project(tmp_path: Path, agentmut_simulator: Any) -> Path:
    (tmp_path / "my_agent.py").write_text(AGENT)
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "all.yaml").write_text(SCENARIOS)
    variables = {**agentmut_simulator.environment, "MY_PASSWORD": "correct-horse-battery-staple"}
    code, _, err = agentmut(tmp_path, "run", "--yes", environment=variables)
    assert code == 0, err
    return tmp_path


def agentmut(folder: Path, *arguments: str, environment: dict[str, str]) -> tuple[int, str, str]:
    done = run_agentmut(folder, *arguments, **environment)
    return done.returncode, done.stdout, done.stderr


NOWHERE = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": ""}


def test_a_recorded_trial_is_replayed_and_a_changed_agent_is_told_apart(project: Path) -> None:
    left = [path for path in (project / ".agentmut").rglob("*") if path.is_file()]
    assert any(path.parent.name == "cassettes" for path in left)
    assert [path for path in left if b"correct-horse" in path.read_bytes()] == []

    code, out, err = agentmut(project, "replay", "--json", environment=NOWHERE)
    assert code == 0, err
    trials = json.loads(out)["trials"]
    assert problems("replay", json.loads(out)) == []
    dropped = [trial for trial in trials if trial["operator"] == "prompt.drop_instruction"]
    assert dropped
    assert all(trial["requests"] == 1 for trial in trials)

    secret = {**NOWHERE, "MY_PASSWORD": "correct-horse-battery-staple"}  # taken out of what was recorded
    code, out, err = agentmut(project, "replay", trials[0]["trial"], "--json", environment=secret)
    replayed = json.loads(out)
    assert (code, replayed["outcome"], replayed["problem"]) == (0, "pass", ""), err
    assert problems("replay", replayed) == []
    assert (
        "the scenario has no stand-in for refund. If the agent calls such a tool, the real tool runs" in err
    )

    (project / "other.txt").touch()
    code, out, _ = agentmut(project, "replay", trials[0]["trial"], environment=secret)
    assert code == 4
    assert "/messages/2" in out
