"""LangGraph graphs that stop to ask, and what their next turn is to them."""

import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.nouns.config import AgentConfig, History
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import Action
from tests.adapters.langgraph_agents import CONFIG, Factory, chat, run

pytestmark = pytest.mark.framework


def asks(*names: str, checkpointer: Any = None, **compiling: Any) -> Factory:
    """Each node asks for its name, at once with the others, and says what it was told."""

    def node(name: str) -> Any:
        return lambda state: {"messages": [("assistant", f"{name}: {interrupt({'what': name})}")]}

    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("begin", lambda state: {})
        graph.add_edge(START, "begin")
        for name in names:
            graph.add_node(name, node(name))
            graph.add_edge("begin", name)
        return graph.compile(checkpointer=checkpointer, **compiling)

    return build


def test_the_question_is_the_output_and_the_next_turn_the_reply() -> None:
    execution = run(asks("size", checkpointer=InMemorySaver()), "A tent, please.", {"people": 2}, "Another.")
    assert execution.ending is Ending.ANSWERED
    assert execution.trace.outputs == ({"what": "size"}, "size: {'people': 2}", {"what": "size"})
    assert execution.trace.edges == ((START, "begin"), ("begin", "size"), ("size", END))


def test_a_run_that_waits_has_not_come_to_the_end() -> None:
    trace = run(asks("size", checkpointer=InMemorySaver()), "A tent, please.").trace
    assert trace.outputs == ({"what": "size"},)
    assert trace.edges == ((START, "begin"), ("begin", "size"))


@pytest.mark.parametrize(
    ("reply", "told"), [("both", ("both", "both")), (["red", 2], ("red", "2")), ([1], ("[1]", "[1]"))]
)
def test_several_questions_are_answered_at_once_or_each_by_its_own(reply: Any, told: tuple[str, str]) -> None:
    (first, last) = run(asks("colour", "size", checkpointer=InMemorySaver()), "Hi", reply).trace.outputs
    assert first == [{"what": "colour"}, {"what": "size"}]
    assert last == f"size: {told[1]}"


def test_without_a_checkpointer_a_question_can_be_asked_but_not_answered() -> None:
    assert run(asks("size"), "Hi").trace.outputs == ({"what": "size"},)
    execution = run(asks("size"), "Hi", "Two.")
    assert execution.ending is Ending.UNBUILDABLE
    assert "has no checkpointer, so that no further turn can reply to it" in execution.reason


def test_a_turn_without_the_earlier_ones_is_no_reply() -> None:
    dropped = CONFIG.model_copy(update={"history": History.DROPPED})
    execution = run(asks("size", checkpointer=InMemorySaver()), "Hi", "Two.", config=dropped)
    assert execution.trace.outputs == ({"what": "size"}, {"what": "size"})


def test_a_graph_in_a_node_asks_through_the_outer_one() -> None:
    def build(config: AgentConfig) -> Any:
        outer = StateGraph(MessagesState)
        outer.add_node("shop", asks("size")(config))
        outer.add_edge(START, "shop")
        return outer.compile(checkpointer=InMemorySaver())

    trace = run(build, "Hi", "Two.").trace
    assert trace.outputs == ({"what": "size"}, "size: Two.")
    assert set(trace.edges) == {
        (START, "shop"), ("shop", END), ("shop/__start__", "shop/begin"), ("shop/begin", "shop/size"),
        ("shop/size", "shop/__end__"),
    }  # fmt: skip


@tool
def pay(amount: int) -> str:
    """Pay money back, if somebody agrees."""
    return f"{amount}: {interrupt(f'Pay {amount}?')}"


def test_a_tool_that_asks_is_one_call_without_an_error(service: Any, calls: Any) -> None:
    def build(config: AgentConfig) -> Any:
        return create_agent(chat(service.url, config), [pay], checkpointer=InMemorySaver())

    service.replies(calls(("pay", '{"amount": 5}')), "Paid.")
    waiting = run(build, "Money back!").trace
    assert waiting.outputs == ("Pay 5?",)
    (call,) = waiting.tool_calls
    assert (call.arguments, call.output, call.error) == ({"amount": 5}, None, None)

    service.replies(calls(("pay", '{"amount": 5}')), "Paid.")
    trace = run(build, "Money back!", "agreed").trace
    assert trace.outputs == ("Pay 5?", "Paid.")
    (call,) = trace.tool_calls
    assert (call.output, call.call_id, call.turn, call.node) == ("5: agreed", "call_0", 1, "tools")
    assert sum(step.action is Action.REASON for step in trace.steps) == 2


def test_a_call_that_nobody_replied_to_is_kept_though_a_service_gives_its_id_again(
    service: Any, calls: Any
) -> None:
    def build(config: AgentConfig) -> Any:
        return create_agent(chat(service.url, config), [pay], checkpointer=InMemorySaver())

    service.replies(calls(("pay", '{"amount": 5}')))
    dropped = CONFIG.model_copy(update={"history": History.DROPPED})
    asked = run(build, "Money back!", "Money back!", config=dropped).trace.tool_calls
    assert [(call.turn, call.call_id) for call in asked] == [(0, "call_0"), (1, "call_0")]


def test_a_graph_with_breakpoints_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        build = asks("size", checkpointer=InMemorySaver(), interrupt_before=["size"])
        LangGraphAdapter(build, CONFIG, "here:build").as_built()
    assert "here:build stop at interrupt_before=['size'], and no turn makes them go on" in caplog.text
