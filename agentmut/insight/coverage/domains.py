"""The edges of a value's domain, as its JSON Schema states them (Definition 4.7)."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

from agentmut._base import is_number, number_limits
from agentmut.insight.coverage.matching import matcher

TOLERANCE = Fraction(1, 100)
"""What is near a bound, as a share of the domain's width; of the bound itself, or of 1, where the domain is open."""
ROUNDING = Fraction(1, 10**12)
"""By how much of itself a number with decimals may be off."""

Schema = Mapping[str, Any]
Holds = Callable[[Any], bool]
Number = int | Fraction


class Bound(NamedTuple):
    """A place of a domain where faults are likely, with the values there."""

    name: str
    holds: Holds
    example: str = ""
    """Such a value as JSON; empty where none can be told."""


class Unbounded(NamedTuple):
    """Why a domain has no such place."""

    why: str


def bounds(schema: Schema) -> Iterator[Bound | Unbounded]:
    """Yield the bounds of one value. `schema` is resolved: no `$ref`, no "this or null".

    Numbers: minimum, maximum, what lies just inside of them, and 0 between them. Texts: shortest, longest, empty
    where a length is limited; their pattern; their format. Arrays: empty, one and several items as far as they are
    allowed, and the limits. Truth values and enumerations: every value. With `anyOf`, those of each branch.
    """
    branches = next((schema[k] for k in ("anyOf", "oneOf") if isinstance(schema.get(k), list)), None)
    if branches is not None:
        yield from _of_branches([b for b in branches if isinstance(b, Mapping)])
    elif isinstance(schema.get("enum"), list) or "const" in schema:
        yield from _values(schema.get("enum", [schema.get("const")]))
    else:
        yield from _of_kinds(schema)


def _of_branches(branches: list[Schema]) -> Iterator[Bound | Unbounded]:
    named: set[str] = set()
    for branch in branches:
        for found in bounds(branch):
            key = f"{found.name} {found.example}" if isinstance(found, Bound) else found.why
            if key not in named:
                named.add(key)
                yield found


def _of_kinds(schema: Schema) -> Iterator[Bound | Unbounded]:
    stated = schema.get("type")
    kinds = stated if isinstance(stated, list) else [stated]
    makers = {
        "number": _number, "integer": _number, "string": _text, "array": _array, "boolean": _truth,
        "object": _nothing, "null": _nothing,
    }  # fmt: skip
    for kind in kinds:
        if kind is None:
            yield Unbounded("its schema states no type")
        elif kind in makers:
            yield from makers[kind](schema, kind)
        else:
            yield Unbounded(f"its schema has an unknown type {kind!r}")


