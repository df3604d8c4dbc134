"""Values that satisfy a JSON Schema: fitting ones stay, others are replaced, missing ones are invented."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor
from types import MappingProxyType
from typing import Any

from agentmut.simulator.mind import schema_nodes
from agentmut.simulator.mind.schema_nodes import Schema

UNKNOWN = "unknown"
"""A text that nothing is known of."""
_DEEPEST = 12
"""Levels after which a schema that contains itself is given no more values."""
_LONGEST_LIST = 100
_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "date": "2024-01-01",
        "date-time": "2024-01-01T00:00:00Z",
        "time": "00:00:00Z",
        "duration": "P1D",
        "email": "nobody@example.com",
        "uri": "https://example.com/",
        "uuid": "00000000-0000-4000-8000-000000000000",
        "ipv4": "127.0.0.1",
        "ipv6": "::1",
        "hostname": "example.com",
    }
)
"""By format: a text that has it."""
Hint = Callable[[str, Schema], Any]
"""What is known of a value, by its name and its schema; None where nothing is."""


def fitted(schema: Any, proposed: Any, hint: Hint) -> Any:
    """Return `proposed` if it satisfies the schema, and otherwise the nearest value that does.

    Formats (`date`, `email`) shape what is made up; a text that was given keeps its words. `if`, `not`, `contains` and
    `dependentRequired` are not looked at.

    >>> bulbs = {"type": "integer", "minimum": 1}
    >>> schema = {"properties": {"on": {"type": "boolean"}, "bulbs": bulbs}, "required": ["on"]}
    >>> fitted(schema, {"bulbs": 0}, lambda name, node: None)
    {'bulbs': 1, 'on': False}
    """
    return _Fitter(schema, hint).value(schema, proposed, "", 0)


@dataclass(frozen=True)
class _Fitter:
    root: Any
    hint: Hint

    def value(self, schema: Any, proposed: Any, name: str, depth: int) -> Any:
        """Return a value for this schema; `proposed` is None for a missing value."""
        node = schema_nodes.resolved(schema, self.root)
        options = schema_nodes.alternatives(node, self.root)
        if not node or depth > _DEEPEST:
            return proposed if proposed is not None else self.hint(name, node)
        if len(options) == 1:
            return self._fitted(options[0], proposed, name, depth)
        return self._any(options, proposed, name, depth)

    def _any(self, options: list[Schema], value: Any, name: str, depth: int) -> Any:
        """Return a value of the first alternative that what is given, or known, fits; else of the first."""
        real = [option for option in options if not schema_nodes.is_null(option)]
        known = value
        if known is None and real:
            known = self.hint(name, real[0])
        if known is None and len(real) < len(options):
            return None
        for option in real:
            if known is not None and same(self._fitted(option, known, name, depth), known):
                return known
        return self._fitted((real or options)[0], known, name, depth)

    def _fitted(self, node: Schema, value: Any, name: str, depth: int) -> Any:
        if "const" in node:
            return node["const"]
        if isinstance(node.get("enum"), list) and node["enum"]:
            return self._choice(node, value, name)
        kind = _kind(node, value)
        if kind == "object":
            return self._object(node, value, depth)
        known = self.hint(name, node) if value is None else value
        return self._array(node, known, name, depth) if kind == "array" else _scalar(kind, node, known)

    def _choice(self, node: Schema, proposed: Any, name: str) -> Any:
        known = (proposed, self.hint(name, node) if proposed is None else None, node.get("default"))
        allowed = [value for value in known if any(same(value, choice) for choice in node["enum"])]
        return next((value for value in allowed if value is not None), node["enum"][0])

    def _object(self, node: Schema, proposed: Any, depth: int) -> dict[str, Any]:
        found = proposed if isinstance(proposed, dict) else {}
        schemas, needed = schema_nodes.properties(node), schema_nodes.required(node)
        others = node.get("additionalProperties", True)
        made: dict[str, Any] = {}
        for key in dict.fromkeys([*found, *needed]):
            schema, item = schemas.get(key, others), found.get(key)
            if key not in schemas and others is False:
                continue
            if item is None and key not in needed and not self._may_be_null(schema):
                item = self.hint(key, schema_nodes.plain(schema, self.root))
                if item is None:
                    continue
            made[key] = self.value(schema, item, key, depth + 1)
        return made

    def _may_be_null(self, schema: Any) -> bool:
        node = schema_nodes.resolved(schema, self.root)
        return not node or any(map(schema_nodes.is_null, schema_nodes.alternatives(node, self.root)))

    def _array(self, node: Schema, known: Any, name: str, depth: int) -> list[Any]:
        found = known if isinstance(known, list) else [] if known is None else [known]
        first = node.get("prefixItems")
        first = first if isinstance(first, list) else []
        least = min(_bound(node, "minItems", len(first) if node.get("items") is False else 0), _LONGEST_LIST)
        most = len(first) if node.get("items") is False else _bound(node, "maxItems", len(found) + least)
        rest = node.get("items", {})
        size = max(min(len(found), most), least)
        padded = [*found, *[None] * (size - len(found))][:size]
        return [
            self.value(first[at] if at < len(first) else rest, item, name, depth + 1)
            for at, item in enumerate(padded)
        ]


def _scalar(kind: str, node: Schema, known: Any) -> Any:
    if kind == "null":
        return None
    if kind == "boolean":
        return known if isinstance(known, bool) else str(known).strip().lower() in ("true", "yes", "1")
    if kind in ("number", "integer"):
        return number(node, known, whole=kind == "integer")
    return text(node, known) if kind == "string" else known


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal; true is not 1.

    >>> same(True, 1), same([1], [1.0])
    (False, True)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def number(node: Schema, known: Any, *, whole: bool) -> float | int:
    """Return the number within a schema's bounds that is nearest to what is known.

    >>> number({"minimum": 1, "multipleOf": 5}, 7, whole=True), number({"exclusiveMaximum": 0}, None, whole=True)
    (5, -1)
    """
    found = _number(known)
    step = _number(node.get("multipleOf")) or (1 if whole else 0)
    low, high = _number(node.get("minimum")), _number(node.get("maximum"))
    above, below = _number(node.get("exclusiveMinimum")), _number(node.get("exclusiveMaximum"))
    value = found if found is not None else 0
    value = value if low is None else max(value, low)
    value = value if high is None else min(value, high)
    if above is not None and value <= above:
        value = above + (step or 1)
    if below is not None and value >= below:
        value = below - (step or 1)
    if step and value % step:
        down = floor(value / step) * step
        value = down if low is None or down >= low else ceil(value / step) * step
    return int(value) if whole and value == int(value) else value


def text(node: Schema, known: Any) -> str:
    """Return a text with a schema's length and pattern: the known text if it fits, else an invented one."""
    pattern, least = node.get("pattern"), _bound(node, "minLength", 0)
    most = _bound(node, "maxLength", None)
    text = known if isinstance(known, str) else "" if known is None else str(known)
    if known is None:
        text = _EXAMPLES.get(str(node.get("format")), UNKNOWN)
    if isinstance(pattern, str) and (made := _of_pattern(pattern, text, least, most)) is not None:
        return made
    return text.ljust(least, ".")[:most]


