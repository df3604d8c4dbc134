"""The list of MCP servers that a client keeps: its servers, and the tools that it names."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentmut.seams import ConfigFile

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


def servers_in(file: ConfigFile) -> dict[str, dict[str, Any]]:
    """Return the servers of a file by name; empty where it is no list of servers.

    They stand under `mcpServers` or `servers`; a plugin's `.mcp.json` may have them at its top.
    """
    return _listed(file)[1]


def tools_named_in(file: ConfigFile) -> dict[str, tuple[str | int, ...]]:
    """Return the tools that a client's list names, and where each stands."""
    above, servers = _listed(file)
    return {name: path for path, name in _named(servers, above)}


def _listed(file: ConfigFile) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    key = "mcpServers" if "mcpServers" in file.values else "servers"
    for above, found in (((key,), file.values.get(key)), ((), file.values)):
        if (above or file.path.name == ".mcp.json") and _are_servers(found):
            return above, dict(found or {})
    return (), {}


def _are_servers(found: Any) -> bool:
    return (
        isinstance(found, Mapping)
        and bool(found)
        and all(
            isinstance(one, dict) and {"command", "url", "httpUrl"} & one.keys() for one in found.values()
        )
    )


def _named(servers: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for server, settings in servers.items():
        for kind in _LISTS:
            listed = settings.get(kind)
            for at, tool in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(tool, str) and "*" not in tool:
                    yield (*above, server, kind, at), tool
