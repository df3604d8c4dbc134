"""An agent on Agno."""

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.run import RunStatus

from examples.libraries.tools import PROMPT, look_up_order


async def run(text: str) -> str:
    """Answer by Agno's own loop."""
    agent = Agent(
        model=OpenAIChat(id="sim-large"), instructions=PROMPT, tools=[look_up_order], telemetry=False
    )
    reply = await agent.arun(text)
    if reply.status is RunStatus.error:  # Agno answers with the error's text
        raise RuntimeError(reply.content)
    return str(reply.content)
