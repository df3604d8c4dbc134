"""Whole campaigns over tools that go wrong."""

from typing import Any

import pytest
import yaml

from agentmut.nouns.mutant import Status
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

AGENT = """
import random, re
import agentmut

STOCK = {"tents": 4, "stoves": 7}


@agentmut.tool
def stock(product: str) -> dict:
    return {"product": product, "price": 12.5, "pieces": STOCK[product]}


@agentmut.tool
def greeting(name: str) -> str:
    return "Hello."


@agentmut.tool
def unused() -> str:
    return ""


def unmarked() -> str:
    return ""


def run(config, input):
    assert config.prompt
    if "hello" in input:
        return greeting("x")
    found = [stock(product) for product in re.findall("tents|stoves", input)]
    if random.random() < 0.03:
        return "no idea"
    return ", ".join(f"{one.get('pieces', 'no')} {one.get('product')}" for one in found)
"""
SCENARIOS = [
    {
        "name": "one",
        "input": "how many tents?",
        "evaluators": [{"contains": "4 tents"}, {"max_seconds": 0.4}],
    },
    {"name": "two", "input": "tents and stoves?", "evaluators": [{"contains": "4 tents, 7 stoves"}]},
    {"name": "hello", "input": "hello", "evaluators": [{"contains": "H"}]},
]


def test_each_fault_ends_as_the_suite_deserves(projects: Any) -> None:
    projects.write(agent=AGENT, mutation={"operators": None, "classes": ["tool"], "slow_seconds": 0.5})
    folder = projects.folder
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(SCENARIOS))
    tools = [{"name": name} for name in ("stock", "greeting", "unused", "unmarked")]
    (folder / "tools.yaml").write_text(yaml.safe_dump(tools))
    project = yaml.safe_load((folder / "agentmut.yaml").read_text())
    project["agent"]["config"]["tools"] = "tools.yaml"
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))

    faults = [row for row in measure(projects.load()).mutants if row.operator.startswith("tool.result_")]
    found = {(row.operator.removeprefix("tool.result_"), row.subject): row.status for row in faults}

    kinds = {kind for kind, _ in found}
    assert len(kinds) == 9
    assert {found[kind, "stock"] for kind in kinds} == {Status.KILLED}
    assert {found[kind, "unused"] for kind in kinds} == {Status.NO_COVERAGE}
    assert ("error", "unmarked") not in found
    assert {kind: found[kind, "greeting"] for kind in kinds} == {
        "error": Status.KILLED,
        "timeout": Status.KILLED,
        "permission_denied": Status.KILLED,
        "empty": Status.KILLED,
        "malformed": Status.KILLED,
        "truncated": Status.SURVIVED,
        "slow": Status.SURVIVED,
        "stale": Status.NO_COVERAGE,
        "wrong_entity": Status.NOT_APPLIED,  # a greeting names nobody
    }
