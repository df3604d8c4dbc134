"""Reading untrusted values at their places in a body; a place is spelled out only where it is wrong."""

from collections.abc import Mapping
from typing import Any, TypeVar

from agentmut.nouns import Path
from agentmut.wire import bodies
from agentmut.wire.dialects.places import shown

T = TypeVar("T")


def mapping_at(value: Any, path: Path) -> Mapping[str, Any]:
    """`value` if it is an object."""
    return value if isinstance(value, dict) else bodies.mapping(value, shown(path))


def listing_at(value: Any, path: Path) -> list[Any]:
    """`value` if it is a list; an absent (null) one is empty."""
    return value if isinstance(value, list) else bodies.listing(value, shown(path))


def text_at(value: Any, path: Path) -> str:
    """`value` if it is a string; an absent (null) one is empty."""
    return value if isinstance(value, str) else bodies.text(value, shown(path))


def one_of_at(value: Any, known: Mapping[str, T], path: Path) -> T:
    """What `value`, one of the known words, stands for."""
    return (
        known[value]
        if isinstance(value, str) and value in known
        else bodies.one_of(value, known, shown(path))
    )


def name_at(value: Any, path: Path) -> str:
    """`value` if it is a string with something in it."""
    return value if isinstance(value, str) and value else bodies.name(value, shown(path))