@lru_cache(maxsize=256)
def _of_pattern(pattern: str, text: str, least: int, most: int | None) -> str | None:
    """Return `text` if it matches, else the simplest matching text; None if none is found."""
    import re

    from hypothesis import HealthCheck, find, settings  # slow
    from hypothesis import strategies as st
    from hypothesis.errors import HypothesisException

    def fits(value: str) -> bool:
        return len(value) >= least and (most is None or len(value) <= most)

    patient = settings(
        database=None, derandomize=True, max_examples=200, suppress_health_check=list(HealthCheck)
    )
    try:
        compiled = re.compile(pattern)
        if compiled.search(text) and fits(text):
            return text
        strategy = st.from_regex(compiled, alphabet=st.characters(codec="ascii"))
        found: str = find(strategy, fits, settings=patient)
    except (re.error, HypothesisException, ValueError, OverflowError, RecursionError):
        return None
    return found


def _kind(node: Schema, value: Any) -> str:
    """Return the type that a schema names or implies; empty if it allows any."""
    kind = node.get("type")
    if isinstance(kind, str):
        return kind
    if "properties" in node or "required" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    return "string" if value is None and ("pattern" in node or "format" in node) else ""


def _number(value: Any) -> float | int | None:
    """Return a number, also one in words; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if abs(value) < 1e300 else None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return (int(found) if found == int(found) else found) if abs(found) < 1e300 else None


def _bound(node: Schema, name: str, otherwise: Any) -> Any:
    found = node.get(name)
    return (
        found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 10_000 else otherwise
    )
