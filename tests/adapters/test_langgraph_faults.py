"""Real LangGraph agents whose tools go wrong, against a model service on loopback."""

import asyncio
import json
import time
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

pytestmark = pytest.mark.framework

carried_out: list[str] = []
ORDER = {"id": "A-1042", "total": 20.0}


@tool
def look_up(order: str) -> dict[str, Any]:
    """Look up an order."""
    carried_out.append(order)
    return {"id": order, "total": 20.0}


@tool
async def search(order: str) -> str:
    """Search for an order."""
    carried_out.append(order)
    return f"Order {order} was sent."


@tool
def careful(
    order: str, state: Annotated[Any, InjectedState], call: Annotated[str, InjectedToolCallId]
) -> str:
    """Use the state, and tell the model of failures."""
    carried_out.append(order)
    if order == "none":
        raise ToolException("no such order")
    return f"{order} after {len(state['messages'])} messages, {call}"


careful.handle_tool_error = True


@tool(response_format="content_and_artifact")
def documents(order: str) -> Any:
    """Find documents."""
    return f"Two files of {order}", ["raw", order]


@tool
def message(order: str, call: Annotated[str, InjectedToolCallId]) -> ToolMessage:
    """Answer with a message."""
    return ToolMessage([{"type": "text", "text": f"Order {order}"}], tool_call_id=call)


