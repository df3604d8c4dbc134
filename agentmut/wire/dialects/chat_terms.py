"""Tool choices and formats of answers in the terms of Chat Completions, which are those of the normal form."""

from collections.abc import Mapping
from typing import Any


def named_tool(choice: Any) -> str | None:
    """The name of the tool that a choice demands; None where it demands none by name.

    >>> named_tool({"type": "function", "function": {"name": "pay"}}), named_tool("auto")
    ('pay', None)
    """
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def choice_of(name: str) -> dict[str, Any]:
    """The choice that demands a tool."""
    return {"type": "function", "function": {"name": name}}


def wanted_schema(wanted: Any) -> Mapping[str, Any] | None:
    """The schema of a format, beside its name and so on; None where it has none.

    >>> wanted_schema({"type": "json_schema", "json_schema": {"schema": {}}}), wanted_schema({"type": "json_object"})
    ({'schema': {}}, None)
    """
    named = wanted.get("json_schema") if isinstance(wanted, dict) else None
    return named if isinstance(named, dict) and "schema" in named else None
