"""The agent that agentmut breaks. Put your own agent and plugins in place of these."""

from pathlib import Path

from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.functions import KernelArguments, kernel_function

PROMPT = Path(__file__).parent / "prompts" / "system.md"
MODEL = "sim-large"  # put the name of your model here


class Shop:
    """The model calls these Shop-track_parcel and Shop-issue_refund, and so do scenarios."""

    @kernel_function(description="Find out where the parcel of an order is and when it arrives.")
    def track_parcel(self, order_id: str) -> str:
        return f"The parcel of order {order_id} arrives in 2 days."

    @kernel_function(description="Pay back the price of an order to the customer.")
    def issue_refund(self, order_id: str) -> str:
        return f"Order {order_id} is refunded, the money arrives within 5 days."


def build() -> ChatCompletionAgent:
    """Return a fresh agent for each trial, which agentmut copies with its changes."""
    return ChatCompletionAgent(
        name="shop",
        instructions=PROMPT.read_text("utf-8"),
        service=OpenAIChatCompletion(ai_model_id=MODEL),
        plugins=[Shop()],
        arguments=KernelArguments(OpenAIChatPromptExecutionSettings(temperature=0.7)),
    )
