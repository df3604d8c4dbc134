"""Real LangGraph agents, run through the adapter against model services on loopback."""

import asyncio
import json
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Send
from pydantic import BaseModel

from agentmut.adapters.langgraph import LangGraphAdapter, bind_tools, config_middleware
from agentmut.calls.doubles import resolve
from agentmut.config import AgentConfig, Document, ModelConfig
from agentmut.engine.attempt import Case, attempt
from agentmut.engine.executor import LocalExecutor, RunSettings, TrialRequest
from agentmut.engine.pricing import Pricer
from agentmut.engine.suite import SuiteConfig
from agentmut.errors import AdapterError, UsageError
from agentmut.execution import Ending, Execution
from agentmut.mutation.generate import generate
from agentmut.plugins import Catalogue
from agentmut.protocols import AgentSpec, Operator, OperatorOptions
from agentmut.scenario import EvaluatorSpec, Scenario, ToolDouble
from agentmut.threads import TrialThreads
from agentmut.tools import read_tool
from agentmut.trace import Action
from agentmut.trial import current_trial
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.witness import Detector, Route

Factory = Callable[[AgentConfig], Any]


@tool
def look_up(order: str) -> str:
    """Look up an order by its number."""
    trial = current_trial()
    return f"{order} of {trial.id if trial else '-'}"


@tool
def slow(order: str) -> str:
    """Take a while."""
    time.sleep(0.2)
    return f"slow {order}"


@tool
async def pay(amount: float) -> dict[str, Any]:
    """Pay money back to the customer."""
    if amount > 100:
        raise ValueError("too much")
    return {"paid": amount}


TOOLS: list[BaseTool] = [look_up, slow, pay]
CONFIG = AgentConfig(
    prompt="You help customers.\n\n- Always look up the order and be polite.\n- Never promise a date.",
    tools=tuple(read_tool(found) for found in TOOLS),
    model=ModelConfig(name="sim-large", temperature=0.7),
    context=(
        Document(name="policy", text="Refunds take five days. Returns are free. Gifts are final."),
        Document(name="shipping", text="Parcels leave at noon. Islands take longer."),
    ),
)


def chat(url: str, config: AgentConfig) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=url,
        api_key="k",
        model=config.model.name,
        temperature=config.model.temperature,
        max_retries=0,
    )


