"""Whose connection was lost: the model service's, which is no evidence, or that of the agent's own tool or node."""

import asyncio
from typing import Any

import httpx
import openai
import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

import agentmut
from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.flow import Flow
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.seams.protocols.adapter import Adapter
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

CONFIG = AgentConfig(prompt="Be brief.", model=ModelConfig(name="m"))
UNAVAILABLE = httpx.HTTPStatusError(
    "503", request=httpx.Request("GET", "http://stock"), response=httpx.Response(503)
)


def end(adapter: Adapter, turn: Any = "hi") -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=(turn,), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            return await attempt(adapter, Case(scenario, {}), "t", 0, 600.0)

    return asyncio.run(once())


@agentmut.tool
def stock(product: str) -> str:
    raise ConnectionResetError("the warehouse is away")


async def ask(url: str, **options: Any) -> Any:
    async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
        return await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], **options
        )


@pytest.mark.parametrize("error", [ConnectionResetError("away"), httpx.ConnectError("away"), UNAVAILABLE])
def test_after_answered_model_requests_a_lost_connection_is_the_agents_own(
    error: Exception, service: Any
) -> None:
    async def agent(config: AgentConfig, given: Any) -> str:
        await ask(service.url)
        raise error

    assert end(CallableAdapter(agent, CONFIG)).ending is Ending.RAISED


def test_a_stream_of_a_model_that_was_not_read_to_its_end_may_be_what_was_cut_off(service: Any) -> None:
    async def agent(config: AgentConfig, given: Any) -> str:
        await ask(service.url, stream=True)
        raise httpx.RemoteProtocolError("peer closed connection")

    assert end(CallableAdapter(agent, CONFIG)).ending is Ending.INFRASTRUCTURE


def test_what_a_client_of_models_raises_is_the_model_services_whatever_was_answered(service: Any) -> None:
    async def agent(config: AgentConfig, given: Any) -> str:
        await ask(service.url)
        raise openai.APIConnectionError(request=httpx.Request("POST", "http://x"))  # type: ignore[arg-type]

    assert end(CallableAdapter(agent, CONFIG)).ending is Ending.INFRASTRUCTURE


def test_without_visible_requests_only_a_tools_own_step_tells_that_it_was_the_agent() -> None:
    def by_tool(config: AgentConfig, given: Any) -> str:
        return stock("tent")

    def by_something(config: AgentConfig, given: Any) -> str:
        raise ConnectionResetError("the model, or what?")

    assert end(CallableAdapter(by_tool, CONFIG)).ending is Ending.RAISED
    assert end(CallableAdapter(by_something, CONFIG)).ending is Ending.INFRASTRUCTURE


def graph(url: str, fetch_first: bool, failures: int = 1, **options: Any) -> LangGraphAdapter:
    """A node that loses its connection and is tried again, before or after a node that asks a model."""

    def build(config: AgentConfig) -> Any:
        left = ["the warehouse is away"] * failures

        def fetch(state: MessagesState) -> dict[str, Any]:
            if left:
                raise ConnectionError(left.pop())
            return {}

        def answer(state: MessagesState) -> dict[str, Any]:
            model = ChatOpenAI(base_url=url, api_key="k", model="m", max_retries=0, **options)
            return {"messages": [model.invoke(state["messages"])]}

        found = StateGraph(MessagesState)
        policy = RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False)
        found.add_node("fetch", fetch, retry_policy=policy)
        found.add_node("answer", answer)
        first, second = ("fetch", "answer") if fetch_first else ("answer", "fetch")
        found.add_edge(START, first)
        found.add_edge(first, second)
        found.add_edge(second, END)
        return found.compile()

    return LangGraphAdapter(build, CONFIG, "here:build").as_built()


@pytest.mark.parametrize("fetch_first", [True, False])
def test_a_node_without_its_retry_loses_its_own_connection_and_fails(fetch_first: bool, service: Any) -> None:
    whole = graph(service.url, fetch_first)
    config = whole.get_config()
    assert Flow.from_orchestration(config.orchestration).retries == {"fetch": 1}
    once = whole.with_config(
        config.model_copy(update={"orchestration": {**config.orchestration, "retries": {"fetch": 0}}})
    )
    broken = end(once)
    assert broken.ending is Ending.RAISED
    assert broken.reason.startswith("ConnectionError: the warehouse is away (")
    assert end(whole).ending is Ending.ANSWERED


@pytest.mark.parametrize("streaming", [True, False])
def test_a_model_that_cannot_be_reached_from_a_node_is_no_evidence(streaming: bool) -> None:
    nobody = "http://127.0.0.1:9/v1"
    assert end(graph(nobody, True, 0, streaming=streaming)).ending is Ending.INFRASTRUCTURE


def test_a_model_behind_a_client_that_is_not_seen_is_known_by_the_frameworks_step() -> None:
    from langchain_core.language_models import FakeListChatModel

    class Away(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            raise ConnectionResetError("the model is away")

    def build(config: AgentConfig) -> Any:
        found = StateGraph(MessagesState)
        found.add_node("answer", lambda state: {"messages": [Away(responses=["x"]).invoke("hi")]})
        found.add_edge(START, "answer")
        return found.compile()

    assert end(LangGraphAdapter(build, CONFIG, "here:build").as_built()).ending is Ending.INFRASTRUCTURE


def test_a_tool_of_a_graph_loses_its_own_connection(service: Any) -> None:
    @tool
    def look(order: str) -> str:
        """Look."""
        raise ConnectionResetError("the warehouse is away")

    def build(config: AgentConfig) -> Any:
        found = StateGraph(MessagesState)
        found.add_node("look", lambda state: {"messages": [look.invoke({"order": "A-1"})]})
        found.add_edge(START, "look")
        return found.compile()

    assert end(LangGraphAdapter(build, CONFIG, "here:build").as_built()).ending is Ending.RAISED


def test_a_request_that_the_agents_own_failure_cancelled_is_no_trouble_of_the_service() -> None:
    async def agent(config: AgentConfig, turn: Any) -> str:
        arrived = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            arrived.set()
            await reader.read()
            writer.close()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/chat/completions"
            async with httpx.AsyncClient() as client, asyncio.TaskGroup() as branches:
                branches.create_task(client.post(url, json={"model": "m", "messages": []}))
                await arrived.wait()
                raise ValueError("mine")

    assert end(CallableAdapter(agent, CONFIG)).ending is Ending.RAISED
