"""The agent that agentmut breaks. Put your own agent, with those below it, in place of this one."""

from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.genai.types import GenerateContentConfig

PROMPT = Path(__file__).parent / "prompts" / "system.md"
MODEL = Gemini(model="sim-large")  # put your model here, or its name; made once, as its client takes its time


def track_parcel(order_id: str) -> str:
    """Find out where the parcel of an order is and when it arrives."""
    return f"The parcel of order {order_id} arrives in 2 days."


def issue_refund(order_id: str) -> str:
    """Pay back the price of an order to the customer."""
    return f"Order {order_id} is refunded, the money arrives within 5 days."


def build() -> LlmAgent:
    """Return a fresh agent for each trial."""
    return LlmAgent(
        name="shop",
        model=MODEL,
        instruction=PROMPT.read_text("utf-8"),
        tools=[track_parcel, issue_refund],
        generate_content_config=GenerateContentConfig(temperature=0.7),
    )
