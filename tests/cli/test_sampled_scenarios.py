"""`run --sample-scenarios`: a small budget measures a part of the suite, and every report says so."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

SCENARIOS = 30
AGENT = """
def run(config, input):
    return "hello" if "greet" in config.prompt else "hm"
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Always greet the user. Be brief. Never lie."}
suite: {scenarios: scenarios.yaml}
mutation: {operators: [prompt.drop_instruction]}
"""
SCENARIO = "- {{name: number {}, input: hi, evaluators: [contains: hello]}}\n"


def agentmut(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_agentmut(cwd, *arguments)


def result_of(*arguments: str, cwd: Path) -> Any:
    done = agentmut(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def measured(result: Any) -> list[str]:
    return [row["scenario"] for row in result["baseline"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "my_agent.py").write_text(AGENT)
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "scenarios.yaml").write_text("".join(SCENARIO.format(i) for i in range(SCENARIOS)))
    return tmp_path


def test_a_refused_budget_names_a_sample_that_fits_into_it(project: Path) -> None:
    """30 baselines of 10 trials are 300 of 200; 12 are 120, which is .6 of the budget."""
    refused = agentmut("run", "--trials", "200", "--yes", cwd=project)
    assert refused.returncode == 2
    found = re.search(r"--sample-scenarios (\d+)", refused.stderr + refused.stdout)
    assert found is not None and found[1] == "12"
    done = agentmut("run", "--trials", "200", "--sample-scenarios", "12", "--yes", "--json", cwd=project)
    result = json.loads(done.stdout)
    assert (done.returncode, result["suite_part"]) == (3, {"scenarios": 12, "of": SCENARIOS})
    assert len(measured(result)) == 12
    assert result["score"]["killed"] == 1


def test_the_sample_is_the_same_in_every_run_and_part_of_a_larger_one(project: Path) -> None:
    three = measured(result_of("run", "--yes", "--sample-scenarios", "3", cwd=project))
    assert measured(result_of("run", "--yes", "--sample-scenarios", "3", "--seed", "5", cwd=project)) == three
    five = result_of("run", "--yes", "--sample-scenarios", "5", cwd=project)
    assert set(three) < set(measured(five))
    assert len(measured(five)) == 5
    assert five["score"]["killed"] == 1
    more = result_of("run", "--yes", "--sample-scenarios", "99", cwd=project)
    assert (len(measured(more)), more["suite_part"]) == (SCENARIOS, None)


def test_every_report_says_that_a_part_was_measured(project: Path) -> None:
    sentence = "Measured with 2 of 30 scenarios: the whole suite notices at least what these notice"
    done = agentmut("run", "--sample-scenarios", "2", "--yes", cwd=project)
    pages = [done.stdout, agentmut("report", "--full", cwd=project).stdout]
    pages += [agentmut("report", "--format", form, cwd=project).stdout for form in ("markdown", "html")]
    for page in pages:
        assert sentence in " ".join(page.split())


def test_named_scenarios_are_a_part_too(project: Path) -> None:
    named = ("--scenario", "number 3", "--scenario", "number 20", "--scenario", "number 7")
    assert result_of("run", "--yes", *named, cwd=project)["suite_part"] == {"scenarios": 3, "of": SCENARIOS}
    drawn = measured(result_of("run", "--yes", *named, "--sample-scenarios", "2", cwd=project))
    assert len(drawn) == 2 and set(drawn) < {"number 3", "number 20", "number 7"}


def test_an_interrupted_part_is_resumed_as_a_part(project: Path) -> None:
    part = ("--sample-scenarios", "10")
    cut = agentmut("run", *part, "--trials", "210", "--yes", "--json", cwd=project)
    assert json.loads(cut.stdout)["status"] == "budget"
    resumed = result_of("resume", "--trials", "5000", cwd=project)
    assert resumed["suite_part"] == {"scenarios": 10, "of": SCENARIOS}
    assert resumed["status"] == "finished"


def test_a_plan_is_one_of_the_part(project: Path) -> None:
    whole = json.loads(agentmut("plan", "--json", cwd=project).stdout)
    part = json.loads(agentmut("plan", "--sample-scenarios", "3", "--json", cwd=project).stdout)
    assert part["scenarios"] == 3 < whole["scenarios"] == SCENARIOS


def test_a_gate_does_not_decide_on_a_part(project: Path) -> None:
    result_of("run", "--yes", "--sample-scenarios", "2", cwd=project)
    decided = json.loads(agentmut("gate", "--min-score", "0.9", "--json", cwd=project).stdout)
    assert decided["decision"] == "manual"
    (why,) = decided["left_out"]
    part = "it measured 2 of 30 scenarios, and a gate decides on the whole suite"
    assert f"{part}. `agentmut run` without options measures all of them" in why
    assert all(f"is stored and does not decide: {part}" in each["reason"] for each in decided["requirements"])


def test_a_part_that_is_judged_again_is_still_a_part(project: Path) -> None:
    result_of("run", "--yes", "--sample-scenarios", "4", cwd=project)
    assert result_of("rescore", cwd=project)["result"]["suite_part"] == {"scenarios": 4, "of": SCENARIOS}


def test_shards_of_a_part_come_to_a_part(project: Path) -> None:
    sample = ("--yes", "--sample-scenarios", "4")
    result_of("run", *sample, "--baseline-only", cwd=project)
    for shard in ("1/2", "2/2"):
        result_of("run", *sample, "--shard", shard, cwd=project)
    assert result_of("merge", cwd=project)["suite_part"] == {"scenarios": 4, "of": SCENARIOS}
