"""The list of MCP servers that clients keep: `mcpServers` in JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentmut._base import ProjectError
from agentmut.nouns import ToolSpec
from agentmut.seams import ConfigFile, FoundAgent

_LISTS = (
    "alwaysAllow",
    "autoApprove",
    "includeTools",
    "enabledTools",
    "enabled_tools",
    "allowedTools",
    "tools",
)
"""Where clients name the tools that may be used, or that need no approval."""


class McpServers:
    """Servers and, where the client lists them, the names of their tools. The servers are not started."""

    name: ClassVar[str] = "mcp_servers"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file is JSON with servers."""
        return file.suffix == ".json" and bool(servers_of(file.values))

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return one agent with the tools that are named. Raises `ProjectError` where none is."""
        servers = servers_of(file.values)
        found = {name: file.source.line(path) for path, name in _named(servers, _key(file.values))}
        if not found:
            raise ProjectError(
                f"{file.label} names the MCP servers {', '.join(servers)}, and none of their tools: the servers "
                "tell these when they run. `agentmut init --from` this file starts a project for one server; "
                "or pass a recorded model request with --request."
            )
        return (
            FoundAgent(
                name=file.path.stem, named=tuple(ToolSpec(name=name) for name in found), tool_lines=found
            ),
        )


def _key(values: Mapping[str, Any]) -> str:
    return "mcpServers" if "mcpServers" in values else "servers"


def servers_of(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the servers by name; empty where the values are no list of MCP servers."""
    servers = values.get(_key(values))
    if not isinstance(servers, dict):
        return {}
    sound = all(
        isinstance(one, dict) and {"command", "url", "httpUrl"} & one.keys() for one in servers.values()
    )
    return servers if sound else {}


def _named(servers: Mapping[str, Any], key: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for server, settings in servers.items():
        for kind in _LISTS:
            listed = settings.get(kind)
            for at, tool in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(tool, str) and "*" not in tool:
                    yield (key, server, kind, at), tool
