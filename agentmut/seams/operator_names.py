"""Naming operators: by name, by class, or by a pattern."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def class_of(operator: str) -> str:
    """The class that an operator's name begins with.

    >>> class_of("prompt.negate")
    'prompt'
    """
    return operator.partition(".")[0]


def is_named(operator: str, pattern: str) -> bool:
    """Whether a pattern names an operator: its name, its class, or a glob.

    >>> [is_named("prompt.negate", p) for p in ("prompt.negate", "prompt", "prompt.n*", "tool")]
    [True, True, True, False]
    """
    return pattern == class_of(operator) or fnmatchcase(operator, pattern)


def unknown_name(patterns: Iterable[str], known: Iterable[str]) -> str | None:
    """The first pattern that names none of the known operators; None when all do."""
    operators = tuple(known)
    return next((p for p in patterns if not any(is_named(o, p) for o in operators)), None)
