"""The agent that agentmut breaks. Put your own agent, or a workflow of them, in place of this one."""

from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike

PROMPT = Path(__file__).parent / "prompts" / "system.md"
MODEL = "sim-large"  # put the name of your model here


def track_parcel(order_id: str) -> str:
    """Find out where the parcel of an order is and when it arrives."""
    return f"The parcel of order {order_id} arrives in 2 days."


def issue_refund(order_id: str) -> str:
    """Pay back the price of an order to the customer."""
    return f"Order {order_id} is refunded, the money arrives within 5 days."


def build() -> FunctionAgent:
    """Return a fresh agent for each trial."""
    model = OpenAILike(  # models of OpenAI need but `OpenAI(model=...)`; of others LlamaIndex has to be told all this
        model=MODEL,
        temperature=0.7,
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=128_000,  # with the default of 3900, earlier messages are soon left out
        # else streams do not say what they cost
        additional_kwargs={"stream_options": {"include_usage": True}},
    )
    return FunctionAgent(
        name="shop",
        system_prompt=PROMPT.read_text("utf-8"),
        tools=[track_parcel, issue_refund],
        llm=model,
    )
