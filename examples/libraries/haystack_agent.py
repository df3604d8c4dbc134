"""An agent on Haystack."""

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function

from examples.libraries.tools import PROMPT, look_up_order


async def run(text: str) -> str:
    """Answer by Haystack's own loop."""
    agent = Agent(
        chat_generator=OpenAIChatGenerator(model="sim-large"),
        system_prompt=PROMPT,
        tools=[create_tool_from_function(look_up_order)],
    )
    reply = await agent.run_async(messages=[ChatMessage.from_user(text)])
    return str(reply["messages"][-1].text)
