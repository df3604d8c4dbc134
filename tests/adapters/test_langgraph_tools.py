"""Tools that are renamed, decoys or described otherwise, in real LangGraph agents."""

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from pydantic import BaseModel, Field

from agentmut._base.errors import AdapterError
from agentmut.adapters.langgraph import LangGraphAdapter, bind_tools, config_middleware
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Mutant
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import read_tool
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector, Route
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

pytestmark = pytest.mark.framework

Factory = Callable[[AgentConfig], Any]
LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


class Reason(Enum):
    LATE = "late"
    DAMAGED = "damaged"


class Address(BaseModel):
    """Where to."""

    street: str = Field(description="Street and number.")
    zip_code: str | None = Field(default=None, max_length=10)


@tool
def get_order(order: str) -> str:
    """Look up an order by its number."""
    return f"order {order}"


@tool
def issue_refund(
    order: Annotated[str, "Number of the order."],
    amount: Annotated[float, Field(ge=0, le=500, description="Amount in euros.")],
    reason: Reason,
    speed: Literal["slow", "fast"] = "slow",
    wait: int | None = None,
) -> str:
    """Refund an order."""
    return f"{order} {amount} {reason.value} {speed} {wait}"


@tool
def send_order(
    address: Address, labels: list[str], state: Annotated[Any, InjectedState], insured: bool = False
) -> str:
    """Send a parcel of an order to an address."""
    return f"{address.street} {labels} {insured} {len(state['messages'])}"


TOOLS: list[BaseTool] = [get_order, issue_refund, send_order]
CONFIG = AgentConfig(
    prompt="You help customers.",
    tools=tuple(map(read_tool, TOOLS)),
    model=ModelConfig(name="sim-large", temperature=0.7),
)
NAMES = (
    "tool.remove", "tool.reorder", "tool.rename", "tool.decoy", "tool.mislead_description",
    "tool.blank_description", "tool.swap_descriptions", "tool.describe_parameter_wrongly",
    "tool.drop_parameter", "tool.make_optional", "tool.make_required", "tool.change_type",
    "tool.drop_enum_value", "tool.add_enum_value", "tool.tighten_bounds", "tool.loosen_bounds",
)  # fmt: skip
CATALOGUE = Catalogue.from_group("operators")
MUTANTS = generate(CONFIG, [CATALOGUE.load(name)() for name in NAMES], OperatorOptions()).mutants


FIRST = tuple({mutant.operator: mutant for mutant in reversed(MUTANTS)}.values())


def chat(url: str) -> ChatOpenAI:
    return ChatOpenAI(base_url=url, api_key="k", model="sim-large", temperature=0.7, max_retries=0)


def bound(url: str) -> Factory:
    return lambda config: create_agent(
        chat(url), bind_tools(config, TOOLS), system_prompt=config.system_text()
    )


def by_middleware(url: str) -> Factory:
    return lambda config: create_agent(chat(url), TOOLS, middleware=[config_middleware(config)])


def with_its_own_node(url: str) -> Factory:
    """The model is told of the config's tools, and the node has the agent's own."""

    def build(config: AgentConfig) -> Any:
        model = chat(url).bind_tools(bind_tools(config, TOOLS))

        async def think(state: MessagesState) -> Any:
            return {"messages": [await model.ainvoke([SystemMessage(config.prompt), *state["messages"]])]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("act", ToolNode(TOOLS))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
        graph.add_edge("act", "think")
        return graph.compile()

    return build


def ignoring(url: str) -> Factory:
    return lambda config: bound(url)(CONFIG)


WAYS = [bound, by_middleware, with_its_own_node]


def run(factory: Factory, config: AgentConfig, doubles: dict[str, Any] | None = None) -> Execution:
    return run_with(LangGraphAdapter(factory, config, "here:build"), doubles)


def run_with(adapter: LangGraphAdapter, doubles: dict[str, Any] | None = None) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            return await attempt(adapter, Case(scenario, doubles or {}), "t1", 0, 600.0)

    return LOOP.run_until_complete(once())


def mutant(operator: str, *pieces: str) -> Mutant:
    """The one mutant of an operator whose description has these pieces."""
    found = [m for m in MUTANTS if m.operator == operator and all(p in m.description for p in pieces)]
    assert len(found) == 1, [m.description for m in found]
    return found[0]


def test_every_operator_has_a_mutant_here() -> None:
    assert {mutant.operator for mutant in MUTANTS} == set(NAMES)


@pytest.mark.parametrize("make", WAYS)
def test_every_change_of_a_tool_reaches_the_service_and_is_witnessed(make: Any, service: Any) -> None:
    for mutant in MUTANTS if make is bound else FIRST:
        service.requests.clear()
        mutated = mutant.apply(CONFIG)
        execution = run(make(service.url), mutated)
        (received,) = service.requests
        offered = [(found.name, found.description) for found in received.tools]
        assert offered == [(found.name, found.description) for found in mutated.tools], mutant.description
        witness = Detector(mutant, CONFIG).witness(execution.footprint)
        assert witness is not None, mutant.description
        shown = [edit for edit in mutant.edits if edit.path[-1] != "implemented_by"]
        assert (witness.route, witness.seen) == (Route.SENT, len(shown)), mutant.description


@tool
def find_gift(order: str) -> str:
    """Find a gift for an order."""
    return f"a ribbon for {order}"


class Gifts(AgentMiddleware[Any, Any]):
    """Gives an agent a tool while it runs."""

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tools=[*request.tools, find_gift]))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        mine = request.tool_call["name"] == find_gift.name
        return await handler(request.override(tool=find_gift) if mine else request)


