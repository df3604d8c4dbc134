"""The search on a real agent with a declared flow: rare edges, a node, and a limit inside of an argument."""

from pathlib import Path

import pytest

from agentmut import check_suite
from agentmut.campaign.preparation.session import open_session
from agentmut.project.loading import load_project
from agentmut.report.terminal.suggestions_page import render_suggestions
from agentmut.usecases.runtime import open_store
from agentmut.usecases.suggestions import Proposed, free_suggestions, searched_suggestions

AGENT = r'''
import json, re
from typing import Annotated, Literal
import agentmut
from pydantic import BaseModel, Field
from agentmut.nouns.trace import Action, AgentTrace, Step

KNOWN = {"A-1042": "in transit"}


class Item(BaseModel):
    sku: Literal["tent", "stove"]
    count: Annotated[int, Field(ge=1, le=40)]


@agentmut.tool
def place_order(items: Annotated[list[Item], Field(min_length=1)]) -> dict:
    """Place an order."""
    return {"placed": True}


TOOLS = [place_order]


def run(config, input):
    route, answer, calls = ["__start__", "triage"], "Hello!", []
    order = re.search(r"A-[0-9]+", input)
    if re.search(r"place an order", input, re.I):
        route.append("sales")
        written = re.search(r"\[.*\]", input)
        counted = re.search(r"count ([0-9]+)", input)
        items = json.loads(written[0]) if written else [{"sku": "tent", "count": int(counted[1]) if counted else 2}]
        done = agentmut.toolbox(config, TOOLS)["place_order"](items=items)
        given = {"items": items}
        calls = [Step(action=Action.CALL_TOOL, node="sales", tool="place_order", arguments=given, output=done)]
        answer = "Your order is placed."
    elif re.search(r"\b(?:lawyer|court)\b", input):
        route += ["legal", "manager"]
        answer = "A manager calls you."
    elif order:
        route.append("delivery")
        answer = KNOWN.get(order[0], "")
        if not answer:
            route.append("lost")
            answer = "Nobody knows this order."
    route.append("__end__")
    steps = tuple(Step(action=Action.REASON, node=node) for node in route[1:-1])
    return AgentTrace(steps=(*steps, *calls), edges=tuple(zip(route, route[1:])), outputs=(answer,))
'''
PROJECT = """
version: 1
agent:
  adapter: python
  run: MODULE:run
  config:
    prompt: |
      - Be brief.
      - If somebody mentions a lawyer, hand over to legal.
    tools: MODULE:TOOLS
    orchestration:
      nodes: [triage, delivery, lost, sales, legal, manager]
      edges:
        - [__start__, triage]
        - [legal, manager]
        - [sales, __end__]
        - [lost, __end__]
        - [manager, __end__]
      branches:
        - {source: triage, name: about, ends: {parcel: delivery, order: sales, law: legal, chat: __end__}}
        - {source: delivery, name: known, ends: {found: __end__, unknown: lost}}
suite: {scenarios: scenarios.yaml, threshold: 0.8}
mutation: {operators: [prompt.drop_instruction], swap_models: [large]}
coverage: {models: [small, large]}
statistics: {baseline: 30, n_max: 30, seed: 5}
suggest: {repeats: 2}
"""
SCENARIOS = """
- name: status
  input: "Where is order A-1042?"
  evaluators: [{contains: in transit}]
- name: hello
  input: "Good morning."
  evaluators: [{contains: Hello}]
- name: order
  input: "I would like to place an order of two tents."
  evaluators: [{contains: placed}]
"""
RUNS = 80


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph") / "desk"
    folder.mkdir()
    module = f"desk_{folder.parent.name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT.replace("MODULE", module))
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    check_suite(folder, trials=10)
    return folder


@pytest.fixture(scope="module")
def found(measured: Path) -> Proposed:
    project = load_project(measured)
    with open_store(project) as store:
        return searched_suggestions(open_session(project), store, now=1.8e9, trials=RUNS)


def added(found: Proposed) -> dict[str, str]:
    return {item: one.aim for one in found.suggestions.scenarios for item in one.adds}


@pytest.mark.whole
def test_edges_that_only_one_kind_of_input_takes_are_found(found: Proposed) -> None:
    assert {"edge triage -> legal", "node manager", "edge legal -> manager"} <= added(found).keys()
    assert {"edge delivery -> lost", "node lost"} <= added(found).keys(), "only an unknown number leads there"
    assert found.searched and found.searched.asked <= RUNS


def test_limits_inside_of_a_list_of_objects_are_found(found: Proposed) -> None:
    limits = [f"boundary place_order.items[].count {name}" for name in ("minimum", "maximum")]
    assert set(limits) <= added(found).keys()


def test_the_printout_names_what_was_aimed_at_and_the_campaign_that_a_model_takes(
    found: Proposed, measured: Path
) -> None:
    assert "aimed at a run that" in render_suggestions(found)
    project = load_project(measured)
    with open_store(project) as store:
        said = " ".join(render_suggestions(free_suggestions(open_session(project), store)).split())
    assert "a run that enters lost" in said and "a call on the boundary place_order.items[].count" in said
    assert "model large: no run used it, and no input would" in said
    assert "agentmut run --operator model.swap" in said
