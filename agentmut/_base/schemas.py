"""JSON Schemas as data: their parameters, their validity, and their differences."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base.frozen import canonical_json
from agentmut._base.passages import flat
from agentmut._base.pointers import Path, at_path, parts_of


class Parameter(NamedTuple):
    """A named property of an object schema, at any depth."""

    path: Path
    """Where the property stands."""
    name: str
    stated: Mapping[str, Any]
    """What stands there, perhaps only a `$ref`."""
    at: Path
    """Where its own schema stands: behind a local `$ref`, and behind the `anyOf` of what may be null."""
    schema: Mapping[str, Any]
    owner: Path
    """The object schema whose property it is."""
    required: bool

    @property
    def description(self) -> str:
        """Return the parameter's description, from its schema or the target of its `$ref`."""
        said = self.stated.get("description", self.schema.get("description", ""))
        return said if isinstance(said, str) else ""


def parameters(schema: Mapping[str, Any]) -> Iterator[Parameter]:
    """Yield every parameter in the order of the schema, each before its nested ones.

    What several parameters refer to is gone through once.
    """
    yield from _inside(schema, (), set())


def _inside(root: Mapping[str, Any], path: Path, seen: set[Path]) -> Iterator[Parameter]:
    at, schema = resolved(root, path)
    if at in seen:
        return
    seen.add(at)
    properties = schema.get("properties")
    required = schema.get("required")
    for name, stated in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(stated, Mapping):
            place = (*at, "properties", name)
            there, own = resolved(root, place)
            needed = isinstance(required, list) and name in required
            yield Parameter(place, name, stated, there, own, at, needed)
            yield from _inside(root, place, seen)
    if isinstance(schema.get("items"), Mapping):
        yield from _inside(root, (*at, "items"), seen)


def resolved(root: Mapping[str, Any], path: Path) -> tuple[Path, Mapping[str, Any]]:
    """Return the effective schema at a place: `$ref`s into the same schema, and "this or null", are followed."""
    been: set[Path] = set()
    node = at_path(root, path)
    while path not in been and isinstance(node, Mapping):
        been.add(path)
        onward = _onward(node, path)
        if onward is None:
            return path, node
        path, node = onward, at_path(root, onward)
    return path, node if isinstance(node, Mapping) else {}


def _onward(node: Mapping[str, Any], path: Path) -> Path | None:
    target = node.get("$ref")
    if isinstance(target, str) and target.startswith("#/"):
        return parts_of(target[1:])
    for key in ("anyOf", "oneOf", "allOf"):
        branches = node.get(key)
        if isinstance(branches, list):
            real = [i for i, branch in enumerate(branches) if branch != {"type": "null"}]
            if len(real) == 1 and "properties" not in node:
                return (*path, key, str(real[0]))
    return None


def together(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an inlined schema as one, with its `allOf` merged, and the `anyOf` of a nullable value.

    >>> together({"type": "integer", "maximum": 3, "allOf": [{"minimum": 1}]})
    {'type': 'integer', 'maximum': 3, 'minimum': 1}
    """
    for key in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(key)
        real = (
            [branch for branch in branches if branch != {"type": "null"}]
            if isinstance(branches, list)
            else []
        )
        if real and (key == "allOf" or len(real) == 1) and all(isinstance(one, Mapping) for one in real):
            beside = {name: stated for name, stated in schema.items() if name != key}
            return together(reduce(_both, real, beside))
    return schema


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**first, **{key: _tighter(key, first.get(key), stated) for key, stated in second.items()}}


def _tighter(key: str, first: Any, second: Any) -> Any:
    """Return the tighter of two values of one keyword; the first, if neither is tighter."""
    if first is None:
        return second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {**second, **first}
    if isinstance(first, list) and isinstance(second, list) and key in ("required", "allOf"):
        return [*first, *second]
    if isinstance(first, int | float) and isinstance(second, int | float):
        return max(first, second) if "min" in key.lower() else min(first, second)
    return first


class Limit(NamedTuple):
    """An end of the numbers that a schema allows."""

    at: int | float | None
    """None where there is none."""
    is_open: bool = False
    """Whether the limit itself is not allowed."""


def number_limits(schema: Mapping[str, Any]) -> tuple[Limit, Limit]:
    """Return the least and the greatest number; the tighter limit if two are stated.

    >>> number_limits({"minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": 7})
    (Limit(at=0, is_open=True), Limit(at=7, is_open=True))
    """
    low = _limit(schema.get("minimum"), schema.get("exclusiveMinimum"), max)
    return low, _limit(schema.get("maximum"), schema.get("exclusiveMaximum"), min)


def _limit(stated: Any, exclusive: Any, tighter: Callable[[Any, Any], Any]) -> Limit:
    at, beyond = (value if is_number(value) else None for value in (stated, exclusive))
    if exclusive is True:  # as draft 4 writes it
        return Limit(at, at is not None)
    if beyond is None or (at is not None and tighter(at, beyond) == at != beyond):
        return Limit(at)
    return Limit(beyond, True)


def is_number(value: Any) -> bool:
    """Return whether a value is a number comparable with limits: finite and within a float's range."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def fault(schema: Any) -> tuple[Path, str] | None:
    """Return where a value is no JSON Schema and why; None for a valid schema."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    kind = validator_for(schema, default=Draft202012Validator)
    found = best_match(kind(kind.META_SCHEMA).iter_errors(schema))
    return None if found is None else (tuple(map(str, found.absolute_path)), found.message)


def inlined(schema: Any) -> Any:
    """Return the schema with local `$ref`s replaced by their targets, as services get it; a recursive one stays."""
    plain = _inline(schema, schema, ())
    if isinstance(plain, dict):
        return {key: value for key, value in plain.items() if key not in ("$defs", "definitions")}
    return plain


def _inline(value: Any, root: Any, following: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_inline(item, root, following) for item in value]
    if not isinstance(value, Mapping):
        return value
    target = value.get("$ref")
    if isinstance(target, str) and target.startswith("#/") and target not in following:
        there = at_path(root, parts_of(target[1:]))
        if isinstance(there, Mapping):
            beside = {key: item for key, item in value.items() if key != "$ref"}
            return _inline({**there, **beside}, root, (*following, target))
    return {key: _inline(item, root, following) for key, item in value.items()}


def plain_schema(value: Any) -> Any:
    """Return a tool's schema, or a part of it, without the typical changes of frameworks.

    That is white space, titles of parameters, and the order of lists in which order means nothing.
    """
    if isinstance(value, str):
        return flat(value)
    if isinstance(value, list):
        return [plain_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {k: plain_schema(v) for k, v in value.items() if k != "title" or not isinstance(v, str)}
    for key in ("required", "enum"):
        if isinstance(plain.get(key), list):
            plain[key] = sorted(plain[key], key=canonical_json) or None
    return plain


class Difference(NamedTuple):
    """A place where two values differ, with the second value there; None if it has none."""

    path: Path
    after: JsonValue


def differences(before: Any, after: Any, path: Path = ()) -> Iterator[Difference]:
    """Yield the places where `after` differs from `before`. Lists are compared as wholes."""
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        if before != after:
            yield Difference(path, after)
        return
    for key in dict.fromkeys((*before, *after)):
        yield from differences(before.get(key), after.get(key), (*path, key))
