"""Graphs of several kinds: pipelines, nested graphs, packets, ready-made agents, and what the project file adds."""

import copy
from functools import partial
from operator import add
from typing import Annotated, Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent
from langgraph.types import Command, Send
from pydantic import BaseModel

from agentmut.nouns.config import AgentConfig
from tests.adapters.langgraph_flows import BEFORE, Desk, agent, desk, draft, log, step

pytestmark = pytest.mark.framework


def helper(state: Desk) -> str:
    return state["order"]


def by_helper(state: Desk) -> Desk:
    return {"answer": helper(state)}


def as_a_whole(state: Desk) -> Desk:
    return {**state}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (by_helper, ["order"]),
        (partial(draft), ["order"]),
        (as_a_whole, ["question", "log", "order", "answer"]),
        (copy.copy, ["question", "log", "order", "answer"]),
        (lambda state: {"answer": "no matter"}, []),
    ],
)
def test_what_a_node_reads_is_read_off_its_code(function: Any, expected: list[str]) -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Desk)
        graph.add_node("node", function, input_schema=Desk)
        graph.add_edge(START, "node")
        return graph.compile()

    state = agent(build).adapter.get_config().orchestration.get("state")
    assert state == ({"node": expected} if expected else None)


# Other graphs


def linear(config: AgentConfig) -> Any:
    graph = StateGraph(Desk)
    graph.add_sequence([(name, step(name)) for name in ("one", "two", "three")])
    graph.add_edge(START, "one")
    return graph.compile()


def test_neighbours_of_a_pipeline_trade_places() -> None:
    pipeline = agent(linear)
    for description, expected in (
        ("run two before one", ["two", "one", "three"]),
        ("run three before two", ["one", "three", "two"]),
    ):
        mutant = pipeline.mutant("swap_agents", description)
        execution = pipeline.run(mutant)
        assert log(execution) == expected
        assert pipeline.witnessed(mutant, execution)


def test_a_graph_in_a_node_is_one_node_and_hands_over_through_its_parent() -> None:
    def build(config: AgentConfig) -> Any:
        inner = StateGraph(Desk)
        inner.add_node(
            "think", lambda state: Command(graph=Command.PARENT, goto="billing", update={"log": ["think"]})
        )
        inner.add_edge(START, "think")
        graph = StateGraph(Desk)
        graph.add_node("team", inner.compile(), destinations=("billing", "tech"))
        graph.add_node("billing", step("billing"))
        graph.add_node("tech", step("tech"))
        graph.add_edge(START, "team")
        return graph.compile()

    team = agent(build)
    assert team.adapter.get_config().orchestration["nodes"] == ["team", "billing", "tech"]
    original = team.run()
    assert log(original) == ["think", "billing"]
    assert original.footprint.nodes == ("billing", "team")
    mutant = team.mutant("misdirect_handoff", "hand over from team to tech instead of billing")
    execution = team.run(mutant)
    assert log(execution) == ["think", "tech"]
    assert team.witnessed(mutant, execution)


def test_packets_are_handed_over_elsewhere_with_what_they_carry() -> None:
    def fan(state: Desk) -> Command[Literal["one", "two"]]:
        return Command(goto=[Send("one", {"question": "a"}), Send("one", {"question": "b"})])

    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Desk)
        graph.add_node("fan", fan)
        graph.add_node("one", lambda state: {"log": [f"one {state['question']}"]})
        graph.add_node("two", lambda state: {"log": [f"two {state['question']}"]})
        graph.add_edge(START, "fan")
        return graph.compile()

    fanned = agent(build)
    assert log(fanned.run()) == ["one a", "one b"]
    misdirected = fanned.mutant("misdirect_handoff", "hand over from fan to two instead of one")
    assert log(fanned.run(misdirected)) == ["two a", "two b"]


class Typed(BaseModel):
    question: str = ""
    log: Annotated[list[str], add] = []
    order: str | None = "A-1"


def test_a_state_of_pydantic_models_loses_keys_too() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Typed)
        graph.add_node("draft", lambda state: {"log": [f"order {state.order}"]})
        graph.add_edge(START, "draft")
        return graph.compile()

    typed = agent(build)
    mutant = typed.mutant("drop_state", "do not pass order to the node draft")
    execution = typed.run(mutant, {"question": "?", "order": "A-2"})
    assert log(execution) == ["order None"]
    assert typed.witnessed(mutant, execution)


class Notes(AgentMiddleware[Any, Any]):
    def before_agent(self, state: Any, runtime: Any) -> None:
        """Does nothing, in a node of its own."""


@tool
def look_up(order: str) -> str:
    """Look up an order."""
    return order


def by_create_agent(config: AgentConfig) -> Any:
    model = GenericFakeChatModel(messages=iter(["Hello."]))
    return create_agent(model, [], middleware=[Notes()])


def test_the_loop_of_create_agent_is_left_alone() -> None:
    assistant = agent(by_create_agent)
    assert assistant.adapter.get_config().orchestration == {
        "max_steps": 9999,
        "nodes": ["Notes.before_agent"],
    }
    assert [mutant.description for mutant in assistant.generation.mutants] == [
        "stop a run after 10 steps instead of the framework's own limit",
        "stop a run after 4 steps instead of the framework's own limit",
        "skip the node Notes.before_agent",
    ]
    skipped = assistant.generation.mutants[-1]
    execution = assistant.run(skipped, "Hi")
    assert execution.trace.output == "Hello."
    assert assistant.witnessed(skipped, execution)
    assert "model" in execution.footprint.nodes


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_the_loop_of_the_older_ready_made_agent_is_left_alone() -> None:
    model = GenericFakeChatModel(messages=iter(()))
    found = agent(lambda config: create_react_agent(model, [], pre_model_hook=lambda state: state))
    assert found.adapter.get_config().orchestration == {"max_steps": 10007, "nodes": ["pre_model_hook"]}


def test_a_tool_node_is_not_skipped() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("think", lambda state: {"messages": [("ai", "Done.")]})
        graph.add_node("act", ToolNode([look_up]))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", lambda state: "end", {"act": "act", "end": END})
        return graph.compile()

    reasons = agent(build).dropped()
    assert "act is a tool node: without it calls have no results" in reasons["skip the node act"]


def test_a_graph_keeps_how_it_was_compiled() -> None:
    saver = InMemorySaver()
    stopped = agent(lambda config: desk(config, checkpointer=saver, interrupt_before=["draft"], name="desk"))
    mutant = stopped.mutant("misdirect_handoff", "hand over from triage to tech instead of billing")
    assert log(stopped.run(mutant)) == [*BEFORE, "triage", "tech"]
