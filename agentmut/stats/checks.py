"""Domain errors of the statistics: each names the parameter, its range and what was given."""

import math
from enum import StrEnum
from numbers import Integral
from typing import TypeVar

Choice = TypeVar("Choice", bound=StrEnum)


def check_count(name: str, value: object, low: int = 0, high: int | None = None) -> int:
    """`value` as an int in [low, high]; `ValueError` for fractions, NaN, booleans and anything outside.

    Whole floats such as 3.0 are refused too: a count that went through a division is a mistake upstream.
    """
    upper = "" if high is None else f" and at most {high}"
    fits = isinstance(value, Integral) and not isinstance(value, bool)
    if not fits or int(value) < low or (high is not None and int(value) > high):  # type: ignore[call-overload]
        raise ValueError(f"{name} must be a whole number of at least {low}{upper}, got {value!r}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_rate(
    name: str, value: float, low: float = 0.0, high: float = 1.0, *, closed: bool = False
) -> float:
    """`value` as a float in (low, high), or in [low, high] when `closed`; else, and for NaN, `ValueError`."""
    number = float(value)
    inside = low <= number <= high if closed else low < number < high
    if math.isnan(number) or not inside:
        brackets = "[]" if closed else "()"
        raise ValueError(f"{name} must be in {brackets[0]}{low:g}, {high:g}{brackets[1]}, got {value!r}")
    return number


def check_choice(name: str, value: object, kind: type[Choice]) -> Choice:
    """`value`, a member of `kind` or its text, as that member; `ValueError` that lists them for anything else.

    Text must be converted before it is compared by `is`: it would pass for another member without a word.
    """
    if isinstance(value, str) and value in tuple(kind):
        return kind(value)
    raise ValueError(f"{name} must be one of {', '.join(kind)}, got {value!r}")
