"""`agentmut suggest`, as a user drives it: free, searching, applied."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

AGENT = '''
import re
import agentmut


@agentmut.tool
def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"status": "in transit"}


@agentmut.tool
def cancel_order(order_id: str) -> dict:
    """Cancel an order completely."""
    raise SystemExit("really cancelled")


TOOLS = [lookup_order, cancel_order]


def run(config, input):
    functions, prompt = agentmut.toolbox(config, TOOLS), config.prompt
    order = re.search(r"A-[0-9]+", input)
    name = "cancel_order" if "cancel" in input.lower() else "lookup_order"
    if order and name in functions:
        functions[name](order_id=order[0])
        return "It is done."
    return "Which order do you mean?"
'''
PROJECT = """
version: 1
agent:
  adapter: python
  run: MODULE:run
  config: {prompt: "Be brief.", tools: "MODULE:TOOLS"}
suite: {scenarios: scenarios.yaml, threshold: 0.8}
mutation: {operators: [tool.remove]}
statistics: {baseline: 30, n_max: 30}
suggest: {trials: 60, repeats: 3}
"""
SCENARIOS = """# kept as it is
- name: status
  input: "Where is order A-1042?"
  evaluators: [{tool_called: lookup_order}]
"""


def document(cwd: Path, *arguments: str) -> Any:
    done = run_agentmut(cwd, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suggest")
    module = f"desk_{folder.name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT.replace("MODULE", module))
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    assert document(folder, "run", "--yes")["score"]["no_coverage"] == 1
    return folder


@pytest.fixture(scope="module")
def searched(project: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy of the project with a search done in it, and what the search printed."""
    folder = tmp_path_factory.mktemp("searched") / project.name
    shutil.copytree(project, folder)
    return folder, run_agentmut(folder, "suggest", "--scenarios", "--yes").stdout


def test_from_stored_trials_it_says_what_is_not_exercised_and_runs_nothing(project: Path) -> None:
    said = document(project, "suggest")
    assert said["search"] is None and said["scenarios"] == []
    assert "tool cancel_order" in [idea["item"] for idea in said["ideas"]]
    shown = run_agentmut(project, "suggest").stdout
    assert "Please cancel an order completely. The order id is A-1042." in shown.replace("\n", " ")
    assert "agentmut suggest --scenarios" in shown


def test_a_search_finds_a_scenario_that_is_written_when_it_is_chosen(searched: tuple[Path, str]) -> None:
    project, shown = searched
    refused = run_agentmut(project, "suggest", "--scenarios")
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert "at most 60 times" in refused.stderr and "It really calls no tool" in refused.stderr
    assert "adds tool cancel_order" in shown and "unconfirmed evaluators" in shown
    found = json.loads((project / ".agentmut" / "suggestions.json").read_text())["scenarios"]
    new = next(one for one in found if "tool cancel_order" in one["adds"])
    assert new["kills"], "the mutant without the tool, which no scenario reached"
    changed = document(project, "suggest", "--apply", new["id"][:6])["changed"]
    assert changed and (project / "scenarios.yaml").read_text().startswith(SCENARIOS)
    again = document(project, "run", "--yes")
    assert again["score"]["killed"] == 2 and again["score"]["no_coverage"] == 0


def test_what_would_be_ignored_is_refused(searched: tuple[Path, str]) -> None:
    project, _ = searched
    for arguments, said in [
        (["suggest", "abcdef"], "ids are for --apply"),
        (["suggest", "--apply"], "needs the ids"),
        (["suggest", "--apply", "zzzz"], "begins with 'zzzz'"),
        (["suggest", "--trials", "5"], "give --scenarios too"),
        (["suggest", "--apply", "all", "--scenarios"], "without --scenarios"),
        (["suggest", "--run", "nonsense"], "no stored campaign"),
        (["suggest", "--yes"], "give --scenarios too"),
        (["suggest", "--apply", "all", "--run", "nonsense"], "without --run"),
        (["suggest", "--apply", "all", "zzzz"], "begins with 'zzzz'"),
    ]:
        done = run_agentmut(project, *arguments)
        assert done.returncode == 2 and said in done.stderr, (arguments, done.stderr)
