"""The texts within a value of JSON."""

from collections.abc import Iterator
from typing import Any


def texts_in(value: Any) -> Iterator[str]:
    """Yield each text of a value, keys of mappings included.

    >>> list(texts_in({"a": ["b", 1, {"c": "d"}]}))
    ['a', 'b', 'c', 'd']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
