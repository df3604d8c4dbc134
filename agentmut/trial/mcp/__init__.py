"""Tool servers (Model Context Protocol): agentmut sits between an agent and its servers, over every transport."""

from agentmut.trial.mcp.watching import watch

__all__ = ["watch"]
