"""The agent that agentmut breaks. Put your own agent and tools in place of these."""

from pathlib import Path

from smolagents import OpenAIModel, ToolCallingAgent, tool

PROMPT = Path(__file__).parent / "prompts" / "system.md"
MODEL = "sim-large"  # put the name of your model here


@tool
def track_parcel(order_id: str) -> str:
    """Find out where the parcel of an order is and when it arrives.

    Args:
        order_id: The number of the order.
    """
    return f"The parcel of order {order_id} arrives in 2 days."


@tool
def issue_refund(order_id: str) -> str:
    """Pay back the price of an order to the customer.

    Args:
        order_id: The number of the order.
    """
    return f"Order {order_id} is refunded, the money arrives within 5 days."


def build() -> ToolCallingAgent:
    """Return the agent; agentmut copies it for each trial. A CodeAgent is measured in the same way."""
    return ToolCallingAgent(
        tools=[track_parcel, issue_refund],
        model=OpenAIModel(MODEL, temperature=0.7),
        instructions=PROMPT.read_text("utf-8"),
        max_steps=8,
    )
