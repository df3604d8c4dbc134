"""Candidates from answers that are JSON: fields, their values and types."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from agentmut.insight.explain.candidates import Candidate, Contrast, Holds, candidate, common
from agentmut.insight.explain.shapes import is_prose
from agentmut.insight.explain.views import View
from agentmut.judging import same_json, written_json

MOST_CHOICES = 5
LARGEST = 1e15
"""The largest bound of a field: no schema is written with infinity, or with hundreds of digits."""
_TYPES: Mapping[type, str] = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
    type(None): "null",
}  # fmt: skip


def of_fields(contrast: Contrast) -> Iterator[Candidate]:
    """Yield `expect` for values that most runs share, `json_schema` for fields, types, choices and bounds."""
    if not contrast.usual(lambda view: bool(view.fields)):
        if contrast.usual(lambda view: isinstance(view.structured, list)):
            yield _schema({"type": "array"}, "the answer is a JSON list", 0.9, _is_list)
        return
    yield _schema(
        {"type": "object"}, "the answer is a JSON object", 0.9, lambda v: isinstance(v.structured, dict)
    )
    names = common((view.fields for view in contrast.original), contrast.least, len(contrast.original))
    for name in names:
        schema: dict[str, JsonValue] = {"type": "object", "required": [name]}
        yield _schema(schema, f"the answer has the field {name}", 0.88, partial(_has_field, name))
        yield from _of_field(contrast, name)
    if len(names) > 1:
        says = f"the answer has the fields {', '.join(names)}"
        yield _schema(
            {"type": "object", "required": [*names]}, says, 0.8, lambda v: all(n in v.fields for n in names)
        )


def _is_list(view: View) -> bool:
    return isinstance(view.structured, list)


def _schema(schema: dict[str, JsonValue], says: str, generality: float, holds: Holds) -> Candidate:
    return candidate("json_schema", schema, says, generality, holds)


def _has_field(name: str, view: View) -> bool:
    return name in view.fields


def _of_field(contrast: Contrast, name: str) -> Iterator[Candidate]:
    values = [view.fields[name] for view in contrast.original if name in view.fields]
    rows = [[written_json(view.fields[name])] if name in view.fields else [] for view in contrast.original]
    for written in common(rows, contrast.least, len(rows)):
        value: JsonValue = json.loads(written)
        if not isinstance(value, dict | list) and not is_prose(str(value)):
            says = f"the field {name} is {written}"
            yield candidate("expect", {name: value}, says, 0.8, partial(_equals, name, value))
    yield from _typed(name, values)
    yield from _chosen(name, values)
    yield from _bounded(name, values)


def _equals(name: str, value: JsonValue, view: View) -> bool:
    return name in view.fields and same_json(value, view.fields[name])


def _typed(name: str, values: Sequence[JsonValue]) -> Iterator[Candidate]:
    types = {_type(value) for value in values}
    if types <= {"integer", "number"} and len(types) == 2:
        types = {"number"}
    if len(types) == 1:
        (kind,) = types
        says = f"the field {name} is of type {kind}"
        yield _schema(_object_schema(name, {"type": kind}), says, 0.85, partial(_is_a, name, kind))


def _type(value: JsonValue) -> str:
    return "integer" if isinstance(value, float) and value.is_integer() else _TYPES[type(value)]


def _is_a(name: str, kind: str, view: View) -> bool:
    found = _type(view.fields[name]) if name in view.fields else ""
    return found == kind or (kind == "number" and found == "integer")


def _chosen(name: str, values: Sequence[JsonValue]) -> Iterator[Candidate]:
    texts = sorted({value for value in values if isinstance(value, str)})
    if any(map(is_prose, texts)):
        return
    if all(isinstance(value, str) for value in values) and 1 < len(texts) <= MOST_CHOICES:
        says = f"the field {name} is one of {', '.join(texts)}"
        yield _schema(
            _object_schema(name, {"enum": [*texts]}), says, 0.75, lambda view: view.fields.get(name) in texts
        )


def _bounded(name: str, values: Sequence[JsonValue]) -> Iterator[Candidate]:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if not numbers or len(numbers) < len(values) or min(numbers) == max(numbers):
        return
    if not all(abs(number) < LARGEST for number in numbers):
        return
    low, high = min(numbers), max(numbers)
    schema = _object_schema(name, {"type": "number", "minimum": low, "maximum": high})
    says = f"the field {name} is from {low:g} to {high:g}"
    yield _schema(schema, says, 0.6, partial(_within, name, low, high))


def _within(name: str, low: float, high: float, view: View) -> bool:
    value = view.fields.get(name)
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _object_schema(name: str, schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"type": "object", "required": [name], "properties": {name: schema}}
