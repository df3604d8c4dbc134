"""Items of a tool's results in another order: an agent that takes the first is found, one that searches is not."""

import random
from collections.abc import Callable

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.mutation.tool_faults.answers import spoiled
from agentmut.nouns import Action, AgentConfig, AgentTrace, EvaluatorSpec, Scenario, Source, Step, ToolSpec
from agentmut.nouns.mutant import apply_edits
from agentmut.nouns.relation import Pair
from agentmut.seams.plugins import load
from agentmut.testing import check_relation

CONFIG = AgentConfig(
    prompt="You help customers.", tools=(ToolSpec(name="lookup"), ToolSpec(name="list_orders"))
)
ORDERS = [{"id": "A-1001", "late": False}, {"id": "A-1007", "late": True}, {"id": "A-1003", "late": False}]
ANY = (EvaluatorSpec(name="regex", argument="."),)
RELATION = load("relations", "permutation.result_order")


def the_late_one(orders: list[dict[str, object]]) -> str:
    return next(str(one["id"]) for one in orders if one["late"])


def the_first_one(orders: list[dict[str, object]]) -> str:
    return str(orders[0]["id"])


def run(choose: Callable[[list[dict[str, object]]], str], config: AgentConfig) -> AgentTrace:
    """An agent that asks for its orders once and names one of them."""
    fault = config.tools[1].fault
    found = spoiled(fault.kind, ORDERS, first=None) if fault else ORDERS
    call = Step(action=Action.CALL_TOOL, tool="list_orders", output=found)
    said = f"Order {choose(found)} is late."
    return AgentTrace(steps=(call, Step(action=Action.RESPOND, output=said)), outputs=(said,))


def source(asked: str, trace: AgentTrace, config: AgentConfig = CONFIG) -> Source:
    return Source(Scenario(name="s", turns=(asked,), evaluators=ANY), config, trace, random.Random(1))


@pytest.mark.parametrize(("choose", "holds"), [(the_late_one, True), (the_first_one, False)])
def test_who_takes_the_first_item_is_found(choose: Callable[..., str], holds: bool) -> None:
    given = source("Which of my orders is late?", run(choose, CONFIG))
    follow = RELATION(None).follow_up(given)
    changed = apply_edits(CONFIG, follow.runs[0].edits)
    assert [tool.fault is None for tool in changed.tools] == [True, False]
    compare = comparison_for(given.scenario)
    pair = Pair(given.scenario, CONFIG, given.trace, follow, (run(choose, changed),), compare)
    assert RELATION(None).holds(pair).passed is holds


@pytest.mark.parametrize(
    ("asked", "prompt", "output"),
    [
        ("Show me the last one.", "You help.", ["a", "b"]),
        ("Which is late?", "List orders sorted by date.", ["a", "b"]),
        ("Which is late?", "You help.", ["a"]),
        ("Which is late?", "You help.", "Sent."),
    ],
)
def test_places_that_are_spoken_of_and_results_without_a_list_are_left_alone(
    asked: str, prompt: str, output: object
) -> None:
    call = Step(action=Action.CALL_TOOL, tool="lookup", output=output)
    config = CONFIG.model_copy(update={"prompt": prompt})
    given = source(asked, AgentTrace(steps=(call,), outputs=("Here.",)), config)
    assert RELATION(None).follow_up(given) is None


def test_the_relation_is_sound() -> None:
    check_relation(RELATION)
