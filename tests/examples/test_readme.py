"""Run the code of the README and of the pages that its parts moved to: your-suite.md, verbs.md, testing-an-agent.md."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.warm_command import AGENTMUT, ROOT, run_agentmut

pytestmark = pytest.mark.process

README = (ROOT / "README.md").read_text()
LONGEST = 150


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= LONGEST


def test_the_three_commands_of_the_readme_find_a_rule_that_nobody_tests(tmp_path: Path) -> None:
    install, *commands = blocks("sh")[0].splitlines()
    assert install == "pip install -e ."
    done = [agentmut(*command.split()[1:], cwd=tmp_path) for command in commands]
    assert [each.returncode for each in done] == [0, 0], done[-1].stderr
    assert "whose loss no scenario notices: 3 of 6" in done[-1].stdout


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def agentmut(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_agentmut(cwd, *arguments)


def write_project(folder: Path, project: str, agent: str) -> None:
    (folder / "scenarios").mkdir()
    (folder / "agentmut.yaml").write_text(project)
    (folder / "scenarios" / "first.yaml").write_text(blocks("yaml")[1])
    (folder / "my_agent.py").write_text(agent)


def test_the_callable_project_of_the_readme_runs(tmp_path: Path) -> None:
    write_project(tmp_path, blocks("yaml")[0], blocks("python")[0])
    done = agentmut("run", "--yes", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    dropped = {
        m["before"]: m["status"] for m in json.loads(done.stdout)["mutants"] if "drop" in m["operator"]
    }
    statuses = {before.strip(): status for before, status in dropped.items()}
    assert statuses == {"- Greet the user.": "killed", "- Never promise a delivery date.": "survived"}


def test_the_langgraph_factory_of_its_page_is_mutated_through_its_middleware(tmp_path: Path) -> None:
    project = """
version: 1
agent:
  adapter: langgraph
  factory: my_agent:build
  config:
    prompt: |
      - Look up the order status before you answer.
      - End every answer with "Have a nice day."
    model: {name: sim-large}
suite: {scenarios: scenarios/*.yaml}
mutation: {operators: [prompt.drop_instruction, tool.remove], downgrade_models: [sim-small]}
statistics: {baseline: 10, n_max: 12, delta: 0.7}
budget: {trials: 700}
"""
    write_project(tmp_path, project, blocks("python", page("langgraph.md"))[0])
    (tmp_path / "scenarios" / "first.yaml").write_text(
        """
- name: says_goodbye
  input: "Where is order A-1001?"
  evaluators: [{contains: "Have a nice day"}]
- name: looks_up
  input: "What is the status of order A-1001?"
  evaluators: [{tool_called: order_status}]
"""
    )
    done = agentmut("simulate", "--port", "0", "--", *AGENTMUT, "run", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    statuses = {(m["operator"], m["before"].strip()[:12]): m["status"] for m in result["mutants"]}
    assert statuses["prompt.drop_instruction", "- End every "] == "killed"
    assert statuses["tool.remove", "order_status"] == "killed"
    assert all(m["witness"]["route"] == "sent" for m in result["mutants"])


def test_the_commands_of_the_readme_exist_and_all_are_on_the_page_of_verbs() -> None:
    named = set(re.findall(r"`agentmut (\w+)", README + page("verbs.md")))
    listed = subprocess.run([*AGENTMUT, "--help"], env=environment(), capture_output=True, text=True).stdout
    assert named
    assert set(re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)) == named


def test_the_evaluators_of_their_page_exist() -> None:
    from agentmut.seams.plugins import Group, names

    table = re.search(r"^## All evaluators\n(.*?)^## ", page("evaluators.md"), re.DOTALL | re.MULTILINE)
    assert table
    first = "".join(line.split("|")[1] for line in table[1].splitlines() if line.startswith("|"))
    assert set(re.findall(r"`(\w+)`", first)) == set(names(Group.EVALUATORS))


def test_the_example_callable_shows_its_gap(tmp_path: Path) -> None:
    project = tmp_path / "callable"
    shutil.copytree(ROOT / "examples" / "callable", project, ignore=shutil.ignore_patterns(".agentmut"))
    # Its slips are chance: in a few runs of a hundred they would kill a mutant that is no worse.
    agent = project / "my_agent.py"
    agent.write_text(agent.read_text().replace("SLIP = 0.03", "SLIP = 0.0"))
    done = agentmut("run", "--yes", "--json", "--operator", "prompt.drop_instruction", cwd=project)
    assert done.returncode == 0, done.stderr
    statuses = {m["before"].strip(): m["status"] for m in json.loads(done.stdout)["mutants"]}
    assert statuses == {
        "- Greet the user.": "killed",
        "- Add up the numbers in the message.": "killed",
        "- Thank the user at the end.": "survived",
    }


def test_the_verdicts_of_their_page_are_given_in_python_and_its_settings_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "my_project"
    folder.mkdir()
    text = page("testing-an-agent.md")
    settings = "".join(one for one in blocks("yaml", text) if one.startswith("test:"))
    (program,) = (one for one in blocks("python", text) if one.startswith("import agentmut"))
    assert "compare:" in settings
    write_project(folder, blocks("yaml")[0] + settings, blocks("python")[0])
    done = subprocess.run(
        [*AGENTMUT, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout == "PASS [('greeting', <Verdict.PASS: 'PASS'>)]\nPASS\n", done.stderr


def test_the_suites_of_other_tools_that_a_page_names_have_importers() -> None:
    from agentmut.seams.plugins import Group, names

    shown = re.search(r"^suite: \{(\w+): .*?# or (.*)$", page("your-suite.md"), re.MULTILINE)
    assert shown
    assert {shown[1], *shown[2].split(", ")} == set(names(Group.IMPORTERS))
