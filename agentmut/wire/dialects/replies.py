"""What codecs read of replies alike."""

from collections.abc import Sequence
from typing import Any

from agentmut.nouns import Usage
from agentmut.wire import bodies


def tokens(usage: Any, read: Sequence[str], written: Sequence[str], where: str = "usage") -> Usage:
    """Return the token counts under these keys, added up by kind; an absent report counts as zero."""
    found = {} if usage is None else bodies.mapping(usage, where)

    def total(keys: Sequence[str]) -> int:
        return sum(bodies.count(found.get(key), f"{where}.{key}") for key in keys)

    return Usage(input_tokens=total(read), output_tokens=total(written))
