"""What runs of real LangGraph agents leave in the trace: steps, outputs and how they ended."""

from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from pydantic import BaseModel

from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import Action
from tests.adapters.langgraph_agents import (
    CONFIG,
    HONEST,
    by_create_agent,
    by_graph,
    by_sync_graph,
    chat,
    look_up,
    run,
)

pytestmark = pytest.mark.framework


@pytest.mark.parametrize("make", HONEST)
def test_parallel_calls_of_one_tool_stay_apart(make: Any, service: Any, calls: Any) -> None:
    wanted = [("slow", '{"order": "A"}'), ("slow", '{"order": "B"}'), ("look_up", '{"order": "C"}')]
    service.replies(calls(*wanted), "Done.")
    trace = run(make(service.url)).trace
    found = {(s.tool, s.call_id): (s.arguments, s.output) for s in trace.tool_calls}
    assert found == {
        ("slow", "call_0"): ({"order": "A"}, "slow A"),
        ("slow", "call_1"): ({"order": "B"}, "slow B"),
        ("look_up", "call_2"): ({"order": "C"}, "C of t1"),
    }
    slow = [step for step in trace.tool_calls if step.tool == "slow"]
    assert all(step.seconds >= 0.2 for step in slow)
    assert max(step.started for step in slow) < min(step.started + step.seconds for step in slow)
    nodes = {step.node for step in trace.tool_calls}
    assert nodes == ({"act"} if make in (by_graph, by_sync_graph) else {"tools"})
    assert trace.output == "Done."


def test_calls_are_told_apart_though_a_service_gives_their_ids_again(service: Any, calls: Any) -> None:
    service.replies(
        calls(("look_up", '{"order": "A"}')),
        calls(("look_up", "{}")),
        calls(("slow", '{"order": "A"}')),
        "Done.",
    )
    steps = run(by_create_agent(service.url)).trace.tool_calls
    assert [(step.tool, step.output, bool(step.error)) for step in steps] == [
        ("look_up", "A of t1", False),
        ("look_up", None, True),
        ("slow", "slow A", False),
    ]
    assert {step.call_id for step in steps} == {"call_0"}


def test_model_calls_have_usage_model_node_and_price(service: Any, calls: Any) -> None:
    service.replies(calls(("look_up", '{"order": "A"}')), "Done.")
    trace = run(by_create_agent(service.url)).trace
    thought = [step for step in trace.steps if step.action is Action.REASON]
    assert [(s.usage.input_tokens, s.usage.output_tokens) for s in thought] == [(7, 3), (7, 3)]
    assert {(s.model, s.node) for s in thought} == {("sim-large", "model")}
    kinds = [step.action.value for step in trace.steps]
    assert kinds == ["reason", "call_tool", "reason", "respond"]
    assert all(step.seconds > 0 for step in thought)


def test_a_tool_that_raises_is_a_step_with_its_error(service: Any, calls: Any) -> None:
    service.replies(calls(("pay", '{"amount": 500}')), "Done.")
    execution = run(by_create_agent(service.url))
    (step,) = execution.trace.tool_calls
    assert (step.tool, step.arguments, step.error) == ("pay", {"amount": 500}, "ValueError: too much")
    assert execution.ending is Ending.RAISED


def test_a_tool_called_with_invalid_arguments_tells_the_model(service: Any, calls: Any) -> None:
    service.replies(calls(("pay", '{"amount": "a lot"}'), ("nonsense", "{}")), "Done.")
    execution = run(by_create_agent(service.url))
    assert execution.ending is Ending.ANSWERED
    told = [message.text for message in service.requests[1].messages[-2:]]
    assert "valid number" in told[0]
    assert "nonsense is not a valid tool" in told[1]


def test_a_failing_model_is_infrastructure_and_not_activity(service: Any) -> None:
    service.answer = lambda request: 500
    execution = run(by_create_agent(service.url))
    assert execution.ending is Ending.INFRASTRUCTURE
    (step,) = execution.trace.steps
    assert step.error is not None
    service.answer = lambda request: 404
    assert run(by_graph(service.url, sync=True)).ending is Ending.REFUSED


@pytest.mark.parametrize("checkpointer", [True, False])
def test_later_turns_see_the_conversation_so_far_once(checkpointer: bool, service: Any) -> None:
    saver = InMemorySaver() if checkpointer else None
    factory = by_graph(service.url, checkpointer=saver)
    service.answer = lambda request: f"Answer {sum(m.role == 'user' for m in request.messages)}."
    for _ in range(2):  # the second trial knows nothing of the first, though they share the checkpointer
        service.requests.clear()
        trace = run(factory, "One?", "Two?", "Three?").trace
        assert trace.outputs == ("Answer 1.", "Answer 2.", "Answer 3.")
        last = [(m.role.value, m.text) for m in service.requests[-1].messages[1:]]
        assert last == [
            ("user", "One?"), ("assistant", "Answer 1."), ("user", "Two?"), ("assistant", "Answer 2."),
            ("user", "Three?"),
        ]  # fmt: skip
        assert [step.turn for step in trace.steps] == [0, 0, 1, 1, 2, 2]


class Verdict(BaseModel):
    refund: bool
    reason: str


def test_structured_output_is_the_output(service: Any, calls: Any) -> None:
    def build(config: AgentConfig) -> Any:
        return create_agent(chat(service.url, config), [look_up], response_format=ToolStrategy(Verdict))

    service.replies(calls(("Verdict", '{"refund": true, "reason": "broken"}')))
    assert run(build).trace.output == {"refund": True, "reason": "broken"}


def test_a_graph_without_messages_takes_and_returns_its_state() -> None:
    class State(TypedDict, total=False):
        question: str
        answer: str

    def build(config: AgentConfig) -> Any:
        graph = StateGraph(State)
        graph.add_node("n", lambda state: {"answer": state["question"].upper()})
        graph.add_edge(START, "n")
        return graph.compile()

    assert run(build, {"question": "why"}).trace.output == {"question": "why", "answer": "WHY"}


def test_a_graph_that_adds_no_message_has_answered_nothing() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("n", lambda state: {})
        graph.add_edge(START, "n")
        return graph.compile()

    execution = run(build, "I want a refund.")
    assert execution.trace.output == ""
    assert execution.ending is not Ending.ANSWERED


def test_parallel_branches_and_subgraph_nodes_are_named(service: Any) -> None:
    def build(config: AgentConfig) -> Any:
        chatting = chat(service.url, config)

        async def ask(state: Any) -> Any:
            return {"messages": [await chatting.ainvoke("x")]}

        graph = StateGraph(MessagesState)
        graph.add_node("one", ask)
        graph.add_node("two", ask)
        graph.add_conditional_edges(START, lambda state: [Send("one", state), Send("two", state)])
        return graph.compile()

    trace = run(build).trace
    assert sorted(str(s.node) for s in trace.steps if s.action is Action.REASON) == ["one", "two"]


def test_the_simulator_serves_a_whole_agent(simulator_url: str) -> None:
    execution = run(by_create_agent(simulator_url), "Please look up order A-1042 for me.")
    assert execution.ending is Ending.ANSWERED
    assert "look_up" in execution.trace.tools_called
    assert execution.trace.usage.total > 0
    unknown = CONFIG.model_copy(update={"model": ModelConfig(name="gpt-5.2")})
    assert run(by_create_agent(simulator_url), "Hello", config=unknown).ending is Ending.REFUSED


def test_messages_given_as_state_reach_the_graph(service: Any) -> None:
    given = {"messages": [{"role": "user", "content": "as state"}]}
    run(by_graph(service.url), given)
    assert service.requests[0].messages[-1].text == "as state"
