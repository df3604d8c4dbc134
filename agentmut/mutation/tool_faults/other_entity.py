"""Values of another entity: the same shape, with other numbers, identifiers, addresses and days.

A value always becomes the same other one, so that what was one entity in two results is one wrong entity in
both. Words, booleans and the keys of mappings stay.
"""

import copy
import dataclasses
import math
import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from zlib import crc32

from pydantic import BaseModel

_SHIFT = 3
_DAYS = timedelta(days=11)
_HOURS = 5
_PEOPLE = ("kim", "noor", "robin", "alex", "sasha", "toni", "jules", "marin", "eli", "nico", "remy")

_TELLING = re.compile(
    r"""
    (?<![\w.+-]) (?P<person>[\w.+-]++) (?P<at>@\w[\w-]*(?:\.[\w-]+)+)
  | (?<!\d) (?P<day>\d{4}-\d\d-\d\d) (?P<time>[T\ ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)? (?!\d)
  | (?<![\d:]) (?P<hour>\d{1,2}) (?P<rest>(?::\d\d){1,2}) (?![\d:])
  | (?P<number>\d++(?:[.,]\d++)*+) (?!(?:st|nd|rd|th)\b)
    """,
    re.VERBOSE,
)


def another(value: Any) -> Any:
    """Return the value with another entity's numbers, identifiers, addresses and days.

    >>> another({"order": "A-1042", "total": 189.0, "sent": "2026-03-28", "paid": True})
    {'order': 'A-4375', 'total': 412.0, 'sent': '2026-04-08', 'paid': True}
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _TELLING.sub(_other, value) if type(value) is str else value
    if isinstance(value, int | float):
        return _other_number(value)
    if isinstance(value, Mapping | list | tuple):
        return _others(value)
    return _other_object(value)


def _others(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {key: another(item) for key, item in values.items()}
    items = [another(item) for item in values]
    if isinstance(values, list):
        return items
    return type(values)(*items) if hasattr(values, "_fields") else tuple(items)


def _other_number(value: float) -> float:
    """Return another number of the same type; 1.5 times the number for tiny numbers such as 1e-9."""
    if type(value) not in (int, float) or not math.isfinite(value):
        return value
    digits = repr(abs(value))
    if "e" in digits:
        return value * 1.5
    other = type(value)(_rotated(digits))
    return -other if value < 0 else other


def _other_object(value: Any) -> Any:
    if isinstance(value, date):  # datetimes are dates
        return _later(value)
    if isinstance(value, Decimal | UUID):
        return type(value)(another(str(value)))
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: another(item) for name, item in value})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        twin = copy.copy(value)
        for field in dataclasses.fields(value):
            object.__setattr__(twin, field.name, another(getattr(value, field.name)))
        return twin
    return value


def _other(found: re.Match[str]) -> str:
    if person := found["person"]:
        first = crc32(person.lower().encode()) % len(_PEOPLE)
        others = (*_PEOPLE[first:], *_PEOPLE[:first])
        return next(name for name in others if name != person.lower()) + found["at"]
    if found["day"]:
        return _other_day(found["day"]) + (found["time"] or "")
    if found["hour"]:
        return f"{(int(found['hour']) + _HOURS) % 24:0{len(found['hour'])}d}{found['rest']}"
    return _other_digits(found)


def _other_day(text: str) -> str:
    try:
        return _later(date.fromisoformat(text)).isoformat()
    except ValueError:  # such as 0000-00-00, which some databases have for no day
        return re.sub(r"\d+", lambda digits: _rotated(digits[0]), text)


def _later(day: date) -> date:
    try:
        return day + _DAYS
    except OverflowError:
        return day - _DAYS


def _other_digits(found: re.Match[str]) -> str:
    digits, before = found["number"], found.string[: found.start()][-1:]
    year = len(digits) == 4 and digits[:2] in ("19", "20") and not (before == "-" or before.isalnum())
    return str(int(digits) + 1) if year else _rotated(digits)


def _rotated(digits: str) -> str:
    """Return each digit another; zeros in front and an even amount's ",00" stay, so that the form does.

    >>> _rotated("1042"), _rotated("0815"), _rotated("189.00"), _rotated("0.71"), _rotated("0")
    ('4375', '0248', '412.00', '0.14', '3')
    """
    head, body, tail = _significant(digits)
    turned = "".join(_turned(digit) for digit in body[1:])
    return f"{head}{_leading(body[:1])}{turned}{tail}"


def _significant(digits: str) -> tuple[str, str, str]:
    """Split digits into leading zeros, the digits to change, and a fraction of zeros."""
    tail = found[0] if (found := re.search(r"[.,]0+$", digits)) else ""
    rest = digits.removesuffix(tail)
    body = rest.lstrip("0.,")
    if not body:  # nothing but zeros
        return "", rest, tail
    return rest[: len(rest) - len(body)], body, tail


def _turned(digit: str) -> str:
    return str((int(digit) + _SHIFT) % 10) if digit.isdigit() else digit


def _leading(digit: str) -> str:
    """Return another first digit that is not zero."""
    return str((int(digit) - 1 + _SHIFT) % 9 + 1)