def _nothing(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    yield from ()


def _truth(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    yield from _values([True, False])


def _values(values: list[Any]) -> Iterator[Bound]:
    for text in dict.fromkeys(_written(value) for value in values if value is not None):
        yield Bound(f"= {text}", partial(_is_written, text, json.loads(text)), text)


def _is_written(text: str, value: Any, argument: Any) -> bool:
    """Return whether a given value equals this one. Texts, the usual case, are compared without serialising them."""
    return bool(argument == value) if isinstance(argument, str) else _written(argument) == text


def _written(value: Any) -> str:
    return json.dumps(_with_whole_numbers(value), sort_keys=True, ensure_ascii=False)


def _with_whole_numbers(value: Any) -> Any:
    """Return the value with 1 in place of 1.0: JSON holds them equal."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    step = _step(schema.get("multipleOf"), whole=kind == "integer")
    (least, low_open), (most, high_open) = number_limits(schema)
    low, high = None if least is None else _exact(least), None if most is None else _exact(most)
    if low is None and high is None:
        yield Unbounded("a number without minimum and maximum")
    elif step:
        first = None if low is None else _first(low, step, is_open=low_open)
        last = None if high is None else -_first(-high, step, is_open=high_open)
        yield from _none(first, last) or _steps(first, last, step)
    else:
        empty = low == high and (low_open or high_open)
        yield from _none(low, high, empty=empty) or _ends(low, high, low_open, high_open)


def _none(low: Number | None, high: Number | None, *, empty: bool = False) -> list[Unbounded]:
    """Return the reason why a domain has no value between its limits."""
    reversed_ = low is not None and high is not None and low > high
    return [Unbounded("its limits leave no value")] if empty or reversed_ else []


def _step(stated: Any, *, whole: bool) -> Fraction:
    """Return the distance between two values; 0 if values are dense. Whole multiples of p/q are those of p."""
    step = _exact(stated) if is_number(stated) and stated > 0 else Fraction(1 if whole else 0)
    return Fraction(step.numerator) if whole else step


def _first(low: Fraction, step: Fraction, *, is_open: bool) -> Fraction:
    """Return the first value from a limit on."""
    first = math.ceil(low / step) * step
    return first + step if is_open and first == low else first


def _steps(first: Fraction | None, last: Fraction | None, step: Fraction) -> Iterator[Bound]:
    """Yield the first and the last value, their neighbours, and 0: each value once, and none beyond the limits."""
    places: list[tuple[str, Fraction]] = []
    if first is not None:
        places += [("minimum", first), ("just above minimum", first + step)]
    if last is not None:
        places += [("maximum", last), ("just below maximum", last - step)]
    if first is not None and last is not None:
        places += [("zero", Fraction(0))]
    ends, seen = (first, last), set[Fraction]()
    for name, at in places:
        beyond = (first is not None and at < first) or (last is not None and at > last)
        if not beyond and at not in seen and (at not in ends or name in ("minimum", "maximum")):
            seen.add(at)
            yield Bound(name, _at(at), _plain(at))


def _ends(low: Fraction | None, high: Fraction | None, low_open: bool, high_open: bool) -> Iterator[Bound]:
    """Yield the limits and the values just inside. An open limit is no value, so its neighbour replaces it."""
    near = _near(low, high)
    if low is not None:
        yield from _end("minimum", low, near if low != high else Fraction(0), is_open=low_open)
    if high is not None and high != low:
        yield from _end("maximum", high, -near, is_open=high_open)
    if low is not None and high is not None and low < 0 < high:
        yield Bound("zero", _at(Fraction(0)), "0")


def _end(name: str, limit: Fraction, inward: Fraction, *, is_open: bool) -> Iterator[Bound]:
    if not is_open:
        yield Bound(name, _at(limit), _plain(limit))
    if inward:
        side = "near" if is_open else "just above" if inward > 0 else "just below"
        yield Bound(f"{side} {name}", _between(limit, limit + inward), _plain(limit + inward))


class _Within(NamedTuple):
    """Floats a little beyond two limits. Most numbers are outside, and exact arithmetic takes long."""

    low: float
    high: float

    @classmethod
    def from_limits(cls, low: Fraction, high: Fraction) -> "_Within":
        """Return limits widened by more than any rounding; infinite where a limit exceeds a float."""
        try:
            least, most = low.numerator / low.denominator, high.numerator / high.denominator
            slack = 1e-9 * max(1.0, abs(least), abs(most))
            return cls(least - slack, most + slack)
        except OverflowError:
            return cls(-math.inf, math.inf)

    def may_have(self, value: Any) -> bool:
        """Return whether a number lies so near the limits that exact comparison is needed."""
        return isinstance(value, int | float) and self.low <= value <= self.high and is_number(value)


def _at(at: Fraction) -> Holds:
    return partial(_is_at, at, _Within.from_limits(at, at))


def _is_at(at: Fraction, within: _Within, value: Any) -> bool:
    """Return whether a value is this number, up to rounding."""
    if not within.may_have(value):
        return False
    off = abs(_exact(value) - at)
    return not off or (not float(value).is_integer() and off <= abs(at) * ROUNDING)


def _between(start: Fraction, end: Fraction) -> Holds:
    """Return whether a number lies between, the start left out; the order does not matter."""
    low, high = sorted((start, end))
    is_start, is_end, within = _at(start), _at(end), _Within.from_limits(low, high)

    def is_near(value: Any) -> bool:
        if not within.may_have(value) or is_start(value):
            return False
        return is_end(value) or low <= _exact(value) <= high

    return is_near


def _near(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is not None and high is not None:
        return TOLERANCE * (high - low)
    return TOLERANCE * max(Fraction(1), abs(low if low is not None else high or Fraction(0)))


def _text(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    low, high = _count(schema.get("minLength")), _count(schema.get("maxLength"))
    pattern, form = schema.get("pattern"), schema.get("format")
    yield from _none(low, high) or _lengths(low, high)
    if isinstance(pattern, str):
        yield _matching(pattern)
    if isinstance(form, str):
        yield _formed(form)
    if low is None and high is None and pattern is None and form is None:
        yield Unbounded("a text without length, pattern, format or enumeration")


def _lengths(low: int | None, high: int | None) -> Iterator[Bound]:
    if not low and (low is not None or high is not None):
        yield Bound("empty", lambda given: given == "", '""')
    if low:
        yield Bound("shortest", lambda given: isinstance(given, str) and len(given) == low)
    if high and high != low:
        margin = int(TOLERANCE * (high - (low or 0)))
        yield Bound("longest", lambda given: isinstance(given, str) and high - margin <= len(given) <= high)


def _matching(pattern: str) -> Bound | Unbounded:
    matches = matcher(pattern)
    if isinstance(matches, str):
        return Unbounded(matches)
    return Bound("pattern", lambda given: isinstance(given, str) and matches(given))


def _formed(form: str) -> Bound | Unbounded:
    checker = _checker()
    if form not in checker.checkers:
        return Unbounded(f"its format {form!r} cannot be checked")
    return Bound(
        f"format {form}", lambda given: isinstance(given, str) and bool(checker.conforms(given, form))
    )


@lru_cache(maxsize=1)
def _checker() -> Any:
    from jsonschema import FormatChecker

    return FormatChecker()


def _array(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    low, high = _count(schema.get("minItems")) or 0, _count(schema.get("maxItems"))
    yield from _none(low, high) or _items(low, math.inf if high is None else high)


def _items(low: int, most: float) -> Iterator[Bound]:
    if low == 0:
        yield Bound("empty", lambda given: given == [], "[]")
    if low <= 1 <= most:
        yield Bound("one item", lambda given: isinstance(given, list) and len(given) == 1)
    if low > 1:
        yield Bound("fewest items", lambda given: isinstance(given, list) and len(given) == low)
    fewest = max(1, low)
    if most > fewest + 1:
        yield Bound("several items", lambda given: isinstance(given, list) and fewest < len(given) < most)
    if math.inf > most > fewest:
        yield Bound("most items", lambda given: isinstance(given, list) and len(given) == most)


def _count(value: Any) -> int | None:
    return int(value) if is_number(value) and value >= 0 and float(value).is_integer() else None


def _exact(value: int | float) -> Fraction:
    """Return a number as the fraction of its decimal digits: 0.1 is a tenth."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _plain(value: Fraction) -> str:
    return json.dumps(int(value) if value.denominator == 1 else float(value))
