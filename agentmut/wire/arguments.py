"""Arguments of calls, for services that write them as objects where the normal form has JSON text."""

from typing import Any

from agentmut.wire import bodies
from agentmut.wire.messages import ToolCall


def arguments_text(arguments: Any) -> str:
    """An object of arguments as JSON text; an absent one is empty, and text (of one cut off) stays text."""
    if isinstance(arguments, str):
        return arguments
    return bodies.write_json({} if arguments is None else arguments).decode("ascii")


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call as an object. Raises `ValueError` for text that is none."""
    where = f"the arguments of the call of {call.name}"
    try:
        return dict(bodies.mapping(bodies.read_json(call.arguments or "{}"), where))
    except ValueError as error:
        raise ValueError(f"{where} are no JSON object, and this dialect has no other: {error}") from None
