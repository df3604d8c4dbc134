"""A tool server, and an agent that uses it, as a user writes them."""

import json
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from openai import AsyncOpenAI

from agentmut.nouns.config import AgentConfig
from agentmut.trial.mcp import watch

STEPS = 8


def orders() -> MCPServer:
    """A server with two tools."""
    server = MCPServer("orders")

    @server.tool()
    def look_up_order(order_id: str, question: str = "") -> str:
        """Look up an order by its number."""
        if order_id == "A-0":
            raise ValueError("there is no order A-0")
        return f"{order_id} was delivered on Monday."

    @server.tool()
    async def issue_refund(order_id: str, amount: float) -> dict[str, Any]:
        """Pay money back to the customer."""
        return {"order": order_id, "paid": amount}

    return server


def empty() -> MCPServer:
    """A server without tools."""
    return MCPServer("empty")


def broken() -> MCPServer:
    """A factory that fails."""
    raise RuntimeError("no database")


def name() -> str:
    """A factory of something else."""
    return "orders"


async def desk(config: AgentConfig, turns: str | list[str]) -> list[str] | str:
    """An agent whose tools are those of the server."""
    async with Client(orders()) as client:
        messages: list[Any] = [{"role": "system", "content": config.system_text()}]
        answers = [
            await _answer(config, watch(client), messages, turn)
            for turn in ([turns] if isinstance(turns, str) else turns)
        ]
    return answers[0] if isinstance(turns, str) else answers


async def _answer(config: AgentConfig, client: Client, messages: list[Any], turn: str) -> str:
    messages.append({"role": "user", "content": turn})
    tools: list[Any] = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in (await client.list_tools()).tools
    ]
    settings: dict[str, Any] = config.model.model_dump(
        include={"temperature", "max_tokens", "stop"}, exclude_defaults=True
    )
    async with AsyncOpenAI() as model:
        for _ in range(STEPS):
            reply = await model.chat.completions.create(
                model=config.model.name, messages=messages, tools=tools, **settings
            )
            said: Any = reply.choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return str(said.content)
            for call in said.tool_calls:
                result = await client.call_tool(call.function.name, json.loads(call.function.arguments))
                text = "\n".join(getattr(block, "text", "") for block in result.content)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    raise RuntimeError("too many steps")


async def direct(agent: MCPServer, asked: Any) -> str:
    """A call of the server by the package alone; `asked` is a turn of a scenario."""
    async with Client(agent) as client:
        await client.list_tools()
        result = await client.call_tool(asked["tool"], asked["arguments"])
        return str(getattr(result.content[0], "text", ""))