def by_create_agent(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        return create_agent(chat(url, config), bind_tools(config, TOOLS), system_prompt=config.system_text())

    return build


def by_middleware(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        own = ChatOpenAI(base_url=url, api_key="k", model="never sent", max_retries=0)
        middleware = [config_middleware(config)]
        return create_agent(own, TOOLS, system_prompt="never sent", middleware=middleware)

    return build


def by_graph(url: str, *, sync: bool = False, **compiling: Any) -> Factory:
    def build(config: AgentConfig) -> Any:
        tools = bind_tools(config, TOOLS)
        bound = chat(url, config).bind_tools(tools) if tools else chat(url, config)
        system = SystemMessage(config.system_text())

        def think(state: MessagesState) -> Any:
            return {"messages": [bound.invoke([system, *state["messages"]])]}

        async def athink(state: MessagesState) -> Any:
            return {"messages": [await bound.ainvoke([system, *state["messages"]])]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think if sync else athink)
        graph.add_node("act", ToolNode(tools))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
        graph.add_edge("act", "think")
        return graph.compile(**compiling)

    return build


def by_sync_graph(url: str) -> Factory:
    return by_graph(url, sync=True)


def prompt_at_import(url: str) -> Factory:
    return lambda config: by_create_agent(url)(CONFIG)


HONEST = [by_create_agent, by_middleware, by_graph, by_sync_graph]


def run(
    factory: Factory,
    *turns: Any,
    config: AgentConfig = CONFIG,
    doubles: dict[str, Any] | None = None,
    timeout: float = 20.0,
) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=turns or ("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            adapter = LangGraphAdapter(factory, config, "here:build")
            return await attempt(adapter, Case(scenario, doubles or {}), "t1", 0, timeout)

    found: Execution = in_loop(once())
    return found


def in_loop(work: Any) -> Any:
    """LangChain shares clients among agents, and they belong to one event loop: so do a run's trials."""
    return LOOP.run_until_complete(work)


LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


CATALOGUE = Catalogue.of("operators")
REBUILT = (
    "prompt.drop_instruction", "prompt.reorder_instructions", "prompt.inject_noise", "prompt.synonym",
    "tool.remove", "tool.reorder", "tool.mislead_description", "model.swap", "model.downgrade",
    "context.truncate", "context.inject_noise", "context.permute",
)  # fmt: skip
OPERATORS: list[Operator] = [CATALOGUE.load(name)() for name in REBUILT]
OPTIONS = OperatorOptions(swap_models=("sim-medium",), downgrade_models=("sim-small",))
MUTANTS = generate(CONFIG, OPERATORS, OPTIONS).mutants


def test_every_operator_has_a_mutant_here() -> None:
    assert {mutant.operator for mutant in MUTANTS} == {operator.id for operator in OPERATORS}


@pytest.mark.parametrize("make", HONEST)
def test_every_mutation_reaches_the_service_and_is_witnessed(make: Any, service: Any) -> None:
    for mutant in MUTANTS:
        service.requests.clear()
        mutated = mutant.apply(CONFIG)
        execution = run(make(service.url), config=mutated)
        (received,) = service.requests
        assert received.system_text == mutated.system_text(), mutant.description
        offered = [(found.name, found.description) for found in received.tools]
        assert offered == [(found.name, found.description) for found in mutated.tools], mutant.description
        assert (received.model, received.temperature) == (mutated.model.name, mutated.model.temperature)
        witness = Detector(mutant, CONFIG).witness(execution.footprint)
        assert witness is not None, mutant.description
        assert (witness.route, witness.seen) == (Route.SENT, len(mutant.edits))
    assert all(header["x-agentmut-trial"] == "t1" for header in service.headers)


def test_a_factory_that_ignores_its_config_gives_no_witness(service: Any) -> None:
    original = run(prompt_at_import(service.url))
    for mutant in MUTANTS:
        execution = run(prompt_at_import(service.url), config=mutant.apply(CONFIG))
        detector = Detector(mutant, CONFIG)
        assert detector.witness(execution.footprint) is None, mutant.description
        assert detector.carried(original.footprint), mutant.description


@pytest.mark.parametrize("make", [by_create_agent, by_middleware])
def test_temperature_and_other_parameters_arrive(make: Any, service: Any) -> None:
    parameters = ModelConfig(name="sim-small", temperature=1.5, top_p=0.5, max_tokens=77, seed=3)
    run(by_middleware(service.url), config=CONFIG.model_copy(update={"model": parameters}))
    (received,) = service.requests
    assert (received.temperature, received.top_p, received.max_tokens, received.seed) == (1.5, 0.5, 77, 3)


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
    took = [step.seconds for step in trace.tool_calls if step.tool == "slow"]
    assert all(0.2 <= seconds < 0.9 for seconds in took)
    starts = [step.started for step in trace.tool_calls if step.tool == "slow"]
    assert abs(starts[0] - starts[1]) < 0.2  # at the same time
    nodes = {step.node for step in trace.tool_calls}
    assert nodes == ({"act"} if make in (by_graph, by_sync_graph) else {"tools"})
    assert trace.output == "Done."


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


@pytest.mark.parametrize("make", HONEST)
def test_concurrent_trials_keep_their_own_results(make: Any, service: Any, calls: Any) -> None:
    def answer(request: Any) -> Any:
        order = next(m.text for m in request.messages if m.role == "user")
        results = [m.text for m in request.messages if m.role == "tool"]
        wanted = [("look_up", json.dumps({"order": order})), ("slow", json.dumps({"order": order}))]
        return " and ".join(results) if results else calls(*wanted, prefix=order)

    service.answer = answer
    adapter = LangGraphAdapter(make(service.url), CONFIG, "here:build")
    cases = {
        str(n): Case(Scenario(name=str(n), turns=(f"Z{n}",), evaluators=(EvaluatorSpec(name="x"),)), {})
        for n in range(24)
    }
    suite = SuiteConfig(CONFIG, [case.scenario for case in cases.values()])
    executor = LocalExecutor(adapter, suite, cases, Pricer({}), RunSettings(timeout=30))

    async def everything() -> list[Execution]:
        async with executor.session():
            return await asyncio.gather(*(executor.execute(TrialRequest(None, n, f"t{n}")) for n in cases))

    started = time.monotonic()
    for n, execution in enumerate(in_loop(everything())):
        assert execution.trace.output == f"Z{n} of t{n} and slow Z{n}"
        assert sorted(str(step.output) for step in execution.trace.tool_calls) == [
            f"Z{n} of t{n}",
            f"slow Z{n}",
        ]
        assert {shape.text.split("\n")[-1] for shape in execution.footprint.requests} == {f"Z{n}"}
    assert time.monotonic() - started < 8


def test_a_hanging_sync_tool_is_abandoned_and_holds_nothing_up(service: Any, calls: Any) -> None:
    @tool
    def hang(order: str) -> str:
        """Never come back."""
        time.sleep(60)
        return order

    def build(config: AgentConfig) -> Any:
        return create_agent(chat(service.url, config), [hang])

    service.replies(calls(("hang", '{"order": "A"}')))
    case = Case(Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),)), {})
    adapter = LangGraphAdapter(build, CONFIG, "here:build")
    suite = SuiteConfig(CONFIG, [case.scenario])
    executor = LocalExecutor(adapter, suite, {"s": case}, Pricer({}), RunSettings(timeout=4.0))

    async def everything() -> list[Execution]:
        async with executor.session():
            return await asyncio.gather(
                *(executor.execute(TrialRequest(None, "s", f"t{n}")) for n in range(12))
            )

    started = time.monotonic()
    executions = asyncio.run(everything())  # returns without waiting for the threads
    assert time.monotonic() - started < 12
    assert {(found.ending, found.abandoned) for found in executions} == {(Ending.TIMEOUT, True)}
    assert all(found.trace.usage.total > 0 for found in executions)  # none waited for a place in a pool


