"""Real LangGraph agents of many shapes: hand-offs, agents within functions and tools, packets, failures."""

import asyncio
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, Send

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.trace import Action
from tests.adapters.langgraph_agents import CONFIG, Factory, chat, run

pytestmark = pytest.mark.framework

really_called: list[str] = []


@tool
def refund(order: str) -> str:
    """Pay money back."""
    really_called.append(order)
    return f"real money for {order}"


def placed(execution: Execution) -> list[tuple[str, str | None, str | None]]:
    """Kind, node and tool of the steps before the answer."""
    steps = [step for step in execution.trace.steps if step.action is not Action.RESPOND]
    return [(step.action.value, step.node, step.tool) for step in steps]


# Hand-offs


def transfer(agent: str) -> Any:
    @tool(f"transfer_to_{agent}")
    def to(state: Annotated[Any, InjectedState], call: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Hand the customer over."""
        told = [*state["messages"], ToolMessage("Handed over.", tool_call_id=call)]
        return Command(goto=agent, graph=Command.PARENT, update={"messages": told})

    return to


def by_hand(model: Any, tools: list[Any]) -> Any:
    """The loop of model and tools as a graph of one's own."""
    graph = StateGraph(MessagesState)
    bound = model.bind_tools(tools)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


@pytest.mark.parametrize("make", [create_agent, by_hand])
@pytest.mark.parametrize("declared", [{}, {"destinations": ("billing",)}], ids=["undeclared", "declared"])
def test_agents_hand_over_to_each_other(make: Any, declared: Any, service: Any, calls: Any) -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("triage", make(chat(service.url, config), [transfer("billing")]), **declared)
        graph.add_node("billing", make(chat(service.url, config), [refund]))
        graph.add_edge(START, "triage")
        return graph.compile()

    both = calls(("refund", '{"order": "A"}'), ("refund", '{"order": "B"}'), prefix="paid")
    service.replies(calls(("transfer_to_billing", "{}")), both, "Paid.")
    execution = run(build, "Money back!")
    assert placed(execution) == [
        ("reason", "triage/model", None), ("call_tool", "triage/tools", "transfer_to_billing"),
        ("reason", "billing/model", None), ("call_tool", "billing/tools", "refund"),
        ("call_tool", "billing/tools", "refund"), ("reason", "billing/model", None),
    ]  # fmt: skip
    handed, *paid = execution.trace.tool_calls
    assert handed.output == "Handed over."  # what the model is told, not where the graph goes on
    found = {step.call_id: (step.arguments, step.output) for step in paid}
    assert found == {
        "paid_0": ({"order": "A"}, "real money for A"),
        "paid_1": ({"order": "B"}, "real money for B"),
    }
    assert (execution.trace.output, execution.footprint.nodes) == ("Paid.", ("billing", "triage"))
    assert set(execution.trace.edges) == {
        (START, "triage"), ("triage", "billing"), ("billing", END), ("triage/__start__", "triage/model"),
        ("triage/model", "triage/tools"), ("billing/__start__", "billing/model"),
        ("billing/model", "billing/tools"), ("billing/tools", "billing/model"),
        ("billing/model", "billing/__end__"),
    }  # fmt: skip  # the graph of triage never comes to its own end


def test_a_tool_that_answers_in_several_parts_says_what_the_model_is_told(service: Any, calls: Any) -> None:
    @tool
    def note(call: Annotated[str, InjectedToolCallId]) -> Any:
        """Take a note."""
        return [Command(update={"messages": []}), ToolMessage("Noted.", tool_call_id=call)]

    service.replies(calls(("note", "{}")), "Done.")
    execution = run(lambda config: create_agent(chat(service.url, config), [note]), "Note it!")
    assert [(step.output, step.error) for step in execution.trace.tool_calls] == [("Noted.", None)]


# Agents within functions and tools


def in_function(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        agent: Any = create_agent(chat(url, config), [refund])

        def ask(state: MessagesState) -> Any:
            return {"messages": agent.invoke({"messages": state["messages"]})["messages"][-1:]}

        return around(ask)

    return build


def in_async_method(url: str) -> Factory:
    class Desk:
        def __init__(self, config: AgentConfig) -> None:
            self.agent: Any = create_agent(chat(url, config), [refund])

        async def ask(self, state: MessagesState) -> Any:
            answer = await self.agent.ainvoke({"messages": state["messages"]})
            return {"messages": answer["messages"][-1:]}

    return lambda config: around(Desk(config).ask)


def in_helper(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        invoke = create_agent(chat(url, config), [refund]).invoke

        def answer(messages: Any) -> Any:
            return invoke({"messages": messages})["messages"][-1:]

        return around(lambda state: {"messages": answer(state["messages"])})

    return build


def around(node: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("desk", node)
    graph.add_edge(START, "desk")
    return graph.compile()


@pytest.mark.parametrize("make", [in_function, in_async_method, in_helper])
def test_agents_that_functions_call_are_traced_doubled_and_go_wrong(
    make: Any, service: Any, calls: Any
) -> None:
    adapter = LangGraphAdapter(make(service.url), AgentConfig(), "here:build").as_built()
    assert adapter.doubled_tools() == {"refund"}
    assert adapter.get_config().tool_names == ("refund",)
    really_called.clear()
    service.replies(calls(("refund", '{"order": "A"}')), "Paid.")
    execution = run(make(service.url), doubles={"refund": lambda order: f"play money for {order}"})
    assert placed(execution) == [
        ("reason", "desk/model", None), ("call_tool", "desk/tools", "refund"), ("reason", "desk/model", None),
    ]  # fmt: skip
    assert (execution.trace.output, execution.trace.tool_calls[0].output) == ("Paid.", "play money for A")
    faulty = adapter.get_config().tools[0].model_copy(update={"fault": ToolFault(kind=FaultKind.EMPTY)})
    service.replies(calls(("refund", '{"order": "B"}')), "Paid.")
    broken = run(make(service.url), config=CONFIG.model_copy(update={"tools": (faulty,)}))
    assert broken.footprint.marks == ("/tools/refund/fault",)
    assert "real money" not in service.requests[-1].messages[-1].text
    assert really_called == ["B"]


def test_an_agent_that_is_a_tool_is_looked_into(service: Any, calls: Any) -> None:
    def build(config: AgentConfig) -> Any:
        expert: Any = create_agent(chat(service.url, config), [refund])

        @tool
        def ask_expert(question: str) -> str:
            """Ask somebody who knows."""
            return str(expert.invoke({"messages": [("user", question)]})["messages"][-1].text)

        return create_agent(chat(service.url, config), [ask_expert])

    assert LangGraphAdapter(build, CONFIG, "here:build").doubled_tools() == {"ask_expert", "refund"}
    asked = calls(("ask_expert", '{"question": "And now?"}'))
    service.replies(asked, calls(("refund", '{"order": "A"}'), prefix="in"), "Pay.", "We pay.")
    execution = run(build, doubles={"refund": lambda order: f"play money for {order}"})
    assert placed(execution) == [
        ("reason", "model", None), ("call_tool", "tools", "ask_expert"), ("reason", "tools/model", None),
        ("call_tool", "tools/tools", "refund"), ("reason", "tools/model", None), ("reason", "model", None),
    ]  # fmt: skip
    assert [s.output for s in execution.trace.tool_calls] == ["Pay.", "play money for A"]
    assert execution.trace.output == "We pay."


def test_agents_that_name_each_other_are_looked_into_once(service: Any) -> None:
    def build(config: AgentConfig) -> Any:
        agents: dict[str, Any] = {}

        def again(state: MessagesState) -> Any:
            return agents["outer"].invoke(state)

        graph = StateGraph(MessagesState)
        graph.add_node("agent", create_agent(chat(service.url, config), [refund]))
        graph.add_node("again", again)
        graph.add_edge(START, "agent")
        agents["outer"] = graph.compile()
        outer = StateGraph(MessagesState)
        compiled = agents["outer"]
        outer.add_node("first", lambda state: {"messages": compiled.invoke(state)["messages"]})
        outer.add_node("second", compiled)
        outer.add_edge(START, "first")
        return outer.compile()

    assert len(LangGraphAdapter(build, CONFIG, "here:build").get_tools()) == 1


class Touchy:
    """Like a proxy of something that is not there yet: whatever it is asked, it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("working outside of a request")


def test_what_else_a_function_names_is_not_touched(service: Any) -> None:
    def build(config: AgentConfig) -> Any:
        touchy, held = Touchy(), [Touchy()]
        agent: Any = create_agent(chat(service.url, config), [refund])
        return around(lambda state: agent.invoke(state) if touchy and held else {})

    adapter = LangGraphAdapter(build, AgentConfig(), "here:build").as_built()
    assert adapter.get_config().tool_names == ("refund",)


# Packets, tasks and failures


class Words(TypedDict, total=False):
    words: list[str]
    said: Annotated[list[str], add]


def test_packets_that_are_sent_to_one_node_are_steps_of_their_own(service: Any) -> None:
    def build(config: AgentConfig) -> Any:
        async def say(state: Any) -> Any:
            return {"said": [(await chat(service.url, config).ainvoke(state["word"])).text]}

        graph = StateGraph(Words)
        graph.add_node("say", say)
        graph.add_node("join", lambda state: {"said": ["joined"]})
        graph.add_conditional_edges(
            START, lambda state: [Send("say", {"word": w}) for w in state["words"]], ["say"]
        )
        graph.add_edge("say", "join")
        return graph.compile()

    service.answer = lambda request: request.messages[-1].text.upper()
    execution = run(build, {"words": ["a", "b", "c"]})
    assert execution.trace.output == {"words": ["a", "b", "c"], "said": ["A", "B", "C", "joined"]}
    said = [step.output for step in execution.trace.steps if step.node == "say"]
    assert sorted(map(str, said)) == ["A", "B", "C"]
    assert execution.trace.edges == ((START, "say"), ("say", "join"), ("join", END))


def test_functions_of_the_functional_api_are_run(service: Any) -> None:
    @task
    async def think(question: str) -> str:
        return str((await chat(service.url, CONFIG).ainvoke(question)).text)

    @entrypoint()
    async def flow(given: dict[str, str]) -> dict[str, str]:
        return {"answer": await think(given["question"])}

    service.replies("Because.")
    execution = run(lambda config: flow, {"question": "Why?"})
    assert execution.trace.output == {"answer": "Because."}
    assert [step.node for step in execution.trace.steps] == ["flow/think", None]


@pytest.mark.parametrize("when", ["at once", "while a request is under way", "after an answer"])
def test_a_branch_that_fails_ends_the_run_with_what_was_seen(service: Any, when: str) -> None:
    service.silent = when != "after an answer"

    def build(config: AgentConfig) -> Any:
        heard = asyncio.Event()

        async def good(state: MessagesState) -> Any:
            answer = await chat(service.url, config).ainvoke("x")
            heard.set()
            return {"messages": [answer]}

        async def bad(state: MessagesState) -> Any:
            if when == "after an answer":
                await heard.wait()
            while when != "at once" and not service.requests:
                await asyncio.sleep(0.01)
            raise ValueError("out of stock")

        graph = StateGraph(MessagesState)
        graph.add_node("good", good)
        graph.add_node("bad", bad)
        graph.add_edge(START, "good")
        graph.add_edge(START, "bad")
        return graph.compile()

    execution = run(build)
    assert execution.ending is Ending.RAISED
    assert execution.reason.startswith("ValueError: out of stock (")
    assert set(execution.trace.edges) == {(START, "good"), (START, "bad")}
