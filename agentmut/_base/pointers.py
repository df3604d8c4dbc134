"""JSON pointers (RFC 6901) and paths: places in JSON values."""

from collections.abc import Mapping
from typing import Any

Path = tuple[str, ...]
"""Keys and list indexes that lead from a value to a part of it."""


def pointer(path: Path) -> str:
    """Return a path as a JSON pointer.

    >>> pointer(("properties", "a/b"))
    '/properties/a~1b'
    """
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)


def parts_of(json_pointer: str) -> Path:
    """Return a JSON pointer as a path.

    >>> parts_of("/properties/a~1b")
    ('properties', 'a/b')
    """
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in json_pointer.split("/")[1:])


def at_path(value: Any, path: Path) -> Any:
    """Return the value at a place; None if there is none."""
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
