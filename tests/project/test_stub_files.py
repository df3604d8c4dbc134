"""Files of the stub that stay when a user names an agent of their own: the verbs say so, and what to do."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut.cli.entry import app
from agentmut.project.loading import load_project
from agentmut.usecases.starting import frameworks, write_starter
from agentmut.usecases.stub_files import starter_leftovers

OWN = "def run(config, input):\n    return config.prompt\n"


def swapped(root: Path) -> Path:
    """Return a project whose user has written an agent into the stub's file."""
    write_starter(root)
    (root / "agent_under_test.py").write_text(OWN)
    return root


@pytest.mark.parametrize("framework", frameworks())
def test_an_untouched_starter_has_nothing_left_over(framework: str, tmp_path: Path) -> None:
    write_starter(tmp_path, framework=framework)
    assert starter_leftovers(load_project(tmp_path)) == ""


def test_prompt_and_scenarios_of_the_stub_are_named_until_they_are_changed(tmp_path: Path) -> None:
    project = swapped(tmp_path)
    both = starter_leftovers(load_project(project))
    assert both.startswith(
        "scenarios/first.yaml and prompts/system.md are as `agentmut init` wrote for its stub"
    )
    assert both.endswith("write scenarios for your agent in its place, and name your agent's prompt instead")
    scenarios = project / "scenarios" / "first.yaml"
    scenarios.write_text(scenarios.read_text().replace("refund_time", "money_back"))
    assert starter_leftovers(load_project(project)).startswith(
        "prompts/system.md is as `agentmut init` wrote"
    )
    (project / "prompts" / "system.md").write_text("Be kind.\n")
    assert starter_leftovers(load_project(project)) == ""


def test_another_agent_in_the_project_file_counts_though_the_stub_is_still_there(tmp_path: Path) -> None:
    write_starter(tmp_path)
    file = tmp_path / "agentmut.yaml"
    named = (
        file.read_text()
        .replace("adapter: python ", "adapter: command")
        .replace("run: agent_under_test:run", "command: [cat]")
    )
    file.write_text(named)
    assert "the agent is no longer that stub" in starter_leftovers(load_project(tmp_path))


def test_mutants_and_run_print_what_is_left(tmp_path: Path) -> None:
    project = str(swapped(tmp_path))
    listed = CliRunner().invoke(app, ["mutants", "--project", project])
    assert "prompts/system.md are as `agentmut init` wrote" in " ".join(listed.output.split())
    run = CliRunner().invoke(app, ["run", "--project", project, "--yes", "--trials", "40"])
    assert "Note: scenarios/first.yaml and prompts/system.md are as `agentmut init` wrote" in run.output
