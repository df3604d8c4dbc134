"""The command that tries the way of a new user takes the files that the README shows."""

import yaml

from benchmarks.first_score import COMMANDS, MADE, ROOT, readme_files


def test_the_files_are_those_of_the_readme_and_the_commands_are_few() -> None:
    made = readme_files((ROOT / "README.md").read_text("utf-8"))
    assert tuple(made) == MADE and len(COMMANDS) <= 5
    assert "async def run(config, input)" in made["my_agent.py"]
    assert yaml.safe_load(made["agentmut.yaml"])["agent"]["run"] == "my_agent:run"
    assert yaml.safe_load(made["scenarios/first.yaml"])[0]["name"] == "greeting"
