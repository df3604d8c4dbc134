"""Check that a model can be given these tools: their schemas are valid and their names unique."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentmut._base import Path, UsageError, at_path, fault, nearest, parameters, parts_of, pointer
from agentmut.nouns import ToolSpec

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_OPEN = ("patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if")
"""Keywords that may bring in properties which a schema does not name itself."""
_SAYS_OBJECT = frozenset({"type", "properties", "additionalProperties", "$defs", "required", *_OPEN})


def check_tools(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Return the tools. Raise `UsageError` if a name is missing or repeated, or a schema is wrong."""
    names: set[str] = set()
    for tool in tools:
        if not tool.name.strip():
            raise UsageError(f"a tool has no name ({tool.description[:60]!r}); give it one")
        if tool.name in names:
            raise UsageError(f"more than one tool is named {tool.name!r}; tools need unique names")
        names.add(tool.name)
        check_tool(tool)
    return tuple(tools)


def check_tool(tool: ToolSpec) -> ToolSpec:
    """Return the tool. Raise `UsageError` if its parameters are no JSON Schema of an object."""
    problem = _problem(tool.parameters)
    if problem is not None:
        path, why = problem
        raise UsageError(f"the tool {tool.name!r}: parameters{pointer(path)}: {why}")
    return tool


def _problem(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    found = fault(schema)
    if found is not None:
        return found[0], _explained(schema, *found)
    return _not_an_object(schema) or _dangling(schema, schema, ()) or _unknown_required(schema)


def _explained(schema: Mapping[str, Any], path: Path, why: str) -> str:
    value = at_path(schema, path)
    if path[-1:] == ("type",) and isinstance(value, str):
        return f"{value!r} is no type of JSON Schema. {nearest(value, _TYPES)}"
    return f"{why}. Correct it to what JSON Schema has there"


def _not_an_object(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    kind = schema.get("type", "object")
    if kind not in ("object", ["object"]):
        return ("type",), f"{kind!r}; a tool takes an object. Put each parameter under `properties`"
    if schema and not _SAYS_OBJECT & set(schema) and all(isinstance(v, Mapping) for v in schema.values()):
        named = ", ".join(sorted(schema))
        return (), f"no JSON Schema keyword here, only {named}. Put parameters under `properties`"
    return None


def _dangling(root: Mapping[str, Any], node: Any, path: Path) -> tuple[Path, str] | None:
    """Return a reference into the schema that leads nowhere, with its path; None if there is none."""
    if isinstance(node, list):
        children = [(str(index), item) for index, item in enumerate(node)]
    elif isinstance(node, Mapping):
        target = node.get("$ref")
        if (
            isinstance(target, str)
            and target.startswith("#/")
            and at_path(root, parts_of(target[1:])) is None
        ):
            return (*path, "$ref"), f"{target} leads nowhere. Define it, or correct the reference"
        children = list(node.items())
    else:
        return None
    found = (_dangling(root, item, (*path, key)) for key, item in children)
    return next((problem for problem in found if problem), None)


def _unknown_required(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    objects = dict.fromkeys(
        [(), *(place for found in parameters(schema) for place in (found.owner, found.at))]
    )
    for path in objects:
        node = at_path(schema, path)
        if not isinstance(node, Mapping) or any(key in node for key in _OPEN):
            continue
        known = node.get("properties", {})
        for index, name in enumerate(node.get("required", ())):
            if name not in known:
                return (*path, "required", str(index)), (
                    f"{name!r} is required, but is no property. {nearest(str(name), known)}"
                )
    return None
