"""Agents of AutoGen's AgentChat, as a user writes them."""

from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMessageTermination
from autogen_agentchat.teams import Swarm
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

UNKNOWN_TO_AUTOGEN = ModelInfo(
    vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True
)


def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


async def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


def client(**settings: Any) -> OpenAIChatCompletionClient:
    """A client of the simulated model, which AutoGen's own list does not have."""
    return OpenAIChatCompletionClient(model="sim-large", model_info=UNKNOWN_TO_AUTOGEN, **settings)


def desk() -> AssistantAgent:
    """One agent with two tools, which goes on after their calls."""
    return AssistantAgent(
        "desk",
        client(temperature=0.3, seed=7),
        system_message="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, issue_refund],
        max_tool_iterations=5,
    )


def team() -> Swarm:
    """One that hands over to another."""
    shared = client()
    triage = AssistantAgent(
        "triage",
        shared,
        system_message=(
            'You decide who helps.\n\n- Always hand over to billing.\n- Greet the customer with "Hello!".\n'
            '- End with "Goodbye.".'
        ),
        handoffs=["billing"],
    )
    billing = AssistantAgent(
        "billing",
        shared,
        description="Handles refunds.",
        system_message="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
        tools=[look_up_order, issue_refund],
        max_tool_iterations=5,
    )
    answered = TextMessageTermination("triage") | TextMessageTermination("billing")
    return Swarm([triage, billing], termination_condition=answered, max_turns=4)


async def direct(agent: AssistantAgent, text: str) -> str:
    """The agent by the framework alone, for the measure of what the adapter adds."""
    result = await agent.run(task=text)
    return str(result.messages[-1].to_text())
