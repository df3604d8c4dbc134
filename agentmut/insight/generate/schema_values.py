"""Hypothesis strategies for the values that a JSON Schema allows: ordinary values, and values at its limits.

hypothesis-jsonschema (0.23.1) fails with today's Hypothesis (`'many' object has no attribute 'more'`), so schemas are
read here: what tools' schemas use is built by construction, everything else is left to the validator.
"""

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agentmut._base import Path, at_path, canonical_json, number_limits, parts_of, resolved

Values = SearchStrategy[Any]
Schema = Mapping[str, Any]
LONGEST = 24
"""Characters of a string that nothing bounds."""
FEW = 4
"""Items of a list more than it has to have."""
FARTHEST = 10_000
"""Numbers that nothing bounds stay within this distance of zero, or of the bound on their other side."""
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_FORMATS: Mapping[str, Any] = MappingProxyType({
    "email": lambda: st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.(?:com|org)", fullmatch=True),
    "date": lambda: st.dates().map(str),
    "time": lambda: st.times().map(lambda t: f"{t:%H:%M:%S}Z"),
    "date-time": lambda: st.datetimes().map(lambda t: f"{t.isoformat(timespec='seconds')}Z"),
    "uuid": lambda: st.uuids().map(str),
    "ipv4": lambda: st.ip_addresses(v=4).map(str),
    "ipv6": lambda: st.ip_addresses(v=6).map(str),
    "uri": lambda: st.from_regex(r"https://[a-z]{1,8}\.example\.com/[a-z]{0,8}", fullmatch=True),
})  # fmt: skip


def values_of(schema: Schema) -> Values:
    """Return values that are valid for the schema, JSON-like all through.

    A schema that allows nothing, or hardly anything of what its types say, ends in Hypothesis's own `Unsatisfiable`.
    """
    return _values(schema, ()).filter(_validity(schema))


def boundaries_of(schema: Schema) -> Values:
    """Return values at a limit of the schema: least and greatest number, shortest and longest string or list, each
    value of an enumeration; of an object, one of its parameters at a limit or left out. An empty list is a limit
    wherever it is allowed, an empty string only where the schema limits its length: as in the coverage of
    boundaries.

    Empty (`hypothesis.strategies.nothing()`) where the schema has no limits.
    """
    found = _boundaries(schema, ())
    return found if found.is_empty else found.filter(_validity(schema))


def faults(schema: Schema) -> Iterator[str]:
    """Yield what the validator would stumble over in a legal schema: patterns that Python cannot read, `$ref`s to
    nothing.
    """
    parts: list[Any] = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            pattern, target = part.get("pattern"), part.get("$ref")
            if isinstance(pattern, str) and (why := _unreadable(pattern)):
                yield f"pattern {pattern!r}: {why}"
            if isinstance(target, str) and target.startswith("#/") and not _is_there(schema, target):
                yield f"$ref {target!r} leads nowhere"
            parts += part.values()
        elif isinstance(part, list | tuple):
            parts += part


