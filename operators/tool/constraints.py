"""Which values a tool's parameters may have."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.nouns import AgentConfig, Candidate, Reach
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
_SHIPPED = shipped("agentmut.operators.tool", "other_words")
_FAMILIES: Sequence[Sequence[str]] = _SHIPPED["families"]
_CLASSIFYING = frozenset(_SHIPPED["classifying"].split())
_FEWEST_KNOWN = 2
_OTHERS = frozenset(["other", "others", "misc", "unknown", "sonstiges", "otro", "autre"])
_YEARS = (1800, 2200)
_YEAR = re.compile(r"year|jahr|a[nñ]o\b|ann[eé]e", re.IGNORECASE)
_DEGREES = re.compile(r"celsius|fahrenheit|temperat|latitude|longitude|degree|^lat$|^lon$", re.IGNORECASE)
_ROUND_FROM = 10
_DOUBLED = {0: 1, 1: 1}
_LARGEST = sys.float_info.max / 4


@operator(
    "tool.drop_enum_value",
    why="A value is missing where a list of them is kept twice, in the code and in the schema.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(reason={"type": "string", "enum": ["damaged", "late", "other"]}),
            an_object(reason={"type": "string", "enum": ["damaged", "late"]}),
        )
    ],
)
def drop_enum_value(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Up to two mutants per list of allowed values: without the last one, where a new one comes, and the middle one.

    The default and the only value of a list stay.
    """
    for place in own_places(config):
        values = _allowed(place)
        last = len(values) - 1
        for index in dict.fromkeys((last, (last + 1) // 2)) if last > 0 else ():
            value = values[index]
            if value is not None and not _is_default(place, value):
                gone = place.edit((*place.parameter.at, "enum", str(index)), value, None)
                yield place.candidate((gone,), f"{place.parameter.name} may not be {value!r}", repr(value))


def _allowed(place: ParameterPlace) -> list[JsonValue]:
    values = place.parameter.schema.get("enum")
    return values if isinstance(values, list) else []


def _is_default(place: ParameterPlace, value: JsonValue) -> bool:
    schemas = (place.parameter.stated, place.parameter.schema)
    return any("default" in schema and schema["default"] == value for schema in schemas)


@operator(
    "tool.add_enum_value",
    why="The schema offers a value before the implementation knows it, or after it has been retired.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(reason={"type": "string", "enum": ["damaged", "late"]}),
            an_object(reason={"type": "string", "enum": ["damaged", "late", "wrong_item"]}),
        )
    ],
)
def add_enum_value(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per list of allowed values: one more at its end, written as the others are.

    It is the next one of a known list ("low, normal, high", then "urgent"), "other" where the parameter classifies,
    and the next number. Other lists are left alone.
    """
    for place in own_places(config):
        values = _allowed(place)
        value = _one_more(place.parameter.name, values)
        if value is not None:
            added = place.edit((*place.parameter.at, "enum", str(len(values))), None, value)
            yield place.candidate((added,), f"{place.parameter.name} may be {value!r}")


def _one_more(name: str, values: list[JsonValue]) -> JsonValue:
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        words = (word.upper() if all(t.isupper() for t in texts) else word for word in _further(name, texts))
        words = (word.capitalize() if all(t.istitle() for t in texts) else word for word in words)
        return next((word for word in words if word not in texts), None)
    numbers = [value for value in values if _whole_clause(value)]
    return max(numbers) + 1 if numbers and len(numbers) == len(values) else None


def _further(name: str, texts: list[str]) -> Iterator[str]:
    """Yield what may come next: of the list of which most values are known, then "other"."""
    have = {text.casefold() for text in texts}
    known = [(len(have & {word.casefold() for word in family}), family) for family in _FAMILIES]
    most, family = max(known, key=lambda found: found[0])
    if most >= _FEWEST_KNOWN:
        yield from (word for word in family if word.casefold() not in have)
    if name.casefold().rpartition("_")[2] in _CLASSIFYING and have.isdisjoint(_OTHERS):
        yield "other"


def _whole_clause(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


@operator(
    "tool.tighten_bounds",
    why="A limit is lowered for one client or copied from another field, and real values no longer fit.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(amount={"type": "number", "minimum": 0, "maximum": 500}),
            an_object(amount={"type": "number", "minimum": 1, "maximum": 500}),
        )
    ],
)
def tighten_bounds(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per lower or upper bound: a lower one is doubled, an upper one is a round half of itself.

    Zero becomes one, and a lower bound of one stays. Negative bounds and fractions move half of the way to the
    other one. Years and degrees are left alone.
    """
    for place, key, bound in _bounds(config):
        tighter = _tighter(place.parameter.schema, key, bound)
        if tighter != bound and not _is_measured(place, key, bound):
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


def _is_measured(place: ParameterPlace, key: str, bound: int | float) -> bool:
    """Return whether a bound is a year or a degree, by the facing one or the parameter's name: half of it is none."""
    first, last = _YEARS
    facing = (place.parameter.schema.get(other) for other in _FACING[key])
    named = _YEAR.search(place.parameter.name) is not None
    if _DEGREES.search(place.parameter.name):
        return True
    return first <= bound <= last and (named or any(_number(f) and first <= f <= last for f in facing))


def _tighter(schema: Mapping[str, Any], key: str, bound: int | float) -> int | float:
    facing = next((schema[other] for other in _FACING[key] if _number(schema.get(other))), None)
    upper = key in _UPPER
    if bound == int(bound) and bound >= (2 if upper else 0) and (facing is None or facing >= 0):
        chosen = _round_half(int(bound)) if upper else _DOUBLED.get(int(bound), 2 * int(bound))
        fits = facing is None or (facing < chosen if upper else chosen < facing)
        return chosen if fits else bound
    moved = _alone(bound, upper) if facing is None else bound + (facing - bound) / 2
    if key not in _COUNTS:
        return _as_precise(moved, whole=kind_of(schema) == "integer", up=not upper)
    return max(1, int(_as_precise(moved, whole=True, up=not upper))) if bound or not upper else bound


def _round_half(bound: int) -> int:
    """Return about half of a limit, as somebody would choose it.

    >>> [_round_half(bound) for bound in (9, 25, 50, 365, 2000, 300_000)]
    [4, 10, 25, 150, 1000, 150000]
    """
    half = bound // 2
    step = 5 * 10 ** max(len(str(half)) - 2, 0) if half >= _ROUND_FROM else 1
    return half - half % step


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
