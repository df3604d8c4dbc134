"""Where mutants of a prompt stand that only the built agent has, because its code reads the prompt while it runs."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut.campaign.preparation.agents_own import with_agents_own
from agentmut.cli.entry import app
from agentmut.nouns import AgentConfig
from agentmut.project.loading import load_project

PROMPT = "You are the clerk of a library.\n\nNever lend a book twice.\nAlways ask for the card number.\n"
READS = """
from pathlib import Path
from agents import Agent

def build():
    prompt = (Path(__file__).parent / "prompts.yaml").read_text().partition("|")[2]
    lines = [line.strip() for line in prompt.strip().splitlines()]
    return Agent(name="clerk", instructions="\\n".join(lines) + "\\n", model="gpt-5.2")
"""
PROJECT = """
version: 1
agent: {adapter: openai_agents, factory: live_clerk:build}
suite: {scenarios: scenarios.yaml}
"""
SCENARIO = "- {name: hi, input: Hi, evaluators: [{contains: x}]}\n"
REGISTRY = "# the prompts of all agents\nclerk: |\n  " + PROMPT.rstrip().replace("\n", "\n  ") + "\n"


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).write_text(text)
    return root


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return put(tmp_path, {"agentmut.yaml": PROJECT, "scenarios.yaml": SCENARIO, "live_clerk.py": READS})


def test_mutants_of_a_prompt_that_the_agent_reads_stand_on_the_lines_of_that_file(project: Path) -> None:
    put(project, {"prompts.yaml": REGISTRY})
    options = ["--project", str(project), "--operator", "prompt.drop_instruction"]
    listed = CliRunner().invoke(app, ["mutants", *options])
    places = [
        line.split("  degrade  ")[1].split()[0]
        for line in listed.output.splitlines()
        if "  degrade  " in line
    ]
    assert places == ["prompts.yaml:3", "prompts.yaml:5", "prompts.yaml:6"], listed.output
    chosen = CliRunner().invoke(app, ["mutants", *options, "--target", "prompts.yaml:5"])
    assert "Never lend a book twice." in chosen.output and "1 mutant" in chosen.output, chosen.output


def test_a_prompt_that_no_file_holds_stands_in_the_agents_module(project: Path) -> None:
    sources = with_agents_own(load_project(project), AgentConfig(prompt=PROMPT))
    assert sources.prompt_parts == () and sources.recorded == {"prompt": "live_clerk.py"}


def test_a_prompt_of_the_project_file_is_looked_for_in_no_other_file(project: Path) -> None:
    said = PROJECT.replace("build}", "build, config: {prompt: Never lend a book twice.}}")
    put(project, {"agentmut.yaml": said, "notes.md": PROMPT})
    found = load_project(project)
    assert with_agents_own(found, found.config).prompt_parts == ()
