"""The command that tries the way of a new user takes agents that can be read, and needs few commands."""

import ast

import pytest
import yaml

from benchmarks.first_score import EXTRAS, MADE, commands, files_of


def test_the_files_of_the_first_agent_are_those_of_the_readme() -> None:
    made = files_of("readme")
    assert tuple(made) == MADE
    assert "async def run(config, input)" in made["my_agent.py"]
    assert yaml.safe_load(made["agentmut.yaml"])["agent"]["run"] == "my_agent:run"
    assert yaml.safe_load(made["scenarios/first.yaml"])[0]["name"] == "greeting"


@pytest.mark.parametrize("agent", EXTRAS)
def test_an_agent_is_three_files_and_a_score_five_commands_at_most(agent: str) -> None:
    made = files_of(agent)
    assert len(made) == 3 and len(commands(agent)) <= 5
    section = yaml.safe_load(made["agentmut.yaml"])["agent"]
    module, _, name = (section.get("run") or section["factory"]).partition(":")
    defined = ast.parse(made[f"{module}.py"]).body
    assert name in {one.name for one in defined if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
