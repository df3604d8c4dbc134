"""Agents of LlamaIndex, as a user writes them."""

from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.llms.openai_like import OpenAILike


def model(**settings: Any) -> OpenAILike:
    """A model that LlamaIndex does not know by name. Streams end with what they cost."""
    return OpenAILike(
        model="sim-large",
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=32_000,
        additional_kwargs={"stream_options": {"include_usage": True}},
        **settings,
    )


def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


async def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


def desk() -> FunctionAgent:
    """One agent with two tools."""
    return FunctionAgent(
        name="desk",
        system_prompt="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, issue_refund],
        llm=model(temperature=0.3),
    )


def team() -> AgentWorkflow:
    """One that hands over to others."""
    triage = FunctionAgent(
        name="triage",
        description="Decides who helps.",
        system_prompt="You decide who helps.\n\n- Hand refunds to billing.\n- Greet the customer.",
        can_handoff_to=["billing", "shipping"],
        llm=model(),
        streaming=False,
    )
    billing = FunctionAgent(
        name="billing",
        description="Handles refunds.",
        system_prompt="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
        tools=[look_up_order, issue_refund],
        can_handoff_to=[],
        llm=model(),
        streaming=False,
    )
    shipping = FunctionAgent(
        name="shipping",
        description="Knows where parcels are.",
        system_prompt="You look up orders.",
        tools=[look_up_order],
        can_handoff_to=[],
        llm=model(),
        streaming=False,
    )
    return AgentWorkflow(agents=[triage, billing, shipping], root_agent="triage")


def thinker() -> ReActAgent:
    """One that is told of its tools in the prompt, and calls them in its text."""
    return ReActAgent(
        name="thinker",
        system_prompt="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, issue_refund],
        llm=model(),
        streaming=False,
    )


async def direct(agent: FunctionAgent, text: str) -> str:
    """The agent by the framework alone."""
    return str(await agent.run(user_msg=text))