# Doubles


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


# Building


def create(tmp_path: Path, body: str, config: AgentConfig = CONFIG, name: str = "graph_under_test") -> Any:
    (tmp_path / f"{name}.py").write_text(body)
    return LangGraphAdapter.create(
        AgentSpec(adapter="langgraph", factory=f"{name}:build", root=str(tmp_path)), config
    )


UNCOMPILED = """
from langgraph.graph import MessagesState, StateGraph
def build(config): return StateGraph(MessagesState)
"""


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("def build(config): raise KeyError('region')", r"graph_bad_\d:build raised KeyError: 'region'"),
        (UNCOMPILED, r"returned a StateGraph; expected a compiled .* Did you forget `.compile\(\)`"),
        ("def build(config): return None", "returned a NoneType"),
        ("async def build(config): return None", "is async; it must be a plain function"),
    ],
)
def test_a_factory_that_builds_no_graph_is_told_what_is_wrong(
    body: str, complaint: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    number = request.node.callspec.indices["body"]
    with pytest.raises(AdapterError, match=complaint):
        create(tmp_path, body, name=f"graph_bad_{number}").build()


def test_a_factory_that_fails_for_one_mutant_makes_the_trial_unbuildable() -> None:
    def build(config: AgentConfig) -> Any:
        raise ValueError("no such model")

    execution = run(build)
    assert execution.ending is Ending.UNBUILDABLE
    assert execution.reason == "agent.factory here:build raised ValueError: no such model"


def test_references_that_lead_nowhere_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"agent\.factory is missing"):
        LangGraphAdapter.create(AgentSpec(adapter="langgraph"), CONFIG)
    with pytest.raises(UsageError, match=r"is a int, not a function"):
        create(tmp_path, "build = 3", name="graph_number")


def test_tools_are_taken_from_the_graph_where_the_config_names_none(tmp_path: Path) -> None:
    body = """
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.tools import tool

@tool
def look_up(order: str) -> str:
    "Look up an order."
    return order

def build(config):
    return create_agent(GenericFakeChatModel(messages=iter(())), [look_up])
"""
    adapter = create(tmp_path, body, AgentConfig(), name="graph_tools")
    (found,) = adapter.get_config().tools
    assert (found.name, found.description) == ("look_up", "Look up an order.")
    assert list(found.parameters["properties"]) == ["order"]
    assert adapter.get_tools() == adapter.get_config().tools


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        (None, r"requires the package langgraph. Install it with: pip install 'agentmut\[langgraph\]'"),
        ("0.6.1", "requires langgraph 1.2 or later, found 0.6.1"),
        ("1.1rc2", "requires langgraph 1.2 or later, found 1.1rc2"),
    ],
)
def test_a_missing_or_old_langgraph_says_what_to_install(
    version: str | None, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(package: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(metadata, "version", found)
    with pytest.raises(AdapterError, match=complaint):
        LangGraphAdapter.create(AgentSpec(adapter="langgraph", factory="x:y"), CONFIG)


def test_versions_of_the_framework_are_part_of_a_run() -> None:
    versions = LangGraphAdapter(by_graph(""), CONFIG, "x").versions()
    assert set(versions) == {"langgraph", "langchain", "langchain-core", "langchain-openai"}


def test_bind_tools_offers_what_the_config_says_and_keeps_the_implementations() -> None:
    spec = CONFIG.tools[0].model_copy(update={"description": "Other words."})
    narrower = CONFIG.model_copy(update={"tools": (CONFIG.tools[1], spec)})
    bound = bind_tools(narrower, TOOLS)
    assert [found.name for found in bound] == ["slow", "look_up"]
    assert bound[0] is slow
    assert bound[1].description == "Other words."
    assert bound[1].invoke({"order": "A"}) == "A of -"
    assert look_up.description == "Look up an order by its number."


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
