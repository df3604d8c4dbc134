"""Values at or inside a limit of a parameter, for objects and lists."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from agentmut._base import Parameter, canonical_json, inlined, together
from agentmut.insight.coverage.boundaries import EACH, Boundary, boundaries
from agentmut.insight.generate.drawing import UNUSABLE, drawn
from agentmut.insight.generate.proposal_material import Material, fits, known_values, whole
from agentmut.insight.generate.user_wording import in_words, shown
from agentmut.nouns import ToolSpec

DRAWN = 12
"""Values that are drawn for a limit whose schema gives no example."""
ITEMS = 12
"""Items of a list, at most, that a user would spell out."""


def outermost_of(parameter: str) -> str:
    """Return the top-level parameter that contains a nested one; empty for a top-level parameter.

    >>> outermost_of("items[].price"), outermost_of("amount")
    ('items', '')
    """
    inside = "." in parameter or EACH in parameter
    return parameter.replace(EACH, ".").split(".")[0] if inside else ""


def values_on(item: str, tool: ToolSpec, known: Material, seed: int) -> tuple[JsonValue, ...]:
    """Return values of a parameter at the top level with which a call is on a boundary, by the boundary's own test.

    Empty where none is found: in a choice of schemas, or where only unreadable texts are on it.
    """
    boundary = next((each for each in boundaries(tool)[0] if str(each.item) == item), None)
    if boundary is None:
        return ()
    outermost, *within = _place(boundary)
    schema = together(inlined(tool.parameters)).get("properties", {}).get(outermost)
    if not isinstance(schema, Mapping):
        return ()
    parameter = Parameter((), outermost, schema, (), schema, (), True)
    found = {canonical_json(v): v for v in _candidates(boundary, schema, within, known, seed)}.values()
    return tuple(
        v for v in found if boundary.is_hit_by({outermost: v}) and fits(v, parameter) and _sayable(v)
    )


def _place(boundary: Boundary) -> tuple[str, ...]:
    """Return the place of the value; for a boundary of presence, its owner's place."""
    name = boundary.item.parameter.rpartition(".")[2]
    by_presence = boundary.item.name.endswith((" present", " absent")) and not boundary.item.example
    return (*boundary.place, name) if by_presence else boundary.place


def _candidates(
    boundary: Boundary, schema: Mapping[str, Any], within: Sequence[str], known: Material, seed: int
) -> Iterator[JsonValue]:
    if boundary.item.name.endswith(" absent") and not boundary.item.example:
        yield from _around(schema, within, (), known, seed)
        return
    yield from _around(
        schema, within, tuple(_values(boundary, _inside(schema, within), known, seed)), known, seed
    )


def _values(boundary: Boundary, schema: Mapping[str, Any], known: Material, seed: int) -> Iterator[JsonValue]:
    """Yield values that may be on the boundary: its example, texts of its length, plausible values, the limits."""
    if boundary.item.example:
        yield json.loads(boundary.item.example)
        return
    name = boundary.item.parameter.rpartition(".")[2].replace(EACH, "")
    yield from _of_length(schema, known)
    yield from _plausible(name, schema, known, seed)
    yield from _drawn(schema, seed, at_limits=True)
    yield from _sized(schema, known, seed)


def _inside(schema: Mapping[str, Any], within: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema at a place in another one; empty if there is none."""
    found: Any = together(schema)
    for part in within:
        found = found.get("items") if part == EACH else (found.get("properties") or {}).get(part)
        if not isinstance(found, Mapping):
            return {}
        found = together(found)
    return dict(found)


def _around(
    schema: Mapping[str, Any], within: Sequence[str], values: Sequence[JsonValue], known: Material, seed: int
) -> Iterator[JsonValue]:
    """Yield values of a schema with each of these values at a place; without values the place is left out."""
    schema = together(schema)
    if not within:
        yield from values
        return
    part, *rest = within
    inner = schema.get("items") if part == EACH else (schema.get("properties") or {}).get(part)
    if not isinstance(inner, Mapping):
        return
    if part == EACH:
        least = schema.get("minItems")
        count = max(1, least) if isinstance(least, int) else 1
        if count > ITEMS:
            return
        yield from ([value] * count for value in _around(inner, rest, values, known, seed))
        return
    beside = _required(schema, part, known, seed)
    if not rest and not values:
        yield beside
    for value in _around(inner, rest, values, known, seed):
        yield {**beside, part: value}


def _required(schema: Mapping[str, Any], but: str, known: Material, seed: int) -> dict[str, JsonValue]:
    """Return a plausible value for each required property but one."""
    properties, needed = schema.get("properties") or {}, schema.get("required") or ()
    wanted = {name: stated for name, stated in properties.items() if name in needed and name != but}
    chosen = {name: next(_plausible(name, stated, known, seed), None) for name, stated in wanted.items()}
    return {name: value for name, value in chosen.items() if value is not None}  # what lacks one does not fit


def _plausible(name: str, stated: Any, known: Material, seed: int) -> Iterator[JsonValue]:
    """Yield values that runs and inputs have shown for a parameter; else values that its schema allows."""
    schema = together(stated) if isinstance(stated, Mapping) else {}
    parameter = Parameter((), name, schema, (), schema, (), True)
    yield from known_values(known, parameter)
    yield from (value for value in _drawn(schema, seed, at_limits=False) if value != "")


def _drawn(schema: Mapping[str, Any], seed: int, *, at_limits: bool) -> Iterator[JsonValue]:
    from agentmut.insight.generate.schema_values import boundaries_of, limits, values_of

    try:
        found = [*limits(schema), *drawn((boundaries_of if at_limits else values_of)(schema), DRAWN, seed)]
    except UNUSABLE:
        return
    yield from (value for value in found if _sayable(value))


def _sized(schema: Mapping[str, Any], known: Material, seed: int) -> Iterator[JsonValue]:
    """Yield lists of one repeated plausible item, with the lengths of the limits and between them."""
    if schema.get("type") != "array":
        return
    item = next(_plausible("", schema.get("items"), known, seed), None)
    least, most = schema.get("minItems"), schema.get("maxItems")
    sizes = {1, 2, 3, *(n for n in (least, most) if isinstance(n, int) and 0 < n <= ITEMS)}
    for size in sorted(sizes) if item is not None else ():
        yield [item] * size


def _of_length(schema: Mapping[str, Any], known: Material) -> Iterator[JsonValue]:
    """Yield words of the suite with the lengths of the limits."""
    said = " ".join(" ".join(whole(s.turns) for s in known.scenarios).split()) or "text"
    for key in ("minLength", "maxLength"):
        length = schema.get(key)
        if schema.get("type") == "string" and isinstance(length, int) and 0 < length <= 400:
            cut = (f"{said} " * (length // len(said) + 1))[:length]
            yield f"{cut.rstrip()}{'.' * (length - len(cut.rstrip()))}"


def _sayable(value: JsonValue) -> bool:
    said = shown(value)
    return said.isascii() and said.isprintable()


def in_plain_words(value: JsonValue) -> str:
    """Return a value in a user's words; objects have no brackets.

    >>> in_plain_words([{"count": 2, "giftNote": "hi"}, {"count": 1}])
    'count 2 with gift note hi and count 1'
    """
    if isinstance(value, dict):
        parts = [f"{in_words(name)} {in_plain_words(each)}" for name, each in value.items()]
        return " with ".join(parts) or "nothing"
    if isinstance(value, list):
        return " and ".join(map(in_plain_words, value)) or "nothing"
    return shown(value)
