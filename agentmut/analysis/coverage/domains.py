"""The edges of a value's domain, as its JSON Schema states it (Definition 4.7)."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

TOLERANCE = 0.01
"""What is near a bound, as a share of the domain's width; of the bound itself, or of 1, where the domain is open."""
LONGEST_MATCHED = 10_000
"""Characters of a longer text are not matched with a pattern."""

Schema = Mapping[str, Any]
Holds = Callable[[Any], bool]


class Bound(NamedTuple):
    """A place of a domain where faults are likely, and which values are there."""

    name: str
    holds: Holds
    example: str = ""
    """Such a value as JSON; empty where none can be told."""


class Unbounded(NamedTuple):
    """Why a domain has no such place."""

    why: str


def bounds(schema: Schema) -> Iterator[Bound | Unbounded]:
    """The bounds of one value. `schema` is resolved: no `$ref`, no "this or null".

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
    for value in values:
        if value is not None:
            text = json.dumps(value, sort_keys=True, ensure_ascii=False)
            yield Bound(f"= {text}", partial(_is_written, text), text)


def _is_written(text: str, value: Any) -> bool:
    return json.dumps(value, sort_keys=True, ensure_ascii=False) == text


def _number(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    whole = kind == "integer"
    step = _finite(schema.get("multipleOf")) or (1.0 if whole else 0.0)
    low, low_open = _limit(schema, "minimum", "exclusiveMinimum", max)
    high, high_open = _limit(schema, "maximum", "exclusiveMaximum", min)
    if low is None and high is None:
        yield Unbounded("a number without minimum and maximum")
        return
    near = step or _near(low, high)
    if low is not None:
        yield from _end("minimum", low, near, is_open=low_open, whole=step > 0)
    if high is not None and high != low:
        yield from _end("maximum", high, -near, is_open=high_open, whole=step > 0)
    if low is not None and high is not None and low < 0 < high:
        yield Bound("zero", lambda given: _is_number(given) and given == 0, "0")


def _end(name: str, bound: float, inward: float, *, is_open: bool, whole: bool) -> Iterator[Bound]:
    """The bound and what lies just inside. An open bound is no value: what is near it stands for it."""
    first = bound + inward if is_open and whole else bound
    if is_open and not whole:
        yield Bound(f"near {name}", _within(bound, bound + inward, closed=False), _plain(bound + inward))
        return
    yield Bound(
        name, lambda given: _is_number(given) and math.isclose(given, first, abs_tol=1e-9), _plain(first)
    )
    side = "above" if inward > 0 else "below"
    yield Bound(f"just {side} {name}", _within(first, first + inward, closed=False), _plain(first + inward))


def _within(start: float, end: float, *, closed: bool) -> Holds:
    """Whether a number lies between, the start left out unless `closed`; the order does not matter."""
    low, high = sorted((start, end))

    def holds(given: Any) -> bool:
        if not _is_number(given) or (not closed and math.isclose(given, start, abs_tol=1e-9)):
            return False
        return bool(low - 1e-9 <= given <= high + 1e-9)

    return holds


def _near(low: float | None, high: float | None) -> float:
    if low is not None and high is not None and high > low:
        return TOLERANCE * (high - low)
    return TOLERANCE * max(1.0, abs(low if low is not None else high or 0.0))


def _limit(
    schema: Schema, closed: str, exclusive: str, tighter: Callable[[float, float], float]
) -> tuple[float | None, bool]:
    """The bound that counts, and whether it is no value itself; draft 4 has `exclusiveMinimum: true`."""
    at, beyond = _finite(schema.get(closed)), _finite(schema.get(exclusive))
    if schema.get(exclusive) is True:
        return at, at is not None
    if beyond is None or (at is not None and tighter(at, beyond) == at != beyond):
        return at, False
    return beyond, True


def _text(schema: Schema, kind: str) -> Iterator[Bound | Unbounded]:
    low, high = _count(schema.get("minLength")), _count(schema.get("maxLength"))
    pattern, form = schema.get("pattern"), schema.get("format")
    if not low and (low is not None or high is not None):
        yield Bound("empty", lambda given: given == "", '""')
    if low:
        shortest = low
        yield Bound("shortest", lambda given: isinstance(given, str) and len(given) == shortest)
    if high and high != low:
        longest, margin = high, int(TOLERANCE * (high - (low or 0)))
        yield Bound(
            "longest", lambda given: isinstance(given, str) and longest - margin <= len(given) <= longest
        )
    if isinstance(pattern, str):
        yield _matching(pattern)
    if isinstance(form, str):
        yield _formed(form)
    if low is None and high is None and pattern is None and form is None:
        yield Unbounded("a text without length, pattern, format or enumeration")


def _matching(pattern: str) -> Bound | Unbounded:
    try:
        found = re.compile(pattern)
    except re.error as error:
        return Unbounded(f"its pattern {pattern!r} cannot be read: {error}")
    return Bound(
        "pattern", lambda given: isinstance(given, str) and bool(found.search(given[:LONGEST_MATCHED]))
    )


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
    most = math.inf if high is None else high
    if low == 0:
        yield Bound("empty", lambda given: given == [], "[]")
    if low <= 1 <= most:
        yield Bound("one item", lambda given: isinstance(given, list) and len(given) == 1)
    if low > 1:
        yield Bound("fewest items", lambda given: isinstance(given, list) and len(given) == low)
    if most > max(2, low):
        inner = lambda given: isinstance(given, list) and max(1, low) < len(given) < most  # noqa: E731
        yield Bound("several items", inner)
    if high is not None and high > max(1, low):
        yield Bound("most items", lambda given: isinstance(given, list) and len(given) == high)


def _count(value: Any) -> int | None:
    return int(value) if _is_number(value) and value >= 0 and float(value).is_integer() else None


def _finite(value: Any) -> float | None:
    return value if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _plain(value: float) -> str:
    return json.dumps(int(value) if float(value).is_integer() else round(value, 10))
