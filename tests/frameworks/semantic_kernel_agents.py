"""Agents of Semantic Kernel, as a user writes them."""

from semantic_kernel.agents import (
    ChatCompletionAgent,
    HandoffOrchestration,
    OrchestrationHandoffs,
    SequentialOrchestration,
)
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.functions import KernelArguments, kernel_function

PROMPT = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."


class Orders:
    """What the shop's computers can do."""

    @kernel_function(description="Look up an order by its number.")
    def look_up_order(self, order_id: str) -> str:
        return f"{order_id} was delivered on Monday."

    @kernel_function(description="Pay money back to the customer.")
    async def issue_refund(self, order_id: str, amount: float) -> str:
        return f"{amount} euros for {order_id} are on their way."


def desk() -> ChatCompletionAgent:
    """One agent with two tools."""
    return ChatCompletionAgent(
        name="desk",
        instructions=PROMPT,
        service=OpenAIChatCompletion(ai_model_id="sim-large"),
        plugins=[Orders()],
        arguments=KernelArguments(OpenAIChatPromptExecutionSettings(temperature=0.3)),
    )


def team() -> ChatCompletionAgent:
    """One that asks another."""
    billing = ChatCompletionAgent(
        name="billing",
        description="Handles refunds.",
        instructions="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
        service=OpenAIChatCompletion(ai_model_id="sim-large"),
        plugins=[Orders()],
    )
    return ChatCompletionAgent(
        name="triage",
        instructions="You decide who helps.\n\n- Hand refunds to billing.\n- Greet the customer.",
        service=OpenAIChatCompletion(ai_model_id="sim-large"),
        plugins=[billing],
    )


def member(name: str, instructions: str, *plugins: object) -> ChatCompletionAgent:
    """One of several."""
    return ChatCompletionAgent(
        name=name,
        description=f"Does {name}.",
        instructions=instructions,
        service=OpenAIChatCompletion(ai_model_id="sim-large"),
        plugins=list(plugins),
    )


def line() -> SequentialOrchestration:
    """One after the other."""
    finder = member("finder", "You find orders.\n\n- Always look up the order first.\n- Be brief.", Orders())
    return SequentialOrchestration(
        [finder, member("writer", "You write answers.\n\n- Be kind.\n- Be brief.")]
    )


def swarm() -> HandoffOrchestration:
    """One that hands over to others."""
    triage = member("triage", "You decide who helps.\n\n- Hand refunds to billing.\n- Greet the customer.")
    billing = member(
        "billing", "You handle money.\n\n- Always look up the order first.\n- Be brief.", Orders()
    )
    stock = member("stock", "You look up orders.", Orders())
    handoffs = OrchestrationHandoffs().add_many(triage, [billing, stock])
    return HandoffOrchestration([triage, billing, stock], handoffs)


async def direct(agent: ChatCompletionAgent, text: str) -> str:
    """The agent's answer, by Semantic Kernel alone."""
    return str((await agent.get_response(messages=text)).message)
