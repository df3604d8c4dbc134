"""The JSON Schemas that are shipped for editors."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from agentmut.project.schema import schema_text

ROOT = Path(__file__).parents[2]
SHIPPED = {"project": "agentmut.schema.json", "scenarios": "scenarios.schema.json"}
PROJECTS = [*ROOT.glob("examples/*/agentmut.yaml"), *ROOT.glob("agentmut/templates/init/*/agentmut.yaml")]
SCENARIOS = [
    *ROOT.glob("examples/*/scenarios/*.yaml"),
    *ROOT.glob("agentmut/templates/init/*/scenarios/*.yaml"),
]


def shipped(kind: str) -> str:
    return (files("agentmut.project") / SHIPPED[kind]).read_text(encoding="utf-8")


def faults(kind: str, value: Any) -> list[str]:
    validator = Draft202012Validator(json.loads(shipped(kind)))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_shipped_schema_is_what_its_command_writes(kind: str) -> None:
    command = f"python -m agentmut.project.schema {kind} > agentmut/project/{SHIPPED[kind]}"
    assert shipped(kind) == schema_text(kind), f"out of date; run: {command}"


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_shipped_schema_is_a_schema(kind: str) -> None:
    Draft202012Validator.check_schema(json.loads(shipped(kind)))


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_project_file_of_the_repository_is_valid(path: Path) -> None:
    assert faults("project", yaml.safe_load(path.read_text())) == []


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_scenario_file_of_the_repository_is_valid(path: Path) -> None:
    assert faults("scenarios", yaml.safe_load(path.read_text())) == []


def test_the_schema_refuses_what_the_loader_refuses() -> None:
    assert faults("project", {"version": 2, "agent": {"adapter": "python"}})
    assert faults("project", {"version": 1, "agent": {"adapter": "python"}, "gate": {"min_score": 2}})
    assert faults("scenarios", [{"name": "a", "input": "b"}])


def test_every_key_is_described_for_editors() -> None:
    schema = json.loads(shipped("project"))
    own = [d for name, d in schema["$defs"].items() if name not in ("ModelConfig", "JsonValue")]
    sections = [schema, *own]
    bare = [
        key
        for section in sections
        for key, spec in section.get("properties", {}).items()
        if not _described(spec)
    ]
    assert bare == []


def _described(spec: dict[str, Any]) -> bool:
    return bool(spec.get("description") or spec.get("$ref"))  # a section describes itself
