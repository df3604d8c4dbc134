"""An agent on the Claude Agent SDK, as a program: its bundled command line makes the model requests."""

import asyncio
import sys
import tempfile
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

from examples.libraries.tools import PROMPT, look_up_order


async def look(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": look_up_order(**arguments)}]}


async def answer(text: str, home: str) -> None:
    """Print the answer; what the command line keeps goes into `home`."""
    order = tool("look_up_order", look_up_order.__doc__ or "", {"order_id": str})(look)
    quiet = {"CLAUDE_CONFIG_DIR": home, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    options = ClaudeAgentOptions(model="sim-large", system_prompt=PROMPT, tools=[], env=quiet, cwd=home)
    options.mcp_servers = {"desk": create_sdk_mcp_server("desk", tools=[order])}
    options.setting_sources, options.allowed_tools = [], ["mcp__desk__look_up_order"]
    async for message in query(prompt=text, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(answer(sys.argv[1], folder))
