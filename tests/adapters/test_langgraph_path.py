"""Nodes and edges that a run of a real LangGraph graph took, whatever its shape."""

import asyncio
from collections.abc import Callable
from operator import add
from typing import Annotated, Any, Literal, TypedDict

import pytest
from httpx2 import AsyncClient  # LangChain's own outlives the event loop
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send

from agentmut.adapters.langgraph import LangGraphAdapter, bind_tools, model_settings
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import read_tool
from agentmut.recording.threads import TrialThreads
from agentmut.testing import check_adapter
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

pytestmark = pytest.mark.framework

LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


class Log(TypedDict, total=False):
    log: Annotated[list[str], add]


def step(name: str) -> Any:
    return lambda state: {"log": [name]}


def run(build: Callable[[AgentConfig], Any], *turns: Any, config: AgentConfig | None = None) -> Execution:
    async def once() -> Execution:
        adapter = LangGraphAdapter(build, config or AgentConfig(), "here:build").as_built()
        scenario = Scenario(name="s", turns=turns or ({"log": []},), evaluators=(EvaluatorSpec(name="x"),))
        with Tap(all_codecs()).installed():
            return await attempt(adapter, Case(scenario, {}), "t1", 0, 600.0)

    return LOOP.run_until_complete(once())


def in_a_row(*names: str) -> Any:
    graph = StateGraph(Log)
    for name in names:
        graph.add_node(name, step(name))
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile()


def test_a_branch_shows_the_way_that_was_taken() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Log)
        for name in ("triage", "money", "other"):
            graph.add_node(name, step(name))
        graph.add_edge(START, "triage")
        graph.add_conditional_edges("triage", lambda state: "money", ["money", "other"])
        return graph.compile()

    found = run(build)
    assert found.trace.edges == ((START, "triage"), ("triage", "money"), ("money", END))
    assert found.footprint.nodes == ("money", "triage")


def test_a_hand_over_and_graphs_in_nodes_and_functions_are_named_after_their_nodes() -> None:
    inner = in_a_row("x", "y")

    def triage(state: Log) -> Command[Literal["sub", "called"]]:
        return Command(goto=["sub", "called"])

    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Log)
        graph.add_node("triage", triage)
        graph.add_node("sub", inner)
        graph.add_node("called", lambda state: {"log": inner.invoke({"log": []})["log"]})
        graph.add_node("last", step("last"))
        graph.add_edge(START, "triage")
        graph.add_edge(["sub", "called"], "last")
        return graph.compile()

    found = run(build)
    assert set(found.trace.edges) == {
        (START, "triage"), ("triage", "sub"), ("triage", "called"), ("sub", "last"), ("called", "last"),
        ("last", END), ("sub/__start__", "sub/x"), ("sub/x", "sub/y"), ("sub/y", "sub/__end__"),
        ("called/__start__", "called/x"), ("called/x", "called/y"), ("called/y", "called/__end__"),
    }  # fmt: skip
    assert found.footprint.nodes == ("called", "last", "sub", "triage")  # what can be changed of the flow


def test_of_nodes_that_ran_at_once_those_count_that_lead_on() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Log)
        for name in ("left", "right", "after_left", "after_right", "picked"):
            graph.add_node(name, step(name))
        graph.add_edge(START, "left")
        graph.add_edge(START, "right")
        graph.add_edge("left", "after_left")
        graph.add_edge("right", "after_right")
        graph.add_conditional_edges("right", lambda state: "picked", ["picked", END])
        return graph.compile()

    assert set(run(build).trace.edges) == {
        (START, "left"), (START, "right"), ("left", "after_left"), ("right", "after_right"),
        ("right", "picked"), ("after_left", END), ("after_right", END), ("picked", END),
    }  # fmt: skip


def test_what_is_sent_several_times_and_a_loop_are_edges_once() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Log)
        graph.add_node("plan", step("plan"))
        graph.add_node("work", step("work"))
        graph.add_edge(START, "plan")

        def sent(state: Log) -> Any:
            return [Send("work", {}), Send("work", {})] if len(state["log"]) < 4 else END

        graph.add_conditional_edges("plan", sent, ["work", END])
        graph.add_edge("work", "plan")
        return graph.compile()

    assert run(build).trace.edges == (
        (START, "plan"), ("plan", "work"), ("work", "plan"), ("plan", END)
    )  # fmt: skip


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
def test_each_turn_begins_at_the_start(checkpointer: Any) -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Log)
        graph.add_node("a", step("a"))
        graph.add_node("b", step("b"))
        graph.add_edge(START, "a")
        graph.add_edge("a", "b")
        return graph.compile(checkpointer=checkpointer)

    found = run(build, {"log": ["one"]}, {"log": ["two"]})
    assert found.trace.edges == ((START, "a"), ("a", "b"), ("b", END))


@tool
def look_up(order: str) -> str:
    """Look up an order by its number."""
    return f"{order} is on its way"


CONFIG = AgentConfig(
    prompt="You help customers. Look up the order before you answer.",
    tools=(read_tool(look_up),),
    model=ModelConfig(name="sim-large"),
)


def desk(config: AgentConfig) -> Any:
    """A ready-made agent in a node, which a branch leads to; with its state checkpointed."""
    chat = ChatOpenAI(api_key="k", max_retries=0, http_async_client=AsyncClient(), **model_settings(config))
    own = bind_tools(config, [look_up])
    graph = StateGraph(MessagesState)
    graph.add_node("greet", lambda state: {})
    graph.add_node("agent", create_agent(chat, own, system_prompt=config.system_text()))
    graph.add_edge(START, "greet")
    graph.add_conditional_edges("greet", lambda state: "agent", ["agent", END])
    return graph.compile(checkpointer=InMemorySaver())


def by_hand(config: AgentConfig) -> Any:
    """The loop of model and tools as a graph of one's own, in a graph."""
    chat: Any = ChatOpenAI(
        api_key="k", max_retries=0, http_async_client=AsyncClient(), **model_settings(config)
    )
    own = bind_tools(config, [look_up])
    bound = chat.bind_tools(own) if own else chat
    graph = StateGraph(MessagesState)
    system = ("system", config.system_text())
    graph.add_node("think", lambda state: {"messages": [bound.invoke([system, *state["messages"]])]})
    graph.add_node("tools", ToolNode(own))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    outer = StateGraph(MessagesState)
    outer.add_node("desk", graph.compile())
    outer.add_edge(START, "desk")
    return outer.compile()


def test_steps_in_a_graph_in_a_node_say_where_they_are(
    service: Any, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    called = ("look_up", '{"order": "A-1"}'), ("look_up", '{"order": "B-2"}')
    for build, nodes in ((desk, ("agent/model", "agent/tools")), (by_hand, ("desk/think", "desk/tools"))):
        service.replies(calls(*called), "On their way.")
        found = run(build, "Where are they?", config=CONFIG)
        assert found.ending is Ending.ANSWERED
        model, tools = nodes
        assert [step.node for step in found.trace.steps] == [model, tools, tools, model, None]
        assert {(model, tools), (tools, model)} <= set(found.trace.edges)


def test_a_graph_of_one_s_own_in_a_node_is_a_sound_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    check_adapter(
        lambda: LangGraphAdapter(by_hand, CONFIG, "here:build").as_built(),
        turns=["Where is order A-1042?"],
        expect_tools=["look_up"],
    )