def test_a_tool_that_an_agent_is_given_while_it_runs_is_no_mutants_affair(service: Any, calls: Any) -> None:
    service.replies(calls(("find_gift", '{"order": "A-1"}')), "Done.")
    middleware = Gifts()

    def build(config: AgentConfig) -> Any:
        return create_agent(chat(service.url), TOOLS, middleware=[middleware, config_middleware(config)])

    original = LangGraphAdapter(build, CONFIG, "here:build").as_built()
    execution = run_with(original.with_config(original.get_config().model_copy(update={"tools": ()})))
    assert [tool.name for tool in service.requests[0].tools] == ["find_gift"]
    assert [(step.tool, step.output) for step in execution.trace.tool_calls] == [
        ("find_gift", "a ribbon for A-1")
    ]


def test_a_factory_that_ignores_its_config_gives_no_witness(service: Any) -> None:
    footprint = run(ignoring(service.url), CONFIG).footprint
    for mutant in MUTANTS:
        detector = Detector(mutant, CONFIG)
        assert detector.witness(footprint) is None, mutant.description
        assert detector.carried(footprint), mutant.description


@pytest.mark.parametrize("make", WAYS)
def test_a_renamed_tool_does_what_it_did_and_is_traced_under_its_own_name(
    make: Any, service: Any, calls: Any
) -> None:
    renamed = mutant("tool.rename", "get_order to fetch_order").apply(CONFIG)
    service.replies(calls(("fetch_order", '{"order": "A"}')), "Done.")
    execution = run(make(service.url), renamed)
    (step,) = execution.trace.tool_calls
    assert (step.tool, step.output, execution.ending) == ("get_order", "order A", Ending.ANSWERED)
    assert service.requests[1].messages[-1].text == "order A"


@pytest.mark.parametrize("make", WAYS)
def test_a_renamed_tool_is_given_the_state_of_the_graph(make: Any, service: Any, calls: Any) -> None:
    renamed = mutant("tool.rename", "send_order to deliver_order").apply(CONFIG)
    arguments = '{"address": {"street": "Elm 1"}, "labels": ["a"]}'
    service.replies(calls(("deliver_order", arguments)), "Done.")
    (step,) = run(make(service.url), renamed).trace.tool_calls
    assert (step.tool, step.output) == ("send_order", "Elm 1 ['a'] False 2")


@pytest.mark.parametrize("make", WAYS)
def test_the_double_of_a_renamed_tool_answers(make: Any, service: Any, calls: Any) -> None:
    renamed = mutant("tool.rename", "issue_refund to issueRefund").apply(CONFIG)
    wanted = calls(("issueRefund", '{"order": "A", "amount": 1, "reason": "late"}'))
    service.replies(wanted, "Done.")
    doubled = {"issue_refund": lambda order, **more: f"no money for {order}"}
    (step,) = run(make(service.url), renamed, doubled).trace.tool_calls
    assert (step.tool, step.output) == ("issue_refund", "no money for A")


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize(
    ("operator", "piece"), [("tool.rename", "get_order to fetch_order"), ("tool.remove", "get_order")]
)
def test_the_name_of_a_tool_that_is_renamed_or_removed_is_unknown(
    make: Any, operator: str, piece: str, service: Any, calls: Any
) -> None:
    mutated = mutant(operator, piece).apply(CONFIG)
    service.replies(calls(("get_order", '{"order": "A"}')), "Done.")
    adapter = LangGraphAdapter(make(service.url), CONFIG, "here:build").with_config(mutated)

    async def once() -> Execution:
        scenario = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            return await attempt(adapter, Case(scenario, {}), "t1", 0, 600.0)

    execution = LOOP.run_until_complete(once())
    assert "get_order is not a valid tool" in service.requests[1].messages[-1].text
    assert ("fetch_order" in service.requests[1].messages[-1].text) is (operator == "tool.rename")
    assert execution.trace.tool_calls == ()


