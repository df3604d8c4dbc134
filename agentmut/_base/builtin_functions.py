"""Python's built-in functions and types as they come: whether code of users has replaced them, and what still works.

Nothing here may need a built-in function that is looked up by its name: just that one may be replaced.
"""

import builtins
from typing import Any

_NOW = builtins.__dict__
_SEEN = {name: value for name, value in _NOW.items() if name == "__import__" or not name.startswith("_")}
_TYPES = {name: value for name, value in _SEEN.items() if isinstance(value, type)}
_ERRORS = BaseException
"""By another name, since `BaseException` may be another thing by the time that it is needed."""
_TRIALS: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
    ("abs", (-1,), 1),
    ("all", ((),), True),
    ("any", ((),), False),
    ("callable", (0,), False),
    ("getattr", (1, "real"), 1),
    ("getattr", (1, "none", 2), 2),
    ("hasattr", (1, "real"), True),
    ("hasattr", (1, "none"), False),
    ("hash", (1,), 1),
    ("isinstance", (1, int), True),
    ("isinstance", (1, str), False),
    ("issubclass", (bool, int), True),
    ("issubclass", (bool, str), False),
    ("len", ("ab",), 2),
    ("max", (1, 2), 2),
    ("min", (1, 2), 1),
    ("repr", (1,), "1"),
    ("round", (2.4,), 2),
    ("sorted", ([2, 1],), [1, 2]),
    ("sum", ((1, 2),), 3),
)
"""Calls of functions that everything needs, and what they return."""


def put_back_builtins() -> tuple[str, ...]:
    """Put Python's own functions and types back in their places; return the names of what was replaced or removed."""
    names = [f"builtins.{name}" for name in _SEEN if _NOW.get(name, _NOW) is not _SEEN[name]]
    _NOW.update(_SEEN)
    return (*names,)


def broken_builtins() -> tuple[str, ...]:
    """Return the names of types that were replaced, and of functions that do something else than Python's own.

    A function that was replaced by one that does the same, as libraries do that watch calls, is not named.
    """
    found = {f"builtins.{name}": None for name in _TYPES if _NOW.get(name, _NOW) is not _TYPES[name]}
    for name, arguments, expected in _TRIALS:
        if _NOW.get(name, _NOW) is not _SEEN[name] and not _does(name, arguments, expected):
            found[f"builtins.{name}"] = None
    return (*found,)


def _does(name: str, arguments: tuple[Any, ...], expected: Any) -> bool:
    try:
        answer: bool = _NOW[name](*arguments) == expected
    except _ERRORS:
        return False
    return answer is True
