"""An agent on AG2."""

from ag2 import Agent
from ag2.config import OpenAIConfig

from examples.libraries.tools import PROMPT, look_up_order


async def run(text: str) -> str:
    """Answer by AG2's own loop."""
    agent = Agent("desk", PROMPT, config=OpenAIConfig("sim-large"), tools=[look_up_order])
    return str((await agent.ask(text)).body)
