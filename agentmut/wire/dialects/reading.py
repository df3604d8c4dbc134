"""Reading arguments of calls and token counts, which services write in several ways."""

from collections.abc import Sequence
from typing import Any

from agentmut.nouns import ToolCall, Usage
from agentmut.wire import bodies


def tokens(usage: Any, read: Sequence[str], written: Sequence[str], where: str = "usage") -> Usage:
    """Return the token counts under these keys, added up by kind; an absent report counts as zero."""
    found = {} if usage is None else bodies.mapping(usage, where)

    def total(keys: Sequence[str]) -> int:
        return sum(bodies.count(found.get(key), f"{where}.{key}") for key in keys)

    return Usage(input_tokens=total(read), output_tokens=total(written))


def arguments_text(arguments: Any) -> str:
    """Return an object of arguments as JSON text; an absent one is empty, and text (of one cut off) stays text."""
    if isinstance(arguments, str):
        return arguments
    return bodies.write_json({} if arguments is None else arguments).decode("ascii")


def read_arguments(call: ToolCall) -> dict[str, Any] | str:
    """Return the arguments of a call as an object; text that is none, as of a reply that was cut off, stays text."""
    try:
        found = bodies.read_json(call.arguments or "{}")
    except ValueError:
        return call.arguments
    return found if isinstance(found, dict) else call.arguments
