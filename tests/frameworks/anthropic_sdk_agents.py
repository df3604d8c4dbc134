"""Agents on Anthropic's SDK, as a user writes them. The ready loop is given the functions of order_tools.py."""

import asyncio
import functools
from collections.abc import Sequence
from typing import Any

from anthropic import Anthropic

from tests.frameworks.order_tools import MARKED, PROMPT, SPECS, TRIAGE, order_tool, stock_tool

__all__ = ["order_tool", "stock_tool"]  # whose calls can be doubled
TOOLS = [
    {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in SPECS
]


def run(text: str) -> str:
    """Two agents: one says what the message is about, the other answers it with tools."""
    with Anthropic() as client:
        converse(client, TRIAGE, text, [])
        return converse(client, PROMPT, text, TOOLS)


@functools.cache
def client() -> Anthropic:
    """It takes long to make, and serves any number of runs."""
    return Anthropic()


async def direct(agent: Anthropic, text: str) -> str:
    """The agent by the SDK alone; `agent` is a client."""
    return await asyncio.to_thread(converse, agent, PROMPT, text, TOOLS)


def converse(client: Anthropic, system: str, text: str, tools: Sequence[Any]) -> str:
    """Ask, carry out what is called, until there is an answer."""
    asked: Any = {"model": "sim-large", "max_tokens": 1024, "system": system, "tools": tools}
    messages: list[Any] = [{"role": "user", "content": text}]
    for _ in range(5):
        content = client.messages.create(messages=messages, **asked).content
        uses = [block for block in content if block.type == "tool_use"]
        if not uses:
            return "".join(block.text for block in content if block.type == "text")
        answers = {"role": "user", "content": [_result(use) for use in uses]}
        messages = [*messages, {"role": "assistant", "content": content}, answers]
    return "I give up."


def _result(use: Any) -> dict[str, Any]:
    try:
        text, failed = str(MARKED[use.name](**use.input)), False
    except Exception as error:
        text, failed = f"Error: {error}", True
    return {"type": "tool_result", "tool_use_id": use.id, "content": text, "is_error": failed}
