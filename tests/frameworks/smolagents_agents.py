"""Agents of smolagents, as a user writes them."""

import asyncio

from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool

INSTRUCTIONS = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."


@tool
def look_up_order(order_id: str) -> str:
    """Look up an order by its number.

    Args:
        order_id: The number of the order.
    """
    return f"{order_id} was delivered on Monday."


@tool
def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer.

    Args:
        order_id: The number of the order.
        amount: How much, in euros.
    """
    return f"{amount} euros for {order_id} are on their way."


TOOLS = [look_up_order, issue_refund]


def desk() -> ToolCallingAgent:
    """One agent with two tools."""
    model = OpenAIModel("sim-large", api_key="none", temperature=0.3)
    return ToolCallingAgent(tools=TOOLS, model=model, instructions=INSTRUCTIONS, max_steps=6)


def coder() -> CodeAgent:
    """The same that calls its tools in code."""
    model = OpenAIModel("sim-large", api_key="none", temperature=0.3)
    return CodeAgent(tools=TOOLS, model=model, instructions=INSTRUCTIONS, max_steps=6)


def team() -> ToolCallingAgent:
    """One that gives tasks to another."""
    billing = ToolCallingAgent(
        tools=TOOLS,
        model=OpenAIModel("sim-large", api_key="none"),
        instructions="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
        name="billing",
        description="Handles refunds for orders.",
    )
    return ToolCallingAgent(
        tools=[],
        model=OpenAIModel("sim-large", api_key="none"),
        instructions="You decide who helps.\n\n- Give refunds to billing.\n- Greet the customer.",
        managed_agents=[billing],
        max_steps=6,
    )


async def direct(agent: ToolCallingAgent, text: str) -> str:
    """The two-tool agent run by the framework alone."""
    return str(await asyncio.to_thread(agent.run, text, return_full_result=False))
