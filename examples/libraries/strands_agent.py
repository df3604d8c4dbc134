"""An agent on Strands."""

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from examples.libraries.tools import PROMPT, look_up_order


async def run(text: str) -> str:
    """Answer by Strands' own loop."""
    agent = Agent(
        model=OpenAIModel(model_id="sim-large"),
        system_prompt=PROMPT,
        tools=[tool(look_up_order)],
        callback_handler=None,
    )
    return str(await agent.invoke_async(text))
