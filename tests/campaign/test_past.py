"""Trials that do not come to what a mutant changes."""

from typing import Any

import pytest
import yaml

from agentmut.nouns.mutant import Status
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

RARELY_CALLED = """
import random
import agentmut


@agentmut.tool
def stock(product: str) -> int:
    return 5


def run(config, input):
    assert config.prompt
    return str(stock("tent") if random.random() < 0.12 else 5)
"""
ROUTED = """
import random
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy


def said(state):
    return {"messages": [("ai", "billing")]}


def build(config):
    failures, tries = ["away"], config.orchestration.get("retries", 0)

    def triage(state):
        if failures:
            raise ValueError(failures.pop())

    policy = RetryPolicy(max_attempts=tries + 1, initial_interval=0.001, retry_on=ValueError) if tries else None
    graph = StateGraph(MessagesState)
    graph.add_node("triage", triage, retry_policy=policy)
    for name in ("billing", "rare", "tech"):
        graph.add_node(name, said)
        graph.add_edge(name, END)
    graph.add_edge(START, "triage")
    graph.add_conditional_edges(
        "triage",
        lambda state: "few" if random.random() < 0.12 else "money",
        {"money": "billing", "few": "rare", "never": "tech"},
    )
    return graph.compile()
"""


def written(projects: Any, agent: str, expected: str, operators: list[str], **how: Any) -> Any:
    projects.write(agent=agent, mutation={"operators": operators})
    folder = projects.folder
    scenario = {"name": "one", "input": "hi", "evaluators": [{"contains": expected}]}
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
    (folder / "tools.yaml").write_text(yaml.safe_dump([{"name": "stock"}]))
    project = yaml.safe_load((folder / "agentmut.yaml").read_text())
    project["agent"] = how or {**project["agent"], "config": {"prompt": "Hi.", "tools": "tools.yaml"}}
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
    return projects.load()


@pytest.mark.parametrize("again", range(3))
def test_nothing_survives_that_no_trial_has_shown(projects: Any, again: int) -> None:
    agent = RARELY_CALLED.replace("import random\n", f"import random  # {again}\n")
    (row,) = measure(written(projects, agent, "5", ["tool.result_truncated"])).mutants
    assert row.witness is None
    assert row.status in (Status.NOT_APPLIED, Status.NO_COVERAGE)  # half of five is five


def test_a_way_that_no_run_takes_is_not_covered_and_a_factory_may_carry_out_the_flow_itself(
    projects: Any,
) -> None:
    config = {"orchestration": {"retries": 2}}
    named = ["orchestration.reroute_branch", "orchestration.remove_node", "orchestration.disable_retry"]
    agent = {"adapter": "langgraph", "factory": f"{projects.module}:build", "config": config}
    rows = measure(written(projects, ROUTED, "billing", named, **agent)).mutants
    found = {row.description: row.status for row in rows}
    assert found["after triage, let 'never' lead to billing instead of tech"] is Status.NO_COVERAGE
    assert found["do not try a step again when it fails"] is Status.KILLED
    rare = "skip the node rare"
    assert found[rare] is not Status.NOT_APPLIED, {row.description: row.reason for row in rows}[rare]
