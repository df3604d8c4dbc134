"""Other values for the facts of a text: what somebody could have written by mistake, or in an earlier version."""

import re
from decimal import Decimal
from enum import StrEnum

from agentmut.text.facts import FactKind, StatedFact
from agentmut.text.spans import Span

_WORDS = {
    1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
    10: "ten", 20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy",
    80: "eighty", 90: "ninety",
}  # fmt: skip
_NUMBERS = {word: number for number, word in _WORDS.items()}
_YEARS = {"near": 1, "far": -10, "older": -2}
_HOURS = {"near": 1, "far": 6, "older": -1}
_SAFE_DAY = 28


class Other(StrEnum):
    """Which other value."""

    NEAR = "near"
    """One that passes for the right one: 30 days become 35."""
    FAR = "far"
    """A slipped decimal point: 30 days become 300."""
    OLDER = "older"
    """As it may have been before a change: 30 days become 25, and years are two less."""


def restated(text: str, fact: StatedFact, other: Other) -> tuple[Span, str]:
    """What to put in the place of which characters, so that the fact has another value.

    The span is the value alone, or with its unit where "1 day" becomes "2 days".
    """
    value = text[fact.value.start : fact.value.end]
    unit = text[fact.value.end : fact.span.end]
    changed = _other(fact.kind, value, "%" in unit or "cent" in unit, other)
    grows = fact.kind in (FactKind.QUANTITY, FactKind.AMOUNT) and value.lower() in ("1", "one")
    if grows and unit[-1:].isalpha() and len(unit.strip()) > 2 and not unit.isupper() and unit[-1] != "s":
        return Span(fact.value.start, fact.span.end), f"{changed}{unit}s"
    return fact.value, changed


def _other(kind: FactKind, value: str, is_share: bool, other: Other) -> str:
    if kind is FactKind.IDENTIFIER:
        return _identifier(value, other)
    if kind is FactKind.TIME:
        hour, _, minute = value.partition(":")
        return f"{(int(hour) + _HOURS[other]) % 24:0{len(hour)}d}:{minute}"
    if kind is FactKind.DATE:
        return _date(value, other)
    if value.lower() in _NUMBERS:
        return _in_words(value, _moved(Decimal(_NUMBERS[value.lower()]), is_share, other))
    return _figure(value, is_share, other)


def _identifier(value: str, other: Other) -> str:
    """Another thing's: the last digit, or (far) every one, is a different one."""
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


def _figure(value: str, is_share: bool, other: Other) -> str:
    """The same notation: thousands grouped as before, as many decimals, with the same mark."""
    groups = re.search(r",\d{3}(?!\d)", value) is not None
    plain = value.replace(",", "") if groups else value.replace(",", ".")
    number = _moved(Decimal(plain), is_share, other)
    decimals = len(plain.partition(".")[2])
    written = f"{number:,.{decimals}f}" if groups else f"{number:.{decimals}f}"
    if Decimal(written.replace(",", "")) != number:
        written = f"{number.normalize():f}"
    return written if groups or "," not in value else written.replace(".", ",")


def _in_words(before: str, number: Decimal) -> str:
    word = _WORDS.get(int(number)) if number == int(number) else None
    if word is None:
        return f"{number.normalize():f}"
    return word.capitalize() if before[0].isupper() else word


def _moved(number: Decimal, is_share: bool, other: Other) -> Decimal:
    if other is Other.FAR:
        return number / 10 if is_share and number >= 10 else (number * 10 or Decimal(10))
    step = _step(number)
    if other is Other.OLDER:
        return number - step if number - step >= 2 else number + step
    return number - step if is_share and number + step > 100 else number + step


def _step(number: Decimal) -> Decimal:
    """The least change that looks like a value somebody chose: 1 for 14, 5 for 30, 50 for 200."""
    digits = len(str(int(number)))
    unit = Decimal(10) ** max(digits - 2, 0)
    return 5 * unit if number >= 10 and number % (5 * unit) == 0 else unit