def _unreadable(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return ""


def _is_there(root: Schema, target: str) -> bool:
    try:
        return isinstance(at_path(root, parts_of(target[1:])), Mapping | bool)
    except (KeyError, IndexError, ValueError, TypeError):
        return False


def limits(schema: Schema) -> tuple[Any, ...]:
    """Return the values at the limits of a schema without parts: least and greatest number, each value of an
    enumeration.

    >>> limits({"type": "integer", "minimum": 1, "exclusiveMaximum": 10})
    (1, 9)
    """
    if "const" in schema:
        return (schema["const"],)
    if isinstance(schema.get("enum"), list):
        return tuple(schema["enum"])
    kinds = _types(schema)
    if "integer" in kinds or "number" in kinds:
        low, high = _range(schema, whole="number" not in kinds)
        return tuple(dict.fromkeys(end for end in (low, high) if end is not None))
    return (False, True) if kinds == ("boolean",) else ()


def _validity(schema: Schema) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    return validator_for(schema, default=Draft202012Validator)(schema).is_valid


def _values(root: Any, path: Path) -> Values:
    """Return the values of the part at `path`; `root` is the whole schema, which `$ref`s refer to."""
    _, schema = resolved(root, path)
    if "const" in schema:
        return st.just(schema["const"])
    if isinstance(schema.get("enum"), list):
        return st.sampled_from(schema["enum"])
    if branches := list(_branches(root, path)):
        return st.one_of([_later(root, at) for at in branches])
    return st.one_of([_of_type(root, path, kind) for kind in _types(schema)])


def _later(root: Any, path: Path) -> Values:
    """Return the strategy of a part, built on first use, since schemas may refer to themselves."""
    return st.deferred(lambda: _values(root, path))


def _branches(root: Any, path: Path) -> Iterator[Path]:
    at, schema = resolved(root, path)
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        if isinstance(options, list) and "properties" not in schema:
            yield from ((*at, key, str(index)) for index in range(len(options)))


def _types(schema: Schema) -> tuple[str, ...]:
    said = schema.get("type")
    if isinstance(said, list):
        return tuple(kind for kind in TYPES if kind in said)
    if isinstance(said, str) and said in TYPES:
        return (said,)
    hints = {"properties": "object", "items": "array", "pattern": "string", "minimum": "number"}
    return tuple(kind for key, kind in hints.items() if key in schema) or ("string", "integer", "boolean")


def _of_type(root: Any, path: Path, kind: str) -> Values:
    _, schema = resolved(root, path)
    if kind == "object":
        return _objects(root, path)
    if kind == "array":
        return _arrays(root, path)
    if kind == "string":
        return _strings(schema)
    if kind in ("integer", "number"):
        return _numbers(schema, whole=kind == "integer")
    return st.booleans() if kind == "boolean" else st.none()


def _objects(root: Any, path: Path) -> Values:
    at, schema = resolved(root, path)
    stated = schema.get("properties")
    names = tuple(stated) if isinstance(stated, Mapping) else ()
    parts = {name: _later(root, (*at, "properties", name)) for name in names}
    required = {name: parts[name] for name in names if name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional={n: p for n, p in parts.items() if n not in required})


def _arrays(root: Any, path: Path) -> Values:
    at, schema = resolved(root, path)
    least, most = _sizes(schema, "Items")
    return _lists(root, at, least, max(least, min(most, least + FEW)))


def _lists(root: Any, at: Path, least: int, most: int) -> Values:
    _, schema = resolved(root, at)
    items = _later(root, (*at, "items")) if "items" in schema else st.integers(0, 9)
    unique = canonical_json if schema.get("uniqueItems") is True else None
    return st.lists(items, min_size=least, max_size=most, unique_by=unique)


def _strings(schema: Schema) -> Values:
    least, most = _sizes(schema, "Length")
    if isinstance(schema.get("pattern"), str):
        return st.from_regex(schema["pattern"])
    if schema.get("format") in _FORMATS:
        made: Values = _FORMATS[schema["format"]]()
        return made
    return st.text(_PRINTABLE, min_size=least, max_size=most)


_PRINTABLE = st.characters(codec="utf-8", exclude_categories=["C"])


def _numbers(schema: Schema, *, whole: bool) -> Values:
    low, high = _range(schema, whole=whole)
    low = (high - FARTHEST if high is not None else -FARTHEST) if low is None else low
    high = low + FARTHEST if high is None else high
    step = schema.get("multipleOf")
    if isinstance(step, int | float) and step > 0:
        return st.integers(math.ceil(low / step), math.floor(high / step)).map(lambda n: n * step)
    if whole:
        return st.integers(low, high)
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def _range(schema: Schema, *, whole: bool) -> tuple[Any, Any]:
    """Return the least and the greatest number allowed; None for no bound."""
    step = schema.get("multipleOf", 1 if whole else None)
    (low, above), (high, below) = number_limits(schema)
    if low is not None and above:
        low = (math.floor(low / step) + 1) * step if step else math.nextafter(low, math.inf)
    if high is not None and below:
        high = (math.ceil(high / step) - 1) * step if step else math.nextafter(high, -math.inf)
    if whole:
        return (None if low is None else math.ceil(low)), (None if high is None else math.floor(high))
    return low, high


def _sizes(schema: Schema, keyword: str) -> tuple[int, int]:
    least = int(schema.get(f"min{keyword}", 0))
    return least, max(least, int(schema.get(f"max{keyword}", least + LONGEST)))


def _boundaries(root: Any, path: Path, within: frozenset[Path] = frozenset()) -> Values:
    """`within` are the places that this one is inside of: a schema that refers to itself is followed once."""
    at, schema = resolved(root, path)
    if at in within:
        return st.nothing()
    inner = within | {at}
    if found := limits(schema):
        return st.sampled_from(found)
    if branches := list(_branches(root, path)):
        return st.one_of([_boundaries(root, branch, inner) for branch in branches])
    return _boundaries_of_type(root, at, inner)


def _boundaries_of_type(root: Any, at: Path, inner: frozenset[Path]) -> Values:
    _, schema = resolved(root, at)
    kinds = _types(schema)
    if "object" in kinds:
        return _object_boundaries(root, at, inner)
    if "array" in kinds:
        return st.one_of([_lists(root, at, size, size) for size in _ends(schema, "Items")])
    limited = "minLength" in schema or "maxLength" in schema
    if kinds == ("string",) and limited and "pattern" not in schema and "format" not in schema:
        return st.one_of([st.text(_PRINTABLE, min_size=n, max_size=n) for n in _ends(schema, "Length")])
    return st.nothing()


def _ends(schema: Schema, keyword: str) -> list[int]:
    """Return the least and the greatest size, as far as stated; an unstated least size is 0."""
    least, most = schema.get(f"min{keyword}", 0), schema.get(f"max{keyword}")
    return sorted({int(least), *([int(most)] if isinstance(most, int) else [])})


def _object_boundaries(root: Any, at: Path, within: frozenset[Path]) -> Values:
    _, schema = resolved(root, at)
    stated = schema.get("properties")
    ordinary = _objects(root, at)
    options: list[Values] = []
    for name in stated if isinstance(stated, Mapping) else ():
        extreme = _boundaries(root, (*at, "properties", name), within)
        if not extreme.is_empty:
            options.append(st.builds(partial(_with_argument, name), ordinary, extreme))
        if name not in schema.get("required", ()):
            options.append(ordinary.map(partial(_without_argument, name)))
    return st.one_of(options)


def _with_argument(name: str, arguments: dict[str, Any], value: Any) -> dict[str, Any]:
    return {**arguments, name: value}


def _without_argument(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != name}
