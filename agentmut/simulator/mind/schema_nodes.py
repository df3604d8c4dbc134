"""One node of a JSON Schema in simple form: references followed, `allOf` merged, alternatives separate."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
_LONGEST_CHAIN = 20
"""References that lead to each other end after this many."""
_ALTERNATIVES = ("anyOf", "oneOf")
_DEEPEST, _MOST = 3, 30
"""Levels of alternatives within alternatives that are told apart, and how many at each."""


def resolved(node: Any, root: Any, chain: int = 0) -> Schema:
    """Return a node with its local references followed and its `allOf` merged; empty for a non-schema.

    >>> root = {"$defs": {"Lamp": {"type": "object"}}}
    >>> resolved({"$ref": "#/$defs/Lamp", "description": "a lamp"}, root)
    {'type': 'object', 'description': 'a lamp'}
    """
    if not isinstance(node, dict) or chain > _LONGEST_CHAIN:
        return {}
    found: Schema = node
    if isinstance(node.get("$ref"), str):
        own = {key: value for key, value in node.items() if key != "$ref"}
        found = _merged(resolved(_target(node["$ref"], root), root, chain + 1), own)
    if isinstance(found.get("allOf"), list):
        parts = found["allOf"]
        found = {key: value for key, value in found.items() if key != "allOf"}
        for part in parts:
            found = _merged(found, resolved(part, root, chain + 1))
    return found


def alternatives(node: Schema, root: Any, depth: int = 0) -> list[Schema]:
    """Return the alternatives of a node: its `anyOf` or `oneOf` and its types, each with the other keywords."""
    named = next((name for name in _ALTERNATIVES if isinstance(node.get(name), list) and node[name]), None)
    if named is not None and depth < _DEEPEST:
        beside = {key: value for key, value in node.items() if key != named}
        merged = [_merged(beside, resolved(part, root)) for part in node[named][:_MOST]]
        return [option for part in merged for option in alternatives(part, root, depth + 1)]
    if isinstance(node.get("type"), list) and node["type"]:
        return [{**node, "type": kind} for kind in node["type"]]
    return [node]


def plain(node: Any, root: Any) -> Schema:
    """Return a node, resolved; of alternatives the first that is not null.

    >>> plain({"anyOf": [{"type": "null"}, {"enum": ["on", "off"]}], "title": "Lamp"}, {})
    {'title': 'Lamp', 'enum': ['on', 'off']}
    """
    options = alternatives(resolved(node, root), root)
    return next((option for option in options if not is_null(option)), options[0])


def is_null(node: Schema) -> bool:
    """Return whether a node allows nothing but null."""
    return node.get("type") == "null" or ("const" in node and node["const"] is None)


def properties(node: Schema) -> Mapping[str, Any]:
    """Return the schemas of an object's values by key."""
    found = node.get("properties")
    return found if isinstance(found, dict) else {}


def required(node: Schema) -> tuple[str, ...]:
    """Return the keys that an object must have."""
    found = node.get("required")
    return tuple(key for key in found if isinstance(key, str)) if isinstance(found, list) else ()


def _target(reference: str, root: Any) -> Any:
    """Return the target of a reference within the schema; None if there is none."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for key in filter(None, reference[1:].split("/")):
        name = key.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _merged(first: Schema, second: Schema) -> Schema:
    """Return both nodes in one; the second wins, but properties and required keys add up."""
    both: dict[str, Any] = {**first, **second}
    if properties(first) and properties(second):
        both["properties"] = {**properties(first), **properties(second)}
    if required(first) and required(second):
        both["required"] = list(dict.fromkeys([*required(first), *required(second)]))
    return both
