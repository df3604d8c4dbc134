"""docs/project-file.md, docs/scenario-file.md and docs/evaluators.md hold what there is."""

import re
from pathlib import Path

import yaml

from agentmut.judging.building import build
from agentmut.nouns.scenario import EvaluatorSpec, ToolDouble
from agentmut.project import reference
from agentmut.project.loading import load_project
from agentmut.project.schema import ProjectFile, ScenarioEntry
from agentmut.seams.plugins import Catalogue

DOCS = Path(__file__).parents[2] / "docs"
EVALUATORS = (DOCS / "evaluators.md").read_text(encoding="utf-8")


def test_the_page_of_the_project_file_is_the_one_that_the_schema_gives() -> None:
    """Made by `python -m agentmut.project.reference project > docs/project-file.md`."""
    page = (DOCS / "project-file.md").read_text(encoding="utf-8")
    assert page == reference.page("project")
    sections = dict(re.findall(r"^## `([\w.]+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert set(sections) >= set(ProjectFile.model_fields) - {"version"}
    assert all(f"| `{name}` |" in page for name in ("ask_above", "selective", "second_order", "concurrency"))
    assert "| `concurrency` | integer | `16` |" in sections["execution"]


def test_the_page_of_scenario_files_is_the_one_that_the_schema_gives() -> None:
    """Made by `python -m agentmut.project.reference scenarios > docs/scenario-file.md`."""
    page = (DOCS / "scenario-file.md").read_text(encoding="utf-8")
    assert page == reference.page("scenarios")
    assert all(f"| `{name}` |" in page for name in (*ScenarioEntry.model_fields, *ToolDouble.model_fields))


def test_the_scenarios_of_the_page_are_read(tmp_path: Path) -> None:
    (block,) = re.findall(
        r"```yaml\n(.*?)```", (DOCS / "scenario-file.md").read_text(encoding="utf-8"), re.DOTALL
    )
    (tmp_path / "scenarios.yaml").write_text(block)
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: python, run: agent:run}\nsuite: {scenarios: scenarios.yaml}\n"
    )
    (tmp_path / "agent.py").write_text("def run(config, input): return input\n")
    one, two = load_project(tmp_path / "agentmut.yaml").scenarios
    assert (one.turns, len(two.turns), two.category) == (("I want a refund for order A-1042.",), 2, "refunds")


def test_every_evaluator_has_one_example() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", EVALUATORS, re.DOTALL)
    ((scenario,), unfit, _) = (yaml.safe_load(block) for block in blocks)
    assert [build(EvaluatorSpec(name="expression", argument=one["expression"])) for one in unfit]
    shown = [name for one in scenario["evaluators"] for name in one]
    assert sorted([*shown, "suite", "suite_checks"]) == sorted(Catalogue.from_group("evaluators").names)


def test_the_specification_of_the_page_is_one(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(re.findall(r"```yaml\n(.*?)```", EVALUATORS, re.DOTALL)[2])
    project = load_project(tmp_path / "spec.yaml", "collections:Counter")
    assert len(project.scenarios) == 1
