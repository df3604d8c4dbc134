"""Keys that a service accepts in camelCase and in snake_case: each body keeps its own spelling."""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


@lru_cache(maxsize=1024)
def snake(camel: str) -> str:
    """Return the key in snake_case.

    >>> snake("responseMimeType")
    'response_mime_type'
    """
    return _HUMP.sub(r"_\1", camel).lower()


def used(value: Mapping[str, Any], camel: str) -> str:
    """Return the key in an object's spelling; in camelCase if the object has no such key."""
    return snake(camel) if camel not in value and snake(camel) in value else camel


def get(value: Mapping[str, Any], camel: str) -> Any:
    """Return what an object has under a key in either spelling."""
    return value.get(used(value, camel))


def used_path(value: Mapping[str, Any], camels: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path of keys in the spelling of the objects on the path."""
    path: tuple[str, ...] = ()
    held: Any = value
    for camel in camels:
        path = (*path, used(held, camel) if isinstance(held, dict) else camel)
        held = held.get(path[-1]) if isinstance(held, dict) else None
    return path


def spelled(pattern: str) -> list[str]:
    """Return a pattern of places in all spellings.

    >>> spelled("parts.*.functionCall")
    ['parts.*.functionCall', 'parts.*.function_call']
    """
    return [".".join(keys) for keys in product(*(dict.fromkeys((k, snake(k))) for k in pattern.split(".")))]
