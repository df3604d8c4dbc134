"""Other values for the facts of a document: dates, times and identifiers here, numbers as everywhere."""

import re

from agentmut.language import FactKind, Other, Span, StatedFact, is_unit, measure, other_number, plural_of

_YEARS = {"near": 1, "far": -10, "older": -2}
_HOURS = {"near": 1, "far": 6, "older": -1}
_SAFE_DAY = 28


def restated(text: str, fact: StatedFact, other: Other) -> tuple[Span, str]:
    """What to put in the place of which characters, so that the fact has another value.

    The span is the value alone, or with its unit where "1 day" becomes "2 days".
    """
    value = text[fact.value.start : fact.value.end]
    if fact.kind not in (FactKind.QUANTITY, FactKind.AMOUNT):
        return fact.value, _other(fact.kind, value, other)
    changed = other_number(value, measure(text, *fact.value), other)
    unit = re.search(r"[A-Za-z]+$", text[fact.value.end : fact.span.end])
    if value.lower() in ("1", "one") and unit and is_unit(unit.group()):
        between = text[fact.value.end : fact.span.end - len(unit.group())]
        return Span(fact.value.start, fact.span.end), f"{changed}{between}{plural_of(unit.group())}"
    return fact.value, changed


def _other(kind: FactKind, value: str, other: Other) -> str:
    if kind is FactKind.IDENTIFIER:
        return _identifier(value, other)
    if kind is FactKind.TIME:
        hour, _, minute = value.partition(":")
        return f"{(int(hour) + _HOURS[other]) % 24:0{len(hour)}d}:{minute}"
    return _date(value, other)


def _identifier(value: str, other: Other) -> str:
    """Return the identifier of another thing: the last digit differs, or every digit where `far`."""
    if other is Other.FAR:
        return re.sub(r"\d", lambda digit: str((int(digit.group()) + 5) % 10), value)
    return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit.group()) + 1) % 10), value)


def _date(value: str, other: Other) -> str:
    if len(value) <= 2:
        return str(_day(int(value), other))
    if "-" not in value:
        return str(int(value) + _YEARS[other])
    year, month, day = map(int, value.split("-"))
    if other is Other.OLDER:
        return f"{year + _YEARS[other]}-{month:02d}-{min(day, _SAFE_DAY):02d}"
    if other is Other.FAR:
        return f"{year}-{(month + 5) % 12 + 1:02d}-{min(day, _SAFE_DAY):02d}"
    return f"{year}-{month:02d}-{_day(day, other):02d}"


def _day(day: int, other: Other) -> int:
    if other is Other.FAR:
        return (day + 13) % _SAFE_DAY + 1
    back = day >= _SAFE_DAY or (other is Other.OLDER and day > 1)
    return day - 1 if back else day + 1
