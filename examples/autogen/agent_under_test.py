"""The agent that agentmut breaks. Put your own agent, or a team of them, in place of this one."""

from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

PROMPT = Path(__file__).parent / "prompts" / "system.md"
MODEL = "sim-large"  # put the name of your model here
INFO = ModelInfo(  # AutoGen asks for this of models that it does not know; leave it out for the others
    vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True
)


def track_parcel(order_id: str) -> str:
    """Find out where the parcel of an order is and when it arrives."""
    return f"The parcel of order {order_id} arrives in 2 days."


def issue_refund(order_id: str) -> str:
    """Pay back the price of an order to the customer."""
    return f"Order {order_id} is refunded, the money arrives within 5 days."


def build() -> AssistantAgent:
    """Return a fresh agent: AutoGen's agents keep what they were told, so agentmut asks for one for each trial."""
    return AssistantAgent(
        "shop",
        OpenAIChatCompletionClient(model=MODEL, model_info=INFO, temperature=0.7),
        system_message=PROMPT.read_text("utf-8"),
        tools=[track_parcel, issue_refund],
        max_tool_iterations=5,  # with AutoGen's default of 1, the results of tools are the answer
    )
