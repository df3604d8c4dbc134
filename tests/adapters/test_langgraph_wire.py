"""Real LangGraph agents that are built as they are, and become mutants on the way to the model service."""

import asyncio
from operator import add
from typing import Annotated, Any, Literal

import pytest
from httpx2 import AsyncClient  # LangChain's own outlives the event loop
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy
from pydantic import Field

from agentmut.adapters.langgraph import LangGraphAdapter, model_settings
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.messages import ModelRequest
from agentmut.nouns.mutant import Mutant, OperatorClass
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import read_tool
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.testing import check_adapter
from agentmut.trial.executor import LocalExecutor, RunSettings, TrialRequest
from agentmut.trial.on_wire import OnWire, remedy_on_wire, routed
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case
from agentmut.trial.suite_config import SuiteConfig
from agentmut.trial.witness.witness import Detector
from tests.support_desk import PROMPT

pytestmark = pytest.mark.framework

CATALOGUE = Catalogue.from_group("operators")
OPTIONS = OperatorOptions(swap_models=("sim-other",), downgrade_models=("sim-small",), slow_seconds=0.2)
LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


@tool
def look_up_order(
    order: Annotated[str, Field(description="Number of the order.")],
    reason: Annotated[Literal["late", "broken"], Field(description="Why it is asked.")] = "late",
    amount: Annotated[float, Field(ge=1, le=200)] = 1.0,
    wait: Annotated[int, Field(description="How long to wait, in days.")] = 1,
) -> dict[str, Any]:
    """Look up an order by its number, and what is in it."""
    return {"order": order, "total": 30, "items": ["tent", "stove"], "sent": "2024-05-01"}


@tool
def refund_order(order: str) -> str:
    """Pay money back for an order."""
    return f"Paid 30 euros for {order}."


TOOLS = [look_up_order, refund_order]
CONFIG = AgentConfig(
    prompt=PROMPT,
    tools=tuple(map(read_tool, TOOLS)),
    model=ModelConfig(
        name="sim-large", temperature=0.7, top_p=0.9, max_tokens=800, seed=7, tool_choice="required",
        response_format={"type": "json_object"},
    ),
    context=(
        Document(
            name="refunds", text="# Refunds\n\nRefunds take 14 days. They cost 5 euros. Ask before you refund.\n"
        ),
        Document(name="shipping", text="Version 3 of 2024-05-01.\n\nShipping takes 3 days. It is free above 50 euros."),
    ),
)  # fmt: skip


class State(MessagesState, total=False):
    log: Annotated[list[str], add]


def agent(url: str, config: AgentConfig, *, stream: bool = False) -> Any:
    chat = ChatOpenAI(
        base_url=url, api_key="k", max_retries=0, streaming=stream, http_async_client=AsyncClient(verify=False),
        **model_settings(config),
    )  # fmt: skip
    return create_agent(chat, TOOLS, system_prompt=config.system_text())


def step(name: str) -> Any:
    return lambda state: {"log": [name]}


def desk(url: str) -> Any:
    """Every part of a flow that an operator changes, with an agent in the midst of it."""

    def triage(state: State) -> Command[Literal["desk", "human"]]:
        return Command(goto="desk", update={"log": [*state.get("log", []), "triage"][-1:]})

    def review(state: State) -> Literal["file", "apologise"]:
        return "file"

    def build(config: AgentConfig) -> Any:
        failures = ["away"]

        def fetch(state: State) -> Any:
            if failures:
                raise ConnectionError(failures.pop())
            return {"log": ["fetch"]}

        graph = StateGraph(State)
        graph.add_node("intake", step("intake"))
        graph.add_node("fetch", fetch, retry_policy=RetryPolicy(initial_interval=0.001, jitter=False))
        graph.add_node("greet", step("greet"))
        graph.add_node("triage", triage)
        graph.add_node("desk", agent(url, config))
        for name in ("human", "file", "apologise", "archive", "notify"):
            graph.add_node(name, step(name))
        graph.add_edge(START, "intake")
        graph.add_edge("intake", "fetch")
        graph.add_edge("intake", "greet")
        graph.add_edge(["fetch", "greet"], "triage")
        graph.add_conditional_edges("desk", review, ["file", "apologise"])
        graph.add_edge("file", "archive")
        graph.add_edge("archive", "notify")
        graph.add_edge("notify", END)
        return graph.compile()

    return build


def in_function(url: str, *, stream: bool, sync: bool) -> Any:
    """An agent that a node calls, in the way in which the node is written."""

    def build(config: AgentConfig) -> Any:
        inner = agent(url, config, stream=stream)

        def ask(state: State) -> Any:
            return {"messages": inner.invoke({"messages": state["messages"]})["messages"][-1:]}

        async def aask(state: State) -> Any:
            return {"messages": (await inner.ainvoke({"messages": state["messages"]}))["messages"][-1:]}

        graph = StateGraph(State)
        graph.add_node("desk", ask if sync else aask)
        graph.add_edge(START, "desk")
        return graph.compile()

    return build


