"""Agents of LangGraph, as a user writes them."""

from typing import Any

from httpx2 import AsyncClient
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from agentmut.adapters.langgraph import bind_tools, config_middleware, model_settings
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import read_tool
from tests.frameworks.order_tools import PROMPT

MODEL = ModelConfig(name="sim-large", temperature=0.3)


@tool
def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


@tool
async def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


TOOLS = [look_up_order, issue_refund]
CONFIG = AgentConfig(prompt=PROMPT, model=MODEL, tools=tuple(map(read_tool, TOOLS)))


def chat(model: ModelConfig = MODEL) -> ChatOpenAI:
    """A model with a client of its own; LangChain's would be that of an earlier event loop."""
    return ChatOpenAI(http_async_client=AsyncClient(), **model_settings(AgentConfig(model=model)))


def desk(config: AgentConfig = CONFIG) -> Any:
    """One agent with two tools."""
    return create_agent(chat(), TOOLS, middleware=[config_middleware(config)])


@tool
def transfer_to_billing(runtime: ToolRuntime) -> Command[Any]:
    """Handles refunds."""
    said = ToolMessage("Billing takes over.", tool_call_id=runtime.tool_call_id)
    return Command(
        goto="billing",
        graph=Command.PARENT,
        update={"messages": [*runtime.state["messages"], said]},
    )


def team(config: AgentConfig) -> Any:
    """Two agents: one hands over to the other, which is as its config says."""
    graph = StateGraph(MessagesState)
    greeter = "You decide who helps.\n\n- Hand refunds to billing.\n- Greet the customer."
    triage = create_agent(chat(), [transfer_to_billing], system_prompt=greeter)
    graph.add_node("triage", triage, destinations=("billing",))
    tools = bind_tools(config, TOOLS)
    graph.add_node("billing", create_agent(chat(config.model), tools, system_prompt=config.system_text()))
    graph.add_edge(START, "triage")
    return graph.compile(checkpointer=InMemorySaver())


async def direct(agent: Any, text: str) -> str:
    """The agent by LangGraph alone."""
    said = await agent.ainvoke({"messages": [("user", text)]})
    return str(said["messages"][-1].text)
