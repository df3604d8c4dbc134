"""What the pages on inspect_ai, pydantic-evals, openevals and Cerberus show is read, and runs."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from agentmut.campaign.preparation.session import open_session
from agentmut.cli import VERBS
from agentmut.judging.building import build
from agentmut.project.loading import load_project
from agentmut.project.scenarios import read_scenarios
from agentmut.report.terminal.run_page import render
from agentmut.usecases.campaigns import measure

DOCS = Path(__file__).parents[2] / "docs"
NEEDS = {
    "inspect": "inspect_ai",
    "pydantic-evals": "pydantic_evals",
    "openevals": "openevals",
    "cerberus": "py_mini_racer",
}
FILE = re.compile(r"```\w+\n# ([\w./]+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The files that a page shows, in a folder."""
    page = request.param
    pytest.importorskip(NEEDS[page])
    before = list(sys.path)
    for name, text in FILE.findall((DOCS / f"{page}.md").read_text()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path[:] = before
    for module in ("evals", "judges", "models"):
        sys.modules.pop(module, None)


@pytest.mark.parametrize("files", ["inspect", "pydantic-evals", "cerberus"], indirect=True)
def test_the_project_of_a_page_can_be_opened(files: Path) -> None:
    if (files / "cerberus.yaml").exists():  # its program is named by that of the machine
        text = (files / "cerberus.yaml").read_text()
        (files / "cerberus.yaml").write_text(text.replace('"python ', f'"{sys.executable} '))
    session = open_session(load_project(files))
    assert [one.name.partition("/")[0].rstrip("s") for one in session.scenarios] == ["refund"]


@pytest.mark.whole
@pytest.mark.parametrize("files", ["pydantic-evals"], indirect=True)
def test_the_campaign_of_the_page_prints_what_it_shows(files: Path) -> None:
    page = (DOCS / "pydantic-evals.md").read_text()
    ((_, *expected),) = [
        text.splitlines() for text in re.findall(r"```console\n(.*?)```", page, re.DOTALL) if "run" in text
    ]
    assert [
        line for line in expected if line != "..." and line not in render(measure(files)).splitlines()
    ] == []


@pytest.mark.parametrize("files", ["inspect"], indirect=True)
def test_the_task_with_sequential_stopping_is_one(files: Path) -> None:
    project = files / "agentmut.yaml"
    project.write_text(project.read_text().replace("evals/desk.py@desk", "evals/reliable.py@reliable"))
    assert len(open_session(load_project(files)).scenarios) == 1


@pytest.mark.parametrize("files", ["openevals"], indirect=True)
def test_the_scenario_of_the_page_is_one_and_its_functions_judge(files: Path) -> None:
    from agentmut.nouns.trace import AgentTrace

    ((scenario, _),) = [(one.scenario, one.where) for one in read_scenarios(["scenarios/refund.yaml"], files)]
    trace = AgentTrace(outputs=("A refund takes 5 days.",))
    assert all(build(spec).evaluate(scenario, trace).passed for spec in scenario.evaluators)
    assert importlib.util.find_spec("models") is not None


@pytest.mark.parametrize("page", NEEDS)
def test_commands_exist_and_settings_are_those_of_the_importers(page: str) -> None:
    from agentmut.suites.cerberus import CerberusSettings
    from agentmut.suites.inspect_ai.inspect_settings import InspectSettings
    from agentmut.suites.pydantic_evals import PydanticEvalsSettings

    text = (DOCS / f"{page}.md").read_text()
    assert set(
        re.findall(r"agentmut (\w+)", "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL)))
    ) <= set(VERBS)
    known: dict[str, type[BaseModel]] = {
        "inspect": InspectSettings,
        "pydantic_evals": PydanticEvalsSettings,
        "cerberus": CerberusSettings,
    }
    for block in re.findall(r"```yaml\n# the section suite, in full\n(.*?)```", text, re.DOTALL):
        ((kind, settings),) = yaml.safe_load(block)["suite"].items()
        known[kind].model_validate(settings)
