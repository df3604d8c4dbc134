"""Agents of the OpenAI Agents SDK whose tools are those of MCP servers, and some that an adapter has to refuse."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from agents import Agent, function_tool
from agents.mcp import MCPServer, MCPServerStdio
from mcp import Client

from tests.frameworks.mcp_orders import orders
from tests.frameworks.openai_agents_odd_agents import PROMPT, said


class InProcess(MCPServer):
    """A user's own kind of connection: to a server in the same process."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client = Client(orders)
        self.open = 0

    @property
    def name(self) -> str:
        return "orders"

    async def connect(self) -> None:
        await self.client.__aenter__()
        self.open += 1

    async def cleanup(self) -> None:
        await self.client.__aexit__(None, None, None)
        self.open -= 1

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> Any:
        return (await self.client.list_tools()).tools

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:
        return await self.client.call_tool(tool_name, arguments)

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        raise NotImplementedError


def served() -> Agent:
    """Its tools are those of a server."""
    return Agent(name="desk", instructions=PROMPT, mcp_servers=[InProcess()], model="sim-large")


def served_by_a_program() -> Agent:
    """Its tools are those of a program, over stdio."""
    program = Path(__file__).with_name("mcp_orders.py")
    server = MCPServerStdio(
        {"command": sys.executable, "args": ["-I", str(program)]}, client_session_timeout_seconds=60
    )
    return said([("find", {"order_id": "A-1"})], "Monday.", tools=[], mcp_servers=[server])


OPENED: list[InProcess] = []


def served_and_said() -> Agent:
    """A script that calls a tool of a server, once in vain; the server's tools have its name before theirs."""
    OPENED.append(InProcess())
    return said(
        [("mcp_orders__look_up_order", {"order_id": "A-0"})],
        [("mcp_orders__look_up_order", {"order_id": "A-1"})],
        "Monday.",
        mcp_servers=[OPENED[-1]],
        mcp_config={"include_server_in_tool_names": True},
    )


ONE_SERVER = InProcess()


def served_by_one_for_all() -> Agent:
    return said("Hello.", mcp_servers=[ONE_SERVER])


def served_by_nobody() -> Agent:
    server = MCPServerStdio({"command": "no-such-program-of-agentmut"}, name="nobody")
    return said("Hello.", mcp_servers=[server])


@function_tool
async def never_answers() -> str:
    """Takes its time."""
    await asyncio.sleep(60)
    return "late"


def hanging_and_served() -> Agent:
    """Cut short while its server is connected."""
    OPENED.append(InProcess())
    return said([("never_answers", {})], tools=[never_answers], mcp_servers=[OPENED[-1]])
