"""Doubles that answer in the place of a LangGraph agent's tools."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.scenario import ToolDouble
from agentmut.trial.calls.doubles import resolve
from tests.adapters.langgraph_agents import CONFIG, Factory, chat, run

pytestmark = pytest.mark.framework


def doubles(**named: Any) -> dict[str, Any]:
    return {name: resolve(ToolDouble(**given)) for name, given in named.items()}


real_calls: list[str] = []


@tool
def refund(order: str, amount: float = 1.0) -> str:
    """Send money."""
    real_calls.append(order)
    return "real money"


def refunding(url: str, **options: Any) -> Factory:
    def build(config: AgentConfig) -> Any:
        return create_agent(chat(url, config), [refund], **options)

    return build


def in_subgraph(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("agent", refunding(url)(config))
        graph.add_edge(START, "agent")
        return graph.compile()

    return build


def in_plain_graph(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        bound = chat(url, config).bind_tools([refund])
        graph = StateGraph(MessagesState)
        graph.add_node("think", lambda state: {"messages": [bound.invoke(state["messages"])]})
        graph.add_node("act", ToolNode([refund]))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
        graph.add_edge("act", "think")
        return graph.compile()

    return build


async def late_double(order: str, amount: float) -> str:
    await asyncio.sleep(0.01)
    return f"late {order} {amount}"


def quick_double(order: str, amount: float) -> dict[str, Any]:
    return {"order": order, "amount": amount}


@pytest.mark.parametrize("make", [refunding, in_subgraph, in_plain_graph])
@pytest.mark.parametrize(
    ("double", "answers"),
    [
        (resolve(ToolDouble(returns={"ok": True})), ['{"ok": true}'] * 2),
        (resolve(ToolDouble(returns="fine")), ["fine"] * 2),
        (late_double, ["late A 2.5", "late B 1.0"]),
        (quick_double, ['{"order": "A", "amount": 2.5}', '{"order": "B", "amount": 1.0}']),
    ],
)
def test_a_double_answers_parallel_calls_and_the_real_tool_is_never_called(
    make: Any, double: Any, answers: list[str], service: Any, calls: Any
) -> None:
    real_calls.clear()
    service.replies(calls(("refund", '{"order": "A", "amount": 2.5}'), ("refund", '{"order": "B"}')), "Done.")
    adapter = LangGraphAdapter(make(service.url), CONFIG, "here:build")
    assert adapter.doubled_tools() == {"refund"}
    execution = run(make(service.url), doubles={"refund": double})
    assert execution.ending is Ending.ANSWERED
    assert real_calls == []
    steps = sorted(execution.trace.tool_calls, key=lambda step: step.call_id or "")
    assert [step.output for step in steps] == answers
    assert [(step.arguments or {})["order"] for step in steps] == ["A", "B"]
    assert [m.text for m in service.requests[1].messages if m.role == "tool"] == answers


def test_without_a_double_the_same_graph_calls_the_real_tool(service: Any, calls: Any) -> None:
    built = refunding(service.url)(CONFIG)  # one graph, handed out again and again
    real_calls.clear()
    for doubled in (doubles(refund={"returns": "fake"}), {}, doubles(refund={"returns": "fake"})):
        service.replies(calls(("refund", '{"order": "A"}')), "Done.")
        run(lambda config: built, doubles=doubled)
    assert real_calls == ["A"]


def test_a_double_that_raises_is_the_tools_own_failure(service: Any, calls: Any) -> None:
    service.replies(calls(("refund", '{"order": "A"}')), "Done.")
    execution = run(refunding(service.url), doubles=doubles(refund={"raises": "card expired"}))
    assert execution.ending is Ending.RAISED
    assert execution.trace.tool_calls[0].error == "ToolDoubleError: card expired"


def test_a_tool_that_tells_the_model_of_its_failures_lets_its_double_do_so(service: Any, calls: Any) -> None:
    @tool
    def careful(order: str) -> str:
        """Refuse politely."""
        raise ToolException("no")

    careful.handle_tool_error = True
    service.replies(calls(("careful", '{"order": "A"}')), "Done.")
    execution = run(
        lambda config: create_agent(chat(service.url, config), [careful]),
        doubles=doubles(careful={"raises": "card expired"}),
    )
    assert execution.ending is Ending.ANSWERED
    assert "card expired" in service.requests[1].messages[-1].text
    assert execution.trace.tool_calls[0].error == "card expired"


def test_doubles_are_not_given_what_the_framework_injects(service: Any, calls: Any) -> None:
    @tool
    def stateful(
        order: str, state: Annotated[Any, InjectedState], call: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Use the state."""
        return "real"

    service.replies(calls(("stateful", '{"order": "A"}')), "Done.")
    execution = run(
        lambda config: create_agent(chat(service.url, config), [stateful]),
        doubles={"stateful": lambda order: f"doubled {order}"},
    )
    assert execution.trace.tool_calls[0].output == "doubled A"
    assert execution.trace.tool_calls[0].arguments == {"order": "A"}


def test_the_agents_own_tool_wrapper_still_runs_around_a_double(service: Any, calls: Any) -> None:
    seen: list[str] = []

    def wrapper(request: Any, execute: Any) -> Any:
        seen.append(request.tool_call["name"])
        return execute(request)

    def build(config: AgentConfig) -> Any:
        bound = chat(service.url, config).bind_tools([refund])
        graph = StateGraph(MessagesState)
        graph.add_node("think", lambda state: {"messages": [bound.invoke(state["messages"])]})
        graph.add_node("act", ToolNode([refund], wrap_tool_call=wrapper))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
        graph.add_edge("act", "think")
        return graph.compile()

    for doubled, answer in ((doubles(refund={"returns": "fake"}), "fake"), ({}, "real money")):
        service.replies(calls(("refund", '{"order": "A"}')), "Done.")
        assert run(build, doubles=doubled).trace.tool_calls[0].output == answer
    assert seen == ["refund", "refund"]
