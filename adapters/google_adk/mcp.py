"""MCP servers of ADK agents: one connection for each trial, and tools with changed descriptions.

Google's package can do without `mcp`: then no agent has any of these.
"""

import copy
from contextlib import suppress
from typing import Any

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset

from agentmut._base import AdapterError
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.change import ToolRefusedError
from agentmut.adapters._shared.sdk_version import named_version
from agentmut.nouns import ToolSpec

_SERVERS: Any = ()
_SERVED: Any = ()
with suppress(ImportError):
    from google.adk.tools.mcp_tool import McpTool, McpToolset

    _SERVERS, _SERVED = McpToolset, McpTool

_MANAGER = "_mcp_session_manager"
_RAW = "_mcp_tool"


def is_server(toolset: BaseToolset) -> bool:
    """Return whether the toolset's tools are those of an MCP server."""
    return isinstance(toolset, _SERVERS)


def is_served(tool: BaseTool | None) -> bool:
    """Return whether the tool is a tool of an MCP server."""
    return isinstance(tool, _SERVED)


def separate(toolset: BaseToolset) -> BaseToolset:
    """Return the same server with a new connection; another kind of toolset is returned unchanged.

    Copies of ADK's toolsets are made as they are for pickling: nothing is connected. What they write errors to is
    lost that way, and is given back.
    """
    own: Any = toolset
    if not is_server(own):
        return toolset
    if not hasattr(own, _MANAGER):
        raise _unknown("connects to MCP servers")
    fresh, manager = copy.copy(own), copy.copy(getattr(own, _MANAGER))
    for known in (fresh, manager):
        known._errlog = own.errlog
    setattr(fresh, _MANAGER, manager)
    fresh._cached_prefixed_tools = None
    return fresh  # type: ignore[no-any-return]  # a copy of what is Any


def told_otherwise(tool: Any, spec: ToolSpec) -> None:
    """Give a copy of a server's tool other parameters for the model; its calls keep the tool's own name.

    ADK marks what servers say of their tools, in a declaration that it makes of what the server told.
    """
    raw: Any = getattr(tool, _RAW, None)
    fields = getattr(type(raw), "model_fields", {})
    name = next((one for one in ("input_schema", "inputSchema") if one in fields), None)
    if name is None:
        raise _unknown("describes tools of MCP servers")
    setattr(tool, _RAW, raw.model_copy(update={name: dict(spec.parameters)}))


def _unknown(how: str) -> AdapterError:
    return AdapterError(
        f"adapter google_adk does not know how {named_version('google-adk')} {how}; mutants "
        f"can reach the agent by {ON_THE_WIRE}"
    )


def text_of(result: Any, whole: list[dict[str, Any]]) -> Any:
    """Return the text of an answer that is no more than that; ADK is given the whole, which is kept.

    Raises `ToolRefusedError` for a call that has failed.
    """
    if not isinstance(result, dict) or not isinstance(content := result.get("content"), list):
        return result
    texts = [str(one.get("text", "")) for one in content if isinstance(one, dict)]
    if result.get("isError"):
        raise ToolRefusedError(" ".join(texts), result)
    if len(content) == 1 and content[0].get("type") == "text" and not result.get("structuredContent"):
        whole.append(result)
        return texts[0]
    return result


def whole_of(value: Any, whole: list[dict[str, Any]]) -> Any:
    """Return ADK's replacement for a server's answer, which may never have arrived."""
    if not isinstance(value, str):
        return value
    part = {"type": "text", "text": value}
    return {**whole[0], "content": [{**whole[0]["content"][0], **part}]} if whole else {"content": [part]}


def told_of(error: Exception) -> Any:
    """Return what ADK tells the model of a server's tool that failed."""
    if isinstance(error, ToolRefusedError):
        return error.told
    return {"error": f"Unexpected error during MCP tool execution: {error}"}
