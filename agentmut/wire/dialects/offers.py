"""The tools that a request offers: read in any dialect, and written back with only the changed parts."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentmut._base import UsageError, canonical_json
from agentmut.nouns import EMPTY_SCHEMA, OfferedTool, ToolSpec, read_tool
from agentmut.wire import bodies
from agentmut.wire.dialects.places import merged, same


def read_spec(part: Any, where: str) -> ToolSpec:
    """Return the tool that an entry's part (name, description, schema) describes. Raises `ValueError`."""
    try:
        return _spec_of(json.dumps(bodies.mapping(part, where)))
    except (UsageError, TypeError) as error:
        raise ValueError(f"{where.partition('].')[0].removesuffix(']')}]: {error}") from None


@lru_cache(maxsize=1024)  # every request of an agent offers its tools anew
def _spec_of(part: str) -> ToolSpec:
    return read_tool(json.loads(part))


def with_spec(part: Mapping[str, Any], spec: ToolSpec, schema_key: str | None) -> dict[str, Any]:
    """Return the part of an entry with another name, description and schema, as far as these differ.

    `schema_key` is where its schema stands; None for a tool that has none.
    """
    before = read_spec(part, "the tool")
    fresh: dict[str, Any] = dict(part)
    if spec.name != before.name:
        fresh["name"] = spec.name
    if spec.description != before.description:
        fresh = _with_description(fresh, spec.description)
    if schema_key is not None and not same(before.parameters, spec.parameters):
        fresh[schema_key] = merged(part.get(schema_key) or dict(EMPTY_SCHEMA), spec.parameters)
    return fresh


def _with_description(part: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the tool with its new description after the name, or without an empty one."""
    if not text:
        return {key: value for key, value in part.items() if key != "description"}
    if "description" in part:
        return {**part, "description": text}
    head = {"name": part["name"]}
    return {**{k: v for k, v in part.items() if k == "type"}, **head, "description": text, **part}


def unchanged(before: Sequence[OfferedTool], after: Sequence[OfferedTool]) -> bool:
    """Return whether the same tools are on offer in the same order, as the service sees them."""
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(same(a.raw, b.raw) and _alike(a.spec, b.spec) for a, b in pairs)


def _alike(left: ToolSpec | None, right: ToolSpec | None) -> bool:
    if left is None or right is None:
        return left is right
    told = (left.name, left.description) == (right.name, right.description)
    return told and same(left.parameters, right.parameters)


def is_among(value: object, names: set[str]) -> bool:
    """Return whether a value of a body, of any type, is one of the names."""
    return isinstance(value, str) and value in names


def removed_names(before: Sequence[OfferedTool], after: Sequence[OfferedTool]) -> set[str]:
    """Return the names of the removed tools; a renamed tool is not removed."""
    kept = {id(tool.raw) for tool in after}
    lost = [tool for tool in before if tool.spec and id(tool.raw) not in kept]
    written = {canonical_json(tool.raw) for tool in after if tool.raw is not None} if lost else set()
    gone = {tool.spec.name for tool in lost if tool.spec and canonical_json(tool.raw) not in written}
    return gone - {tool.spec.name for tool in after if tool.spec}
