"""Checks of arguments. Each error names the parameter, its range and the given value."""

from collections.abc import Collection
from enum import StrEnum
from numbers import Integral, Real
from typing import TypeVar

Choice = TypeVar("Choice", bound=StrEnum)


def check_count(name: str, value: object, low: int = 0, high: int | None = None) -> int:
    """Return `value` as an int in [low, high]; `ValueError` for fractions, NaN, booleans and anything outside.

    Whole floats such as 3.0 are refused too: a count that went through a division is a mistake upstream.
    """
    upper = "" if high is None else f" and at most {high}"
    # to ask for the type first takes a tenth of the time, and a rule is asked at every trial
    fits = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    if not fits or int(value) < low or (high is not None and int(value) > high):  # type: ignore[call-overload]  # `fits`
        raise ValueError(f"{name} must be a whole number of at least {low}{upper}, got {value!r}")
    return int(value)  # type: ignore[call-overload, no-any-return]  # `fits`


def check_rate(
    name: str, value: float, low: float = 0.0, high: float = 1.0, *, closed: bool = False
) -> float:
    """Return `value` as a float in (low, high), or in [low, high] if `closed`; else `ValueError`.

    NaN is refused, and so is what is not a number: booleans, text, None.
    """
    inside = is_number(value) and (low <= value <= high if closed else low < value < high)
    if not inside:
        brackets = "[]" if closed else "()"
        raise ValueError(f"{name} must be in {brackets[0]}{low:g}, {high:g}{brackets[1]}, got {value!r}")
    return float(value)


def check_level(level: float, high: float = 1.0) -> float:
    """Return a confidence level in (0, high); refuse one whose (1+level)/2 rounds to 1, without a finite quantile."""
    checked = check_rate("level", level, 0.0, high)
    if (1 + checked) / 2 == 1:
        raise ValueError(f"level must be at most 1 - 2.3e-16, got {level!r}")
    return checked


def check_choice(name: str, value: object, kind: type[Choice]) -> Choice:
    """Return `value`, a member of `kind` or its text, as that member; else `ValueError` with the members.

    Text must be converted before it is compared by `is`: it would pass for another member without a word.
    """
    return kind(check_name(name, value, tuple(kind)))


def check_name(name: str, value: object, names: Collection[str]) -> str:
    """Return `value`, which must be one of `names`; else `ValueError` with the names."""
    if isinstance(value, str) and value in names:
        return value
    raise ValueError(f"{name} must be one of {', '.join(names)}, got {value!r}")


def is_number(value: object) -> bool:
    """Return whether `value` is a real number, numpy's included; booleans and text are not. NaN and infinity are."""
    return type(value) in (float, int) or (isinstance(value, Real) and not isinstance(value, bool))
