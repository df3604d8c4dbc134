"""Real LangGraph agents, and how tests run them against model services on loopback."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from agentmut.adapters.langgraph import LangGraphAdapter, bind_tools, config_middleware
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import read_tool
from agentmut.recording.current import current_trial
from agentmut.recording.threads import TrialThreads
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

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


HONEST = [by_create_agent, by_middleware, by_graph, by_sync_graph]


def run(
    factory: Factory,
    *turns: Any,
    config: AgentConfig = CONFIG,
    doubles: dict[str, Any] | None = None,
    timeout: float = 600.0,
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
