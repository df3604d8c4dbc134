"""The list of a server's tools that a client gets: `tools/list` replies in the form of a config. Pure functions.

Tools are as the protocol writes them: mappings with `name`, `description` and `inputSchema`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentmut.nouns import FaultKind, ToolSpec
from agentmut.recording import ToolChange

Tool = Mapping[str, Any]
_FIELDS = (("name", "name"), ("description", "description"), ("parameters", "inputSchema"))
"""The fields of a `ToolSpec`, and of a tool of the protocol."""


def spec_of(tool: Tool) -> ToolSpec:
    """Return a tool as a model is told of it.

    >>> spec_of({"name": "look", "inputSchema": {"type": "object"}}).parameters
    {'type': 'object'}
    """
    description, schema = tool.get("description") or "", dict(tool.get("inputSchema") or {})
    return ToolSpec(name=tool["name"], description=description, parameters=schema)


def own_name(change: ToolChange, offered: str) -> str | None:
    """Return the server's own name of an offered tool; None if the tool is not offered.

    A tool that the config does not know is the server's own affair.
    """
    own = {tool.name: tool.own_name for tool in change.after}
    if offered in own:
        return own[offered]
    return None if any(offered == tool.name for tool in change.before) else offered


def listed(tools: Sequence[Tool], change: ToolChange, *, loose: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return a page of a server's tools as the config offers them.

    Tools that the config does not know stay as they are. Decoys follow at the end of the page that has their
    neighbour. The tools of `loose`, by their own names, promise no form of their results.
    """
    here = {tool["name"]: tool for tool in tools}
    before = {tool.name: tool for tool in change.before}
    after = {tool.own_name: tool for tool in change.after if tool.own_name in here}
    kept = [dict(tool) for tool in tools if tool["name"] in after or tool["name"] not in before]
    ordered = _ordered(kept, change, after)
    offered = [
        _changed_tool(tool, before.get(tool["name"]), after.get(tool["name"]), loose) for tool in ordered
    ]
    return offered + [_decoy(tool) for tool in _decoys(change, after)]


def _ordered(
    tools: list[dict[str, Any]], change: ToolChange, after: Mapping[str, ToolSpec]
) -> list[dict[str, Any]]:
    """Return the known tools in the config's order, where it differs from the server's."""
    was = [tool.name for tool in change.before if tool.name in after]
    wanted = [name for name in after if name in was]
    if was == wanted:
        return tools
    by_name = {tool["name"]: tool for tool in tools}
    names = iter(wanted)
    return [by_name[next(names)] if tool["name"] in was else tool for tool in tools]


def _changed_tool(
    tool: dict[str, Any], before: ToolSpec | None, after: ToolSpec | None, loose: Collection[str]
) -> dict[str, Any]:
    """Return the tool with the changes of the config; everything else stays as the server sends it."""
    if tool["name"] in loose:
        tool = {key: value for key, value in tool.items() if key != "outputSchema"}
    if before is None or after is None:
        return tool
    pairs = ((key, getattr(before, field), getattr(after, field)) for field, key in _FIELDS)
    return {**tool, **{key: new for key, old, new in pairs if old != new}}


def _decoys(change: ToolChange, here: Mapping[str, ToolSpec]) -> list[ToolSpec]:
    """Return the decoys whose place is after a tool of this page, or before the first page's first tool."""
    real = [tool for tool in change.after if not _is_decoy(tool)]
    places = {id(tool): index for index, tool in enumerate(change.after)}

    def is_ours(decoy: ToolSpec) -> bool:
        ahead = [tool for tool in real if places[id(tool)] < places[id(decoy)]]
        neighbour = (ahead[-1:] or real[:1] or [decoy])[0]
        return neighbour.own_name in here

    return [tool for tool in change.after if _is_decoy(tool) and is_ours(tool)]


def _is_decoy(tool: ToolSpec) -> bool:
    return tool.fault is not None and tool.fault.kind is FaultKind.DECOY


def _decoy(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.parameters)}
