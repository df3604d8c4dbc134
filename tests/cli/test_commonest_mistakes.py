"""The commonest mistakes of a new user: each gets one line that says what is wrong, where, and what to do."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from agentmut.cli.entry import app

pytestmark = pytest.mark.whole

GREETS = """
async def run(config, input):
    return "hello" if "greet" in config.prompt and input != "bye" else "no"
"""


def project(folder: Path, agent: str, inputs: tuple[str, ...] = ("hi",), **config: Any) -> Path:
    module = f"agent_in_{folder.name}"  # a process imports a module once
    (folder / f"{module}.py").write_text(agent)
    settings = {
        "version": 1,
        "agent": {
            "adapter": "python",
            "run": f"{module}:run",
            "config": {"prompt": "Always greet the user. Be brief.", **config},
        },
        "suite": {"scenarios": "s.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "execution": {"retries": 0},
    }
    suite = [{"name": said, "input": said, "evaluators": [{"contains": "hello"}]} for said in inputs]
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    (folder / "s.yaml").write_text(yaml.safe_dump(suite))
    return folder


def run(folder: Path, *options: str, verb: str = "run") -> tuple[int, str]:
    yes = ["--yes"] if verb == "run" else []
    done = CliRunner().invoke(app, [verb, *yes, "--project", str(folder), *options])
    said = "\n".join(filter(None, (done.output, str(done.exception or ""))))
    return getattr(done.exception, "exit_code", done.exit_code), said


def test_an_agent_that_ignores_its_config_is_told_so_in_one_line(tmp_path: Path) -> None:
    _, said = run(project(tmp_path, "async def run(config, input):\n    return 'hello'\n"))
    problem = said.splitlines()[-1].partition(" Run 2")[0]
    assert "the agent read nothing of its config" in problem
    assert "Let it use the config that it is given" in problem
    assert len(problem.split()) <= 45


def test_an_agent_without_the_two_parameters_is_told_which_to_take(tmp_path: Path) -> None:
    _, said = run(project(tmp_path, "def run():\n    return 'hello'\n"))
    assert "must take (config, input), or the input alone; it takes ()" in said


def test_an_exception_of_the_agent_has_file_line_and_function(tmp_path: Path) -> None:
    agent = """
import json

def parse(text):
    return json.loads(text)

async def run(config, input):
    return parse("{" if config.prompt else "")
"""
    _, said = run(project(tmp_path, agent))
    assert "JSONDecodeError" in said
    assert f"agent_in_{tmp_path.name}.py:5 in parse)" in said


def test_an_address_that_nobody_answers_is_named(tmp_path: Path) -> None:
    agent = """
import httpx

async def run(config, input):
    async with httpx.AsyncClient() as client:
        return (await client.post("http://127.0.0.1:9/v1/chat?key=secret", json={"p": config.prompt})).text
"""
    _, said = run(project(tmp_path, agent))
    assert "no answer from http://127.0.0.1:9/v1/chat)" in said
    assert "secret" not in said


def test_a_tool_written_without_parameters_is_told_of_before_anything_is_run(tmp_path: Path) -> None:
    tools = [{"name": "refund"}, {"name": "today", "parameters": {}}]
    code, said = run(project(tmp_path, GREETS, tools=tools), verb="mutants")
    assert code == 0
    note = next(line for line in said.splitlines() if line.startswith("Note: "))
    assert "tools without `parameters`: refund." in " ".join(said.split())
    assert "today" not in note


def test_a_scenario_that_never_passes_stops_the_run_before_the_baseline_is_paid(tmp_path: Path) -> None:
    folder = project(tmp_path, GREETS, ("hi", "bye", "hey"))
    _, said = run(folder)
    assert "scenario bye fails each of its first 5 runs: output lacks 'hello': 'no'." in said
    assert "`agentmut trials bye --failed`" in said
    assert "`agentmut run --continue`" in said
    with closing(sqlite3.connect(folder / ".agentmut" / "store.db")) as store:
        assert store.execute("SELECT count(*) FROM trials").fetchone() == (1 + 5 + 1,)
    code, said = run(folder, "--continue")
    assert code == 0
    assert "Mutation score" in said


def test_a_scenario_that_passes_once_in_its_first_runs_stops_nothing(tmp_path: Path) -> None:
    agent = """
from agentmut.recording.current import current_trial

async def run(config, input):
    lucky = input != "bye" or current_trial().repeat > 2
    return "hello" if "greet" in config.prompt and lucky else "no"
"""
    code, _ = run(project(tmp_path, agent, ("hi", "bye")))
    assert code == 0
