"""Reading the arguments of evaluators, facts and relations; mistakes are `ValueError`s that say what is expected."""

import math
from collections.abc import Iterable

from pydantic import JsonValue

from agentmut._base.errors import nearest


def text(argument: JsonValue, expected: str) -> str:
    """Return a non-empty string.

    >>> text("refund", "a text")
    'refund'
    """
    if not isinstance(argument, str) or not argument:
        hint = "" if isinstance(argument, str | list | dict) else " (quote it if it is meant as text)"
        raise ValueError(f"expects {expected}, got {argument!r}{hint}")
    return argument


def texts(argument: JsonValue, expected: str) -> tuple[str, ...]:
    """Read one non-empty string, or a non-empty list of strings."""
    items = argument if isinstance(argument, list) else [argument]
    if not items:
        raise ValueError(f"expects {expected}, got an empty list")
    return tuple(text(item, expected) for item in items)


def mapping(
    argument: JsonValue, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, JsonValue]:
    """Return a mapping with all required keys and no unknown ones."""
    required, known = list(required), [*required, *optional]
    if not isinstance(argument, dict):
        raise ValueError(f"expects a mapping with {', '.join(known)}, got {argument!r}")
    for key in argument:
        if key not in known:
            raise ValueError(f"unknown key {key!r}. {nearest(key, known)}")
    if missing := [key for key in required if key not in argument]:
        raise ValueError(f"expects the key {missing[0]!r} (known: {', '.join(known)})")
    return argument


def number(argument: JsonValue, expected: str) -> float:
    """Return a finite number that is not negative; true and false are not numbers."""
    if isinstance(argument, bool) or not isinstance(argument, int | float):
        raise ValueError(f"expects {expected}, got {argument!r}")
    if not math.isfinite(argument) or argument < 0:
        raise ValueError(f"expects {expected}, got {argument!r}")
    return argument
