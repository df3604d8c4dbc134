"""What is proposed for a limit inside of an argument, and for an edge, a node or a model of a graph."""

import json
from itertools import pairwise

import pytest

from agentmut.insight.coverage.boundaries import Boundary, boundaries
from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import CoverageItem, Dimension
from agentmut.insight.generate.aims import weaknesses, without_inputs
from agentmut.insight.generate.nested import in_plain_words, values_on
from agentmut.insight.generate.proposal_material import Material, material
from agentmut.insight.generate.proposals import Aim, AimKind, proposals
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

ITEM = {
    "type": "object",
    "properties": {
        "sku": {"enum": ["tent", "stove"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "gift": {"type": "object", "properties": {"note": {"type": "string", "maxLength": 12}}},
    },
    "required": ["sku", "count"],
}
ORDER = ToolSpec(
    name="place_order",
    description="Place an order.",
    parameters={
        "type": "object",
        "properties": {"items": {"type": "array", "items": ITEM, "minItems": 1, "maxItems": 3}},
        "required": ["items"],
    },
)
FLOW = {
    "nodes": ["triage", "billing", "tech", "manager"],
    "edges": [["__start__", "triage"], ["billing", "manager"], ["tech", "__end__"], ["manager", "__end__"]],
    "branches": [{"source": "triage", "name": "route", "ends": {"money": "billing", "other": "tech"}}],
}
PROMPT = "- If a customer wants their money back, send them to billing.\n- Be brief."


def scenario(name: str, text: str) -> Scenario:
    return Scenario(name=name, turns=(text,), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


def went(*nodes: str) -> AgentTrace:
    route = ("__start__", *nodes, "__end__")
    steps = tuple(Step(action=Action.REASON, node=node) for node in nodes)
    return AgentTrace(steps=steps, edges=tuple(pairwise(route)), outputs=("Done.",))


def known(orchestration: dict[str, object] = FLOW, prompt: str = PROMPT) -> Material:
    config = AgentConfig(prompt=prompt, tools=(ORDER,), orchestration=json.loads(json.dumps(orchestration)))
    suite = (scenario("broken", "My stove A-1042 is broken."), scenario("hello", "Hello there!"))
    return material(
        config, suite, {"broken": (went("triage", "tech"),), "hello": (AgentTrace(outputs=("Hi.",)),)}
    )


def inputs(aim: Aim, of: Material, seed: int = 1) -> list[str]:
    return [str(proposal.turns[-1]) for proposal in proposals(aim, of, (), seed)]


@pytest.mark.parametrize("boundary", boundaries(ORDER)[0], ids=lambda each: each.item.name)
def test_every_limit_of_a_list_of_objects_and_inside_of_it_gets_arguments_that_are_on_it(
    boundary: Boundary,
) -> None:
    assert values_on(str(boundary.item), ORDER, known(), 1)


def test_a_limit_inside_is_asked_for_in_words_and_as_it_is_written() -> None:
    item = "boundary place_order.items[].count maximum"
    aim = Aim(AimKind.BOUNDARY, item, "place_order", "items[].count", 5, has_value=True)
    assert inputs(aim, known())[:2] == [
        "Please place an order. The items are sku tent with count 5.",
        'Please place an order. The items are [{"count":5,"sku":"tent"}].',
    ]
    assert in_plain_words({"ids": ["a", "b"], "paid": True}) == "ids a and b with paid yes"


def test_an_edge_is_aimed_at_from_the_scenarios_that_come_near_with_the_words_of_prompt_and_branch() -> None:
    aim = Aim(AimKind.EDGE, "edge triage -> billing", source="triage", target="billing")
    found = inputs(aim, known())
    assert found[0] == "I want my money back."
    assert "My stove A-1042 is broken. I want my money back." in found
    assert "It is about money." in found, "the label of the branch"
    assert "My stove A-9999 is broken." in found, "another figure"
    assert not any(text.startswith("Hello there! I want") for text in found), "its run did not come to triage"
    assert found == inputs(aim, known()) != inputs(aim, known(), seed=2)


def test_a_node_behind_another_is_aimed_at_by_the_first_edge_that_nothing_took() -> None:
    node = Aim(AimKind.NODE, "node manager", target="manager")
    assert inputs(node, known())[0] == "I want my money back."
    edge = Aim(AimKind.EDGE, "edge billing -> manager", source="billing", target="manager")
    assert "It is about money." in inputs(edge, known())


def test_a_condition_that_the_flow_states_and_a_handoff_are_put_into_words() -> None:
    flow = FLOW | {"routes": {"money": "the customer asks for a refund"}}
    aim = Aim(AimKind.EDGE, "edge triage -> billing", source="triage", target="billing")
    assert inputs(aim, known(flow, ""))[0] == "I would like a refund."
    handed = {"nodes": ["triage", "cook"], "edges": [["__start__", "triage"]],
              "handoffs": {"triage": {"place_order": "cook"}}}  # fmt: skip
    edge = Aim(AimKind.EDGE, "edge triage -> cook", source="triage", target="cook")
    assert inputs(edge, known(handed, ""))[0] == "Please place an order."


def test_a_list_that_nobody_would_spell_out_is_not_made() -> None:
    items = {"type": "array", "items": ITEM, "minItems": 10**9}
    huge = ORDER.model_copy(update={"parameters": {"type": "object", "properties": {"items": items}}})
    assert values_on("boundary place_order.items[].count maximum", huge, known(), 1) == ()


def test_what_is_not_covered_of_a_graph_is_aimed_at_and_named() -> None:
    of = known()
    coverage = measure({"broken": (went("triage", "tech"),)}, of.config, CoverageSettings())
    aims = {aim.item: aim for weak in weaknesses(coverage, {}, (), None) for aim in weak.aims}
    assert aims["edge triage -> billing"].in_words == "a run that goes from triage to billing"
    assert aims["edge manager -> __end__"].in_words == "a run that goes from manager to the end"
    assert aims["node manager"].in_words == "a run that enters manager"
    assert "boundary place_order.items[].count maximum" in aims
    assert "edge triage -> tech" not in aims


def test_a_model_that_a_node_has_is_aimed_at_by_the_way_to_the_node() -> None:
    of = known(FLOW | {"models": {"billing": "gpt-small"}})
    aim = Aim(AimKind.MODEL, "model gpt-small", target="gpt-small")
    assert inputs(aim, of)[0] == "I want my money back."
    assert inputs(aim._replace(target="other"), of) == []


def test_a_model_that_is_only_declared_takes_a_campaign_and_no_input() -> None:
    config = AgentConfig(
        model=ModelConfig(name="big"), orchestration={"nodes": ["a"], "models": {"a": "own"}}
    )
    settings = CoverageSettings(models=("big", "other", "small", "named", "own"))
    coverage = measure({"x": (went("b"),)}, config, settings, CoverageContext())
    assert CoverageItem(dimension=Dimension.MODEL, name="own") in coverage.uncovered
    told = list(without_inputs(coverage, config, ("other",), ("small",)))
    assert [line.partition(": ")[0] for line in told] == ["model other", "model small", "model named"]
    assert "`agentmut run --operator model.swap`" in told[0] and "mutation.swap_models" not in told[0]
    assert "`agentmut run --operator model.downgrade`" in told[1]
    assert "name it in mutation.swap_models" in told[2]
