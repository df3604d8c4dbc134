"""Agents of ADK whose tools are those of MCP servers and other toolsets."""

import sys
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.adk.tools.mcp_tool.mcp_session_manager import MCPSessionManager
from mcp import StdioServerParameters
from mcp.client._memory import InMemoryTransport

from tests.frameworks.google_adk_agents import MODEL
from tests.frameworks.mcp_orders import orders

INSTRUCTION = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date."
NOWHERE = StdioConnectionParams(server_params=StdioServerParameters(command="no-such-program-of-agentmut"))


class InProcess(MCPSessionManager):
    """Connections to a server in the same process."""

    def _create_client(self, *args: Any, **kwargs: Any) -> Any:
        return InMemoryTransport(orders)


def server(**options: Any) -> McpToolset:
    toolset = McpToolset(connection_params=NOWHERE, **options)
    toolset._mcp_session_manager = InProcess(NOWHERE)
    return toolset


def agent(*tools: Any, **options: Any) -> LlmAgent:
    return LlmAgent(name="desk", model=MODEL, instruction=INSTRUCTION, tools=list(tools), **options)


def served() -> LlmAgent:
    """Its tools are those of a server."""
    return agent(server())
