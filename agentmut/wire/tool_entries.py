"""Entries of a request's list of tools: reading them, and writing anew what differs."""

from collections.abc import Callable, Mapping
from typing import Any

from agentmut.errors import UsageError
from agentmut.tools import ToolSpec, read_tool


def spec_of(entry: Mapping[str, Any], where: str) -> ToolSpec:
    """Read an entry with name, description and parameters. Raises `ValueError` naming the place."""
    try:
        return read_tool(entry)
    except (UsageError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None


def rewritten(
    entry: dict[str, Any], was: ToolSpec, spec: ToolSpec, schema_key: str, schema: Callable[[], Any]
) -> dict[str, Any]:
    """The entry that reads as `was`, changed so that it reads as `spec`; `schema` writes its parameters."""
    changes: dict[str, Any] = {}
    if spec.name != was.name:
        changes["name"] = spec.name
    if spec.description != was.description:
        changes["description"] = spec.description
    if spec.parameters != was.parameters:
        changes[schema_key] = schema()
    kept = {key: value for key, value in entry.items() if changes.get(key) != ""}
    return {**kept, **{key: value for key, value in changes.items() if value != ""}}