@pytest.mark.parametrize("make", WAYS)
def test_a_decoy_finds_nothing_and_leaves_a_mark(make: Any, service: Any, calls: Any) -> None:
    doubled = mutant("tool.decoy", "get_order_v2").apply(CONFIG)
    service.replies(calls(("get_order_v2", '{"order": "A"}'), ("get_order", '{"order": "B"}')), "Done.")
    execution = run(make(service.url), doubled)
    answers = {step.tool: step.output for step in execution.trace.tool_calls}
    assert answers == {"get_order_v2": "Nothing was found.", "get_order": "order B"}
    assert execution.footprint.marks == ("/tools/get_order_v2/fault",)


REFUND = '{"order": "A", "amount": 2, "reason": "late"}'


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize(
    ("operator", "pieces", "arguments"),
    [
        ("tool.make_optional", ("make amount optional",), '{"order": "A", "reason": "late"}'),
        (
            "tool.change_type",
            ("issue_refund: order is integer",),
            '{"order": 1, "amount": 2, "reason": "late"}',
        ),
        ("tool.add_enum_value", ("reason may be",), '{"order": "A", "amount": 2, "reason": "wrong_item"}'),
        ("tool.loosen_bounds", ("no maximum",), '{"order": "A", "amount": 900, "reason": "late"}'),
    ],
)
def test_a_call_that_fits_the_changed_schema_only_is_refused_by_the_tool_itself(
    make: Any, operator: str, pieces: tuple[str, ...], arguments: str, service: Any, calls: Any
) -> None:
    changed = mutant(operator, *pieces).apply(CONFIG)
    service.replies(calls(("issue_refund", arguments)), "Done.")
    execution = run(make(service.url), changed)
    assert execution.ending is Ending.ANSWERED
    assert "Error invoking tool 'issue_refund'" in service.requests[1].messages[-1].text


@pytest.mark.parametrize("make", WAYS)
def test_a_call_that_fits_both_is_carried_out(make: Any, service: Any, calls: Any) -> None:
    for name, pieces in (
        ("tool.drop_parameter", ("issue_refund: drop the parameter speed",)),
        ("tool.make_required", ("make wait required",)),
        ("tool.blank_description", ("issue_refund",)),
        ("tool.drop_enum_value", ("'damaged'",)),
    ):
        service.replies(calls(("issue_refund", REFUND)), "Done.")
        (step,) = run(make(service.url), mutant(name, *pieces).apply(CONFIG)).trace.tool_calls
        assert step.output == "A 2.0 late slow None"


def test_a_double_is_given_the_defaults_of_a_parameter_that_the_model_is_not_told_of(
    service: Any, calls: Any
) -> None:
    dropped = mutant("tool.drop_parameter", "issue_refund: drop the parameter speed").apply(CONFIG)
    service.replies(calls(("issue_refund", REFUND)), "Done.")
    doubled = {"issue_refund": lambda order, amount, reason, speed, wait: f"{order} {speed}"}
    assert run(bound(service.url), dropped, doubled).trace.tool_calls[0].output == "A slow"


def test_a_renamed_tool_works_outside_of_trials_too() -> None:
    renamed = mutant("tool.rename", "get_order to fetch_order").apply(CONFIG)
    first = bind_tools(renamed, TOOLS)[0]
    assert (first.name, first.invoke({"order": "A"})) == ("fetch_order", "order A")
    assert get_order.name == "get_order"


def graph_of(*tools: BaseTool) -> Factory:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        for index, found in enumerate(tools):
            graph.add_node(str(index), ToolNode([found]))
            graph.add_edge(START, str(index))
        return graph.compile()

    return build


def test_agents_of_one_graph_may_share_a_tool() -> None:
    adapter = LangGraphAdapter(graph_of(get_order, get_order), AgentConfig(), "here:build")
    assert [found.name for found in adapter.get_tools()] == ["get_order"]


def test_two_tools_of_one_name_in_a_graph_are_refused() -> None:
    other = get_order.model_copy(update={"description": "Another."})
    adapter = LangGraphAdapter(graph_of(get_order, other), AgentConfig(), "here:build")
    with pytest.raises(AdapterError, match="here:build: more than one tool is named 'get_order'"):
        adapter.get_tools()