def calls_everything(calls: Any) -> Any:
    """Calls all the tools that are offered, again with another order, and then answers."""

    def answer(request: ModelRequest) -> Any:
        asked = max(n for n, message in enumerate(request.messages) if message.role == "user")
        rounds = sum(bool(message.tool_calls) for message in request.messages[asked:])
        if rounds == 2 or not request.tools:
            return '{"answer": "Done."}'
        wanted = [(found.name, f'{{"order": "A-{rounds}"}}') for found in request.tools]
        return calls(*wanted, prefix=f"call_{len(request.messages)}")

    return answer


class Campaign:
    """One agent on the wire, and its mutants."""

    def __init__(self, build: Any, service: Any) -> None:
        adapter = routed(
            LangGraphAdapter(build, CONFIG, "here:build").as_built(),
            AgentSpec(adapter="langgraph", route="wire"),
        )
        assert isinstance(adapter, OnWire)
        scenarios = [
            Scenario(
                name=str(n), turns=("Where is A-1?", "And now?")[:n], evaluators=(EvaluatorSpec(name="x"),)
            )
            for n in (1, 2)
        ]
        self.adapter, self.service = adapter, service
        self.suite = SuiteConfig(adapter.get_config(), scenarios, on_wire=remedy_on_wire(adapter))
        cases = {scenario.name: Case(scenario, {}) for scenario in scenarios}
        self.executor = LocalExecutor(adapter, self.suite, cases, Pricer({}), RunSettings(timeout=600))

    def mutants(self, operator: str) -> list[Mutant]:
        made = generate(self.suite.full, [CATALOGUE.load(operator)()], OPTIONS).mutants
        return [mutant for mutant in made if not self.adapter.cannot_express(mutant)]

    def run(self, mutant: Mutant | None) -> Execution:
        async def once() -> Execution:
            async with self.executor.session():
                return await self.executor.execute(TrialRequest(mutant, turns, "t1"))

        turns = "2" if mutant and mutant.edits[0].part in ("history", "transcript") else "1"
        self.service.requests.clear()
        return LOOP.run_until_complete(once())

    def check(self, mutant: Mutant, execution: Execution) -> bool:
        """Whether the witness saw the mutant; what the service saw is asserted to be the mutant."""
        config = mutant.apply(self.suite.full)
        received = self.service.requests[0] if self.service.requests else None
        if received and mutant.operator_class is not OperatorClass.ORCHESTRATION:
            assert received.system_text == config.system_text(), mutant.description
            offered = [(found.name, found.description) for found in received.tools]
            assert offered == [(found.name, found.description) for found in config.tools], mutant.description
            for name in ("temperature", "top_p", "max_tokens", "seed", "stop"):
                assert getattr(received, name) == getattr(config.model, name), mutant.description
            assert received.model == config.model.name
        witness = Detector(mutant, self.suite.full).witness(execution.footprint)
        return witness is not None and witness.seen == witness.edits


def test_mutants_of_every_operator_reach_the_service_and_are_witnessed(service: Any, calls: Any) -> None:
    service.answer = calls_everything(calls)
    campaign = Campaign(desk(service.url), service)
    original = campaign.run(None)
    assert original.ending is Ending.ANSWERED
    assert [step.node for step in original.trace.tool_calls] == ["desk/tools"] * 4
    unseen, without = [], []
    for operator in CATALOGUE.names:
        mutants = campaign.mutants(operator)
        if not mutants:
            without.append(operator)
        elif operator == "context.strip_reasoning":  # no request of this agent has thoughts
            continue
        elif not any(campaign.check(mutant, campaign.run(mutant)) for mutant in mutants[:6]):
            unseen.append(operator)
    assert unseen == []
    always = [name for name in without if not issubclass(CATALOGUE.load(name), OnDemand)]
    assert always == ["model.reduce_reasoning_effort"]  # goes with no temperature, top_p or stop sequence


@pytest.mark.parametrize(("stream", "sync"), [(True, False), (False, True), (True, True)])
def test_streamed_and_plain_requests_of_functions_are_mutants_too(
    stream: bool, sync: bool, service: Any, calls: Any
) -> None:
    service.answer = calls_everything(calls)
    campaign = Campaign(in_function(service.url, stream=stream, sync=sync), service)
    for operator in SOME:
        mutant = campaign.mutants(operator)[0]
        execution = campaign.run(mutant)
        assert campaign.check(mutant, execution), mutant.description
        assert {request.stream for request in service.requests} == {stream}


SOME = (
    "prompt.drop_instruction", "tool.rename", "tool.decoy", "tool.remove", "tool.result_empty", "model.swap",
    "context.truncate",
)  # fmt: skip


def test_an_agent_in_a_graph_is_sound_on_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        chat = ChatOpenAI(
            api_key="k", max_retries=0, http_async_client=AsyncClient(verify=False), **model_settings(config)
        )
        graph.add_node("greet", lambda state: {})
        graph.add_node("desk", create_agent(chat, TOOLS, system_prompt=config.system_text()))
        graph.add_edge(START, "greet")
        graph.add_edge("greet", "desk")
        graph.add_edge("desk", END)
        return graph.compile()

    plain = ModelConfig(name="sim-large")
    check_adapter(
        lambda: LangGraphAdapter(build, CONFIG.model_copy(update={"model": plain}), "here:build").as_built(),
        turns=["Where is order A-1042?"],
        expect_tools=["look_up_order"],
        route="wire",
    )
