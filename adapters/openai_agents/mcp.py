"""MCP servers of agents of the OpenAI Agents SDK: connected for one trial, with their tools as function tools."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agents import Agent, FunctionTool, RunContextWrapper
from agents.mcp import MCPServer, MCPServerManager

from agentmut._base import AdapterError, one_line

CONNECT_SECONDS = 60.0
"""How long a server may take until it answers; one that is fetched by a package manager takes long."""
Served = Mapping[str, tuple[FunctionTool, ...]]
"""The tools of the servers of each agent, by the agent's name."""

_REFUSALS: ContextVar[list[str] | None] = ContextVar("agentmut_mcp_refusals", default=None)


class Connections:
    """The servers of a team's members for one trial; a server that two members share is connected once."""

    def __init__(self, members: Mapping[str, Agent[Any]]) -> None:
        self._members = {name: agent for name, agent in members.items() if agent.mcp_servers}
        servers = (server for agent in self._members.values() for server in agent.mcp_servers)
        self._manager = MCPServerManager(
            servers, connect_timeout_seconds=CONNECT_SECONDS, strict=True, connect_in_parallel=True
        )

    async def tools(self) -> Served:
        """Connect, and list the tools as the SDK offers them. Raise the errors of a server or its transport."""
        if not self._members:
            return {}
        await self._manager.connect_all()
        return {name: await _listed(agent) for name, agent in self._members.items()}

    async def close(self) -> None:
        """End all connections and the programs that serve them."""
        if self._members:
            await self._manager.cleanup_all()


async def served_once(members: Mapping[str, Agent[Any]]) -> Served:
    """Return the tools of the servers, over connections that end at once.

    Raises `AdapterError` where there are none.
    """
    connections = Connections(members)
    try:
        return await connections.tools()
    except Exception as error:
        names = ", ".join(server.name for agent in members.values() for server in agent.mcp_servers)
        raise AdapterError(
            f"the MCP servers of the agent ({names}) list no tools: {one_line(error)}"
        ) from error
    finally:
        await connections.close()


@contextmanager
def refusals() -> Iterator[list[str]]:
    """Collect the texts of failed calls, which the SDK passes on like any other result."""
    found: list[str] = []
    token = _REFUSALS.set(found)
    try:
        yield found
    finally:
        _REFUSALS.reset(token)


async def _listed(agent: Agent[Any]) -> tuple[FunctionTool, ...]:
    telling = agent.clone(mcp_servers=[_telling(server) for server in agent.mcp_servers])
    tools = await telling.get_mcp_tools(RunContextWrapper(context=None))
    return tuple(tool for tool in tools if isinstance(tool, FunctionTool))


def _telling(server: MCPServer) -> MCPServer:
    """Return the same connection with its failed calls added to the `refusals`."""
    telling: Any = copy.copy(server)

    async def call_tool(*args: Any, **kwargs: Any) -> Any:
        result = await server.call_tool(*args, **kwargs)
        noted = _REFUSALS.get()
        if noted is not None and _is_error(result):
            noted.append(" ".join(getattr(part, "text", "") for part in result.content))
        return result

    telling.call_tool = call_tool
    return telling  # type: ignore[no-any-return]  # a copy of what is Any


def _is_error(result: Any) -> bool:
    """Return whether a result reports a failed call; version 1 of mcp has another name for the field."""
    return bool(getattr(result, "is_error", False) or getattr(result, "isError", False))
