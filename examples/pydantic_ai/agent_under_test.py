"""The agent that agentmut breaks. Put your own agent and tools in place of these."""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

PROMPT = """You answer the customers of a small shop.

- Always greet the customer with "Hello!".
- If the customer asks about a delivery, you must track the parcel and say when it arrives.
- If the customer asks for a refund, you must issue the refund and say when the money arrives.
- Never promise a guarantee.
- Answer in at most 80 words.
"""


def track_parcel(order_id: str) -> str:
    """Find out where the parcel of an order is and when it arrives."""
    return f"The parcel of order {order_id} arrives in 2 days."


def issue_refund(order_id: str) -> str:
    """Pay back the price of an order to the customer."""
    return f"Order {order_id} is refunded, the money arrives within 5 days."


def build() -> Agent[Any, str]:
    """Return a fresh agent."""
    return Agent(
        OpenAIChatModel("sim-large"),  # put the name of your model here
        name="desk",
        instructions=PROMPT,
        tools=[track_parcel, issue_refund],
        model_settings={"temperature": 0.7},
    )
