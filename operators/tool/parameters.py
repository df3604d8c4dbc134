"""What a tool takes: which parameters, which of them it needs, and of which type."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.nouns import AgentConfig, Candidate, Edit, Reach
from agentmut.operators.tool.example_tools import an_object, schema_example
from agentmut.operators.tool.parameter_places import ParameterPlace, kind_of, own_places, places
from agentmut.seams import OperatorOptions, operator

_TEXT: dict[str, JsonValue] = {"type": "string"}
_NUMBER: dict[str, JsonValue] = {"type": "number"}
_OTHER_TYPE = {
    "string": "integer", "integer": "string", "number": "integer", "boolean": "string", "array": "string",
}  # fmt: skip
"""An object has no plausible other type."""

_OF_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_KEYWORDS = {
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "boolean": (),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
}
_VALUES = ("enum", "const", "default", "examples")
_NUMBERS = frozenset(shipped("agentmut.operators.tool", "other_words")["numbers"].split())
_CLASSES = re.compile(r"\\[A-Za-z]")
_LETTERS = re.compile(r"[A-Za-z]")
_LETTERED = re.compile(r"\b[A-Z]{1,6}-?\d{2,}")


@operator(
    "tool.drop_parameter",
    why="A parameter is lost when a tool's schema is written by hand or generated anew.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(("order",), order=_TEXT, amount=_NUMBER),
            an_object(("order",), order=_TEXT),
        )
    ],
)
def drop_parameter(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per optional parameter, nested ones too: the model is not told of it.

    The implementation is as it was. A parameter that the tool needs is left alone: the first call would fail.
    """
    for place in places(config):
        parameter = place.parameter
        if not parameter.required:
            gone = place.edit(parameter.path, dict(parameter.stated), None)
            yield place.candidate((gone,), f"drop the parameter {parameter.name}")


@operator(
    "tool.make_optional",
    why="A parameter is given a default for one caller, and all others may now leave it out.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(("order", "amount"), order=_TEXT, amount=_NUMBER),
            an_object(("amount",), order=_TEXT, amount=_NUMBER),
        )
    ],
)
def make_optional(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per required parameter: it is no longer required."""
    for place in places(config):
        if place.parameter.required:
            yield place.candidate((place.not_required(),), f"make {place.parameter.name} optional")


@operator(
    "tool.make_required",
    why="Strict schemas want every parameter, so the model has to make values up.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(("order",), order=_TEXT, amount=_NUMBER),
            an_object(("order", "amount"), order=_TEXT, amount=_NUMBER),
        )
    ],
)
def make_required(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per optional parameter: it is required."""
    for place in places(config):
        if not place.parameter.required:
            yield place.candidate((place.now_required(),), f"make {place.parameter.name} required")


@operator(
    "tool.change_type",
    why="Numbers come to be sent as text, amounts lose their decimals, text ids become numbers.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(order={"type": "string", "minLength": 4}),
            an_object(order={"type": "integer"}),
        )
    ],
)
def change_type(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per parameter with a type: text is a whole number and the other way round, a list is text.

    Keywords and values that do not fit the new type are dropped with it. Objects, and parameters of
    several types, are left alone. So are texts but those that somebody may take for a number: an id, an order, a year.
    """
    for place in own_places(config):
        schema = place.parameter.schema
        old = kind_of(schema)
        new = _OTHER_TYPE.get(old)
        if new and (old != "string" or _may_be_number(place)):
            edits = (_retyped(place, old, new), *_unfitting(place, schema, old, new))
            yield place.candidate(edits, f"{place.parameter.name} is {new} instead of {old}")


def _may_be_number(place: ParameterPlace) -> bool:
    """Return whether somebody may take a text for a number: by the last word of its name, with nothing against it.

    Allowed values, a format, a pattern with letters, and an example with letters ("A-1042") are against it.
    """
    schema, description = place.parameter.schema, place.parameter.description
    lettered = _LETTERS.search(_CLASSES.sub("", str(schema.get("pattern", "")))) or _LETTERED.search(
        description
    )
    return _is_number_name(place.parameter.name) and not (lettered or "enum" in schema or "format" in schema)


def _is_number_name(name: str) -> bool:
    """Return whether the last word of a name is that of a number.

    >>> [_is_number_name(name) for name in ("orderId", "order", "customer_name", "Rechnungsnummer")]
    [True, True, False, True]
    """
    last = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().rstrip("_").rpartition("_")[2]
    return last in _NUMBERS or last.endswith(("nummer", "number"))


def _retyped(place: ParameterPlace, old: str, new: str) -> Edit:
    kind = place.parameter.schema["type"]
    return place.change("type", new if isinstance(kind, str) else [new if k == old else k for k in kind])


def _unfitting(place: ParameterPlace, schema: Mapping[str, Any], old: str, new: str) -> Iterator[Edit]:
    for key in _KEYWORDS[old]:
        if key in schema and key not in _KEYWORDS[new]:
            yield place.change(key, None)
    for key in _VALUES:
        if key in schema and not _fits(schema[key], key, new):
            yield place.change(key, None)
    beside = place.parameter.stated
    if beside is not schema and "default" in beside and not _fits(beside["default"], "default", new):
        yield place.edit((*place.parameter.path, "default"), beside["default"], None)


def _fits(value: Any, key: str, kind: str) -> bool:
    if key in ("enum", "examples") and isinstance(value, list):
        return all(_fits(item, "", kind) for item in value)
    if kind == "string" or value is None:
        return value is None or isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool)