@tool
def command(order: str, call: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Answer with an update of the state."""
    return Command(update={"messages": [ToolMessage(f"Order {order}", tool_call_id=call)]})


class Own(BaseTool):
    """A tool with code of its own."""

    name: str = "own"
    description: str = "Own."

    def _run(self, order: str) -> str:
        carried_out.append(order)
        return f"own {order}"


def run(
    url: str,
    given: BaseTool,
    fault: str,
    doubles: dict[str, Any] | None = None,
    *,
    plain: bool = False,
    **how: Any,
) -> Execution:
    spec = ToolSpec(name=given.name, fault=ToolFault(kind=FaultKind(fault), **how))

    def build(config: AgentConfig) -> Any:
        model = ChatOpenAI(base_url=url, api_key="k", model="sim-large", max_retries=0)
        return in_graph(model, given) if plain else create_agent(model, [given])

    async def once() -> Execution:
        scenario = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            adapter = LangGraphAdapter(build, AgentConfig(tools=(spec,)), "here:build")
            return await attempt(adapter, Case(scenario, doubles or {}), "t1", 0, 600.0)

    carried_out.clear()
    return LOOP.run_until_complete(once())


def in_graph(model: Any, given: BaseTool) -> Any:
    """A graph with a sync node, and a tool node that tells the model of every failure."""
    bound = model.bind_tools([given])
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("act", ToolNode([given], handle_tool_errors=True))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    return graph.compile()


LOOP = asyncio.new_event_loop()  # LangChain's clients belong to one
LOOP.set_default_executor(TrialThreads())


def told(service: Any) -> list[str]:
    """What the model was told of its calls."""
    return [said.text for said in service.requests[-1].messages if said.role == "tool"]


def one_call(service: Any, calls: Any, name: str, order: str = "A-1042") -> None:
    service.requests.clear()
    service.replies(calls((name, json.dumps({"order": order}))), "Done.")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("empty", "{}"),
        ("truncated", '{"id": "A-1042"}'),
        ("malformed", '{"id": "A-1042",'),
        ("wrong_entity", '{"id": "A-4375", "total": 53.0}'),
        ("permission_denied", '{"error": "403 Forbidden: permission denied"}'),
        ("decoy", '{"results": []}'),
        ("slow", '{"id": "A-1042", "total": 20.0}'),
    ],
)
@pytest.mark.parametrize("doubled", [False, True])
def test_the_model_is_told_what_the_fault_leaves(
    kind: str, content: str, doubled: bool, service: Any, calls: Any
) -> None:
    one_call(service, calls, "look_up")
    execution = run(service.url, look_up, kind, {"look_up": lambda order: ORDER} if doubled else None)
    assert execution.ending is Ending.ANSWERED
    assert told(service) == [content]
    (step,) = execution.trace.tool_calls
    assert (step.output, step.error, step.arguments) == (content, None, {"order": "A-1042"})
    assert execution.footprint.marks == ("/tools/look_up/fault",)
    assert carried_out == ([] if doubled or kind in ("permission_denied", "decoy") else ["A-1042"])


@pytest.mark.parametrize("plain", [False, True])
def test_async_tools_and_sync_graphs_have_faults_too(plain: bool, service: Any, calls: Any) -> None:
    for given, content in ((search, "Order A-4375 was sent."), (Own(), "own A-4375")):
        one_call(service, calls, given.name)
        execution = run(service.url, given, "wrong_entity", plain=plain)
        assert told(service) == [content]
        assert execution.footprint.marks == (f"/tools/{given.name}/fault",)
        assert carried_out == ["A-1042"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("error", "ServiceError: 503 Service Unavailable"),
        ("timeout", "ServiceTimeoutError: The read operation timed out"),
    ],
)
@pytest.mark.parametrize("given", [look_up, search])
def test_a_raised_fault_ends_the_run_where_the_tools_own_would(
    kind: str, said: str, given: BaseTool, service: Any, calls: Any
) -> None:
    one_call(service, calls, given.name)
    execution = run(service.url, given, kind)
    assert (execution.ending, execution.reason) == (Ending.RAISED, said)
    assert [step.error for step in execution.trace.tool_calls] == [said]
    assert carried_out == []
    assert execution.footprint.marks == (f"/tools/{given.name}/fault",)


def test_a_node_that_reports_failures_reports_the_fault(service: Any, calls: Any) -> None:
    one_call(service, calls, "look_up")
    execution = run(service.url, look_up, "error", plain=True)
    assert execution.ending is Ending.ANSWERED
    assert told(service) == ["Error: ServiceError('503 Service Unavailable')\n Please fix your mistakes."]


def test_a_tool_that_reports_failures_reports_the_fault_as_it_would_its_own(service: Any, calls: Any) -> None:
    one_call(service, calls, "careful", "none")
    run(service.url, careful, "stale")
    assert told(service) == ["no such order"]
    one_call(service, calls, "careful")
    execution = run(service.url, careful, "timeout")
    assert told(service) == ["The read operation timed out"]
    assert execution.trace.tool_calls[0].error == "The read operation timed out"
    assert execution.ending is Ending.ANSWERED


def test_what_the_framework_injects_still_arrives(service: Any, calls: Any) -> None:
    one_call(service, calls, "careful")
    execution = run(service.url, careful, "slow")
    assert told(service) == ["A-1042 after 2 messages, call_0"]
    assert execution.trace.tool_calls[0].arguments == {"order": "A-1042"}


def test_later_calls_are_answered_with_the_first_result(service: Any, calls: Any) -> None:
    first, second = (
        calls(("look_up", json.dumps({"order": order})), prefix=order) for order in ("A-1", "A-2")
    )
    service.replies(first, second, "Done.")
    execution = run(service.url, look_up, "stale")
    assert told(service) == ['{"id": "A-1", "total": 20.0}'] * 2
    assert carried_out == ["A-1", "A-2"]
    assert execution.footprint.marks == ("/tools/look_up/fault",)
    one_call(service, calls, "look_up")
    assert run(service.url, look_up, "stale").footprint.marks == ()


def test_of_messages_and_artifacts_the_content_goes_wrong(service: Any, calls: Any) -> None:
    for given, content in ((documents, "Two files of A-4375"), (message, "Order A-4375")):
        one_call(service, calls, given.name)
        run(service.url, given, "wrong_entity")
        assert told(service) == [content]
    one_call(service, calls, "documents")
    run(service.url, documents, "permission_denied")
    assert told(service) == ['{"error": "403 Forbidden: permission denied"}']


def test_a_command_has_no_result_that_could_go_wrong(service: Any, calls: Any) -> None:
    one_call(service, calls, "command")
    execution = run(service.url, command, "empty")
    assert told(service) == ["Order A-1042"]
    assert execution.footprint.marks == ()


@pytest.mark.parametrize("given", [look_up, search])
def test_a_slow_tool_is_late(given: BaseTool, service: Any, calls: Any) -> None:
    one_call(service, calls, given.name)
    began = time.perf_counter()
    execution = run(service.url, given, "slow", seconds=0.3)
    assert time.perf_counter() - began >= 0.3
    assert execution.trace.tool_calls[0].seconds >= 0.3


def test_a_renamed_tool_has_the_double_and_the_fault_of_its_own_name(service: Any, calls: Any) -> None:
    @tool
    def find(order: str) -> str:
        """Look up an order under another name."""
        return "real"

    spec = ToolSpec(name="find", implemented_by="look_up", fault=ToolFault(kind=FaultKind.EMPTY))
    one_call(service, calls, "find")

    def build(config: AgentConfig) -> Any:
        return create_agent(ChatOpenAI(base_url=service.url, api_key="k", model="m"), [find])

    async def once() -> Execution:
        scenario = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            adapter = LangGraphAdapter(build, AgentConfig(tools=(spec,)), "here:build")
            return await attempt(adapter, Case(scenario, {"look_up": lambda order: ORDER}), "t", 0, 600.0)

    execution = LOOP.run_until_complete(once())
    assert told(service) == ["{}"]
    assert execution.trace.tools_called == ("look_up",)
    assert execution.footprint.marks == ("/tools/look_up/fault",)


# Which faults can be expressed


FAULTS: list[Operator] = [
    Catalogue.from_group("operators").load(f"tool.result_{kind}")() for kind in ("error", "empty", "slow")
]


def built_by(factory: Any, tools: int) -> LangGraphAdapter:
    config = AgentConfig(tools=tuple(ToolSpec(name=f"t{n}") for n in range(tools)))
    return LangGraphAdapter(factory, config, "here:build")


def test_the_agent_is_built_once_for_all_mutants() -> None:
    built: list[AgentConfig] = []

    def build(config: AgentConfig) -> Any:
        built.append(config)
        model = ChatOpenAI(base_url="http://127.0.0.1:9", api_key="k", model="m")
        return create_agent(model, [look_up])

    adapter = built_by(build, 200)
    generation = generate(adapter.get_config(), FAULTS, OperatorOptions(), adapter.cannot_express)
    assert len(generation.dropped) == 600
    assert generation.dropped[-1].reason == "calls of t199 cannot be intercepted"
    assert len(built) == 1


def test_an_agent_that_cannot_be_built_is_tried_once_and_is_a_reason() -> None:
    tried: list[int] = []

    def build(config: AgentConfig) -> Any:
        tried.append(1)
        raise ValueError("no key")

    adapter = built_by(build, 2)
    generation = generate(adapter.get_config(), FAULTS, OperatorOptions(), adapter.cannot_express)
    reason = "the agent could not be built: agent.factory here:build raised ValueError: no key"
    assert {dropped.reason for dropped in generation.dropped} == {reason}
    assert len(tried) == 1
    removing = [Catalogue.from_group("operators").load("tool.remove")()]
    assert (
        len(generate(adapter.get_config(), removing, OperatorOptions(), adapter.cannot_express).mutants) == 2
    )
