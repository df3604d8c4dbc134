"""Arguments of calls, for services that write them as objects where the normal form has JSON text."""

from typing import Any

from agentmut.nouns import ToolCall
from agentmut.wire import bodies


def arguments_text(arguments: Any) -> str:
    """An object of arguments as JSON text; an absent one is empty, and text (of one cut off) stays text."""
    if isinstance(arguments, str):
        return arguments
    return bodies.write_json({} if arguments is None else arguments).decode("ascii")


def read_arguments(call: ToolCall) -> dict[str, Any] | str:
    """The arguments of a call as an object; text that is none, as of a reply that was cut off, stays text."""
    try:
        found = bodies.read_json(call.arguments or "{}")
    except ValueError:
        return call.arguments
    return found if isinstance(found, dict) else call.arguments
