"""The list of MCP servers that clients keep: `mcpServers` in JSON."""

from typing import ClassVar

from agentmut._base import ProjectError
from agentmut.nouns import ToolSpec
from agentmut.project.tool_servers import servers_in, tools_named_in
from agentmut.seams import ConfigFile, FoundAgent


class McpServers:
    """Servers and, where the client lists them, the names of their tools. The servers are not started."""

    name: ClassVar[str] = "mcp_servers"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file is JSON with servers."""
        return file.suffix == ".json" and bool(servers_in(file))

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return one agent with the tools that are named. Raises `ProjectError` where none is."""
        found = {name: file.source.line(path) for name, path in tools_named_in(file).items()}
        if not found:
            servers = ", ".join(servers_in(file))
            raise ProjectError(
                f"{file.label} names the MCP servers {servers}, and none of their tools: the servers "
                "tell these when they run. `agentmut init --from` this file starts a project for one server; "
                "or pass a recorded model request with --request."
            )
        return (
            FoundAgent(
                name=file.path.stem, named=tuple(ToolSpec(name=name) for name in found), tool_lines=found
            ),
        )
