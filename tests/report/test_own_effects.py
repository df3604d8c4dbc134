"""Reports know what a mutant does by what its operator declares, and by no list of operators."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentmut.nouns.mutant import Effect, Status
from agentmut.report.builtin_formats import render_as
from agentmut.seams.declarations import effect_of
from tests.report.results import dropping, result, row

WARM = Path(__file__).parents[1] / "testdata" / "warm_cli.py"
PROJECT = """
version: 1
agent:
  adapter: python
  run: own_agent:run
  config: {prompt: prompt.md}
suite: {scenarios: scenarios.yaml}
mutation: {own_operators: ["own_operators:forget"], operators: ["prompt.forget"]}
statistics: {baseline: 30}
"""
OPERATORS = """
from agentmut import AgentConfig, Candidate, Effect, Example, operator, prompt_edit

RULE = "Never share notes."

@operator(
    "prompt.forget",
    why="A rule falls victim to a merge.",
    effect=Effect.DROPS_RULE,
    examples=[Example(AgentConfig(prompt="Hi. " + RULE), AgentConfig(prompt="Hi. "))],
)
def forget(config, options):
    start = (config.prompt or "").find(RULE)
    if start >= 0:
        edit = prompt_edit(config.prompt, start, start + len(RULE), "")
        yield Candidate(edits=(edit,), description="forget a rule", anchor=RULE)
"""
AGENT = "async def run(config, input):\n    return 'hm' if config.prompt else ''\n"


def agentmut(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-IS", str(WARM), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.process
@pytest.mark.usefixtures("warm")
def test_a_rule_that_a_users_own_operator_drops_is_among_those_that_no_scenario_notices(
    tmp_path: Path,
) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "prompt.md").write_text("You are a clerk.\n\n- Never share notes.\n")
    (tmp_path / "scenarios.yaml").write_text("- {name: one, input: hi, evaluators: [{contains: hm}]}\n")
    (tmp_path / "own_operators.py").write_text(OPERATORS)
    (tmp_path / "own_agent.py").write_text(AGENT)
    found = json.loads(agentmut(tmp_path, "run", "--yes", "--json"))
    assert [(row["operator"], row["effect"]) for row in found["mutants"]] == [("prompt.forget", "drops_rule")]
    text = agentmut(tmp_path, "report", "--full")
    assert "Instructions whose loss no scenario notices: 1 of 1" in text
    assert "Never share notes." in text.split("Instructions whose loss")[1]


def test_a_result_without_effects_asks_the_installed_operators() -> None:
    old = dropping("s1", "Never share notes.", Status.SURVIVED)
    assert old.effect is None
    assert effect_of(old) is Effect.DROPS_RULE
    assert effect_of(row("x", Status.SURVIVED, operator="prompt.not_installed")) is None
    assert "Instructions whose loss no scenario notices: 1 of 1" in render_as(result(old), "terminal")
