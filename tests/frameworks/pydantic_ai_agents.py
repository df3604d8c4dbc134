"""Agents of pydantic-ai, as a user writes them."""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel


def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


async def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


def desk() -> Agent[Any, str]:
    """One agent with two tools."""
    return Agent(
        OpenAIChatModel("sim-large"),
        name="desk",
        instructions="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, issue_refund],
        model_settings={"temperature": 0.3},
    )


def office() -> Agent[Any, str]:
    """One whose tool asks another agent."""
    clerk = Agent(
        OpenAIChatModel("sim-large"),
        name="clerk",
        instructions="You look up orders.\n\n- Always look up the order.",
        tools=[look_up_order],
    )
    manager = Agent(
        OpenAIChatModel("sim-large"),
        name="manager",
        system_prompt="You answer customers.\n\n- Always ask the clerk about an order.\n- Be polite.",
    )

    @manager.tool_plain
    async def ask_clerk(question: str) -> str:
        """Ask the clerk about an order."""
        return (await clerk.run(question)).output

    return manager


async def direct(agent: Agent[Any, str], text: str) -> str:
    """The agent by the framework alone."""
    return (await agent.run(text)).output
