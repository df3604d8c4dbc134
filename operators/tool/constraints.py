"""Which values a tool's parameters may have."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, Candidate, Edit, Reach
from agentmut.operators.tool.example_tools import an_object, schema_example
from agentmut.operators.tool.parameter_places import ParameterPlace, kind_of, own_places
from agentmut.seams import OperatorOptions, operator

_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_FACING = {
    **dict.fromkeys(_LOWER[:2], _UPPER[:2]), **dict.fromkeys(_UPPER[:2], _LOWER[:2]),
    "minLength": ("maxLength",), "maxLength": ("minLength",),
    "minItems": ("maxItems",), "maxItems": ("minItems",),
}  # fmt: skip
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_MORE = ("other", "unknown", "any", "none")
_LARGEST = sys.float_info.max / 4


@operator(
    "tool.drop_enum_value",
    why="A value is missing where a list of them is kept twice, in the code and in the schema.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(reason={"type": "string", "enum": ["damaged", "late", "other"]}),
            an_object(reason={"type": "string", "enum": ["late", "other"]}),
        )
    ],
)
def drop_enum_value(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Up to three mutants per list of allowed values: without the first, the last, the middle one.

    A default of that value goes with it. The only value of a list stays.
    """
    for place in own_places(config):
        values = _allowed(place)
        last = len(values) - 1
        for index in dict.fromkeys((0, last, last // 2)) if last > 0 else ():
            value = values[index]
            if value is not None:
                gone = place.edit((*place.parameter.at, "enum", str(index)), value, None)
                edits = (gone, *_without_default(place, value))
                yield place.candidate(edits, f"{place.parameter.name} may not be {value!r}", repr(value))


def _allowed(place: ParameterPlace) -> list[JsonValue]:
    values = place.parameter.schema.get("enum")
    return values if isinstance(values, list) else []


def _without_default(place: ParameterPlace, value: JsonValue) -> Iterator[Edit]:
    parameter = place.parameter
    for path, schema in {parameter.path: parameter.stated, parameter.at: parameter.schema}.items():
        if schema.get("default") == value:
            yield place.edit((*path, "default"), value, None)


@operator(
    "tool.add_enum_value",
    why="The schema offers a value before the implementation knows it, or after it has been retired.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(reason={"type": "string", "enum": ["damaged", "late"]}),
            an_object(reason={"type": "string", "enum": ["damaged", "late", "other"]}),
        )
    ],
)
def add_enum_value(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per list of allowed values: one more at its end, written as the others are."""
    for place in own_places(config):
        values = _allowed(place)
        value = _one_more(values)
        if value is not None:
            added = place.edit((*place.parameter.at, "enum", str(len(values))), None, value)
            yield place.candidate((added,), f"{place.parameter.name} may be {value!r}")


def _one_more(values: list[JsonValue]) -> JsonValue:
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        words = (word.upper() if all(t.isupper() for t in texts) else word for word in _MORE)
        words = (word.capitalize() if all(t.istitle() for t in texts) else word for word in words)
        return next((word for word in words if word not in texts), None)
    numbers = [value for value in values if _whole_clause(value)]
    return max(numbers) + 1 if numbers and len(numbers) == len(values) else None


def _whole_clause(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


@operator(
    "tool.tighten_bounds",
    why="A limit is lowered for one client or copied from another field, and real values no longer fit.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(amount={"type": "number", "minimum": 0, "maximum": 500}),
            an_object(amount={"type": "number", "minimum": 250, "maximum": 500}),
        )
    ],
)
def tighten_bounds(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per lower or upper bound: it moves half of the way to the other one.

    Without another one, an upper bound is halved and a lower one doubled; zero becomes one.
    """
    for place, key, bound in _bounds(config):
        tighter = _tighter(place.parameter.schema, key, bound)
        if tighter != bound:
            edit = place.change(key, tighter)
            yield place.candidate((edit,), f"{place.parameter.name}: {key} {tighter} instead of {bound}", key)


@operator(
    "tool.loosen_bounds",
    why="A limit is dropped in a clean-up of the schema, and values come through that it kept out.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(amount={"type": "number", "minimum": 0, "maximum": 500}),
            an_object(amount={"type": "number", "maximum": 500}),
        )
    ],
)
def loosen_bounds(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per lower or upper bound: the schema no longer has it."""
    for place, key, bound in _bounds(config):
        edit = place.change(key, None)
        yield place.candidate((edit,), f"{place.parameter.name}: no {key} instead of {bound}", key)


def _bounds(config: AgentConfig) -> Iterator[tuple[ParameterPlace, str, int | float]]:
    for place in own_places(config):
        for key in (*_LOWER, *_UPPER):
            bound = place.parameter.schema.get(key)
            if _number(bound):
                yield place, key, bound


def _tighter(schema: Mapping[str, Any], key: str, bound: int | float) -> int | float:
    facing = next((schema[other] for other in _FACING[key] if _number(schema.get(other))), None)
    upper = key in _UPPER
    moved = _alone(bound, upper) if facing is None else bound + (facing - bound) / 2
    if key not in _COUNTS:
        return _as_precise(moved, whole=kind_of(schema) == "integer", up=not upper)
    return max(1, int(_as_precise(moved, whole=True, up=not upper))) if bound or not upper else bound


def _number(value: Any) -> TypeGuard[int | float]:
    """Return a number that can be halved and doubled: an integer of hundreds of digits is left alone."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= _LARGEST


def _alone(bound: int | float, upper: bool) -> int | float:
    if bound == 0:
        return -1 if upper else 1
    towards_zero = (bound > 0) == upper
    return bound / 2 if towards_zero else bound * 2


def _as_precise(value: int | float, *, whole: bool, up: bool) -> int | float:
    """Return a whole number where only those fit or where it is one, rounded to the tight side."""
    if float(value).is_integer():
        return int(value)
    if not whole:
        return value
    return int(value // 1) + (1 if up else 0)
