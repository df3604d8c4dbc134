"""Replies, plain or streamed: changes of their values, and the calls in them."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from agentmut.nouns import Codec
from agentmut.wire.bodies import read_json, write_json

_IDS = ("call_id", "toolUseId", "id")
_CALLS = ("functionCall", "function_call", "toolUse", "function", "custom")
"""Keys below which there is a call."""
_KINDS = (None, "tool_use", "function_call", "custom_tool_call", "function", "custom")
"""Types of calls of the agent's own tools."""


class ModelCall(NamedTuple):
    """A tool call in a reply or a conversation."""

    id: str | None
    name: str
    arguments: Any


def changed_reply(codec: Codec, body: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return a reply with each JSON value passed through `change`; the same bytes if no value changes.

    An event of which `change` leaves None is left out.
    """
    try:
        value = read_json(body)
    except ValueError:
        return _changed_stream(codec, body, change)
    after = change(value)
    return body if after is value or after == value else write_json(after)


def _changed_stream(codec: Codec, body: bytes, change: Callable[[Any], Any]) -> bytes:
    framing = codec.framing()
    parts = []
    for frame in framing.feed(body):
        after = frame.value if frame.value is None else change(frame.value)
        if after is frame.value or after == frame.value:
            parts.append(frame.raw)
        elif after is not None:
            parts.append(framing.written(frame, after))
    return b"".join([*parts, framing.rest()])


def values_of(codec: Codec, body: bytes) -> list[Any]:
    """Return the JSON values of a reply: one for a plain reply, one for each event of a stream."""
    try:
        return [read_json(body)]
    except ValueError:
        return [frame.value for frame in codec.framing().feed(body)]


def calls_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield id and name of every tool call in a reply or in one event of a stream, in any dialect."""
    if isinstance(value, list):
        for item in value:
            yield from calls_in(item)
    elif isinstance(value, dict):
        function = value.get("function")
        name = function.get("name") if isinstance(function, dict) else value.get("name")
        call_id = next((value[key] for key in _IDS if value.get(key)), None)
        if isinstance(name, str) and isinstance(call_id, str):
            yield call_id, name
        for item in value.values():
            yield from calls_in(item)


def calls_made(value: Any, call_id: str | None = None, key: str = "") -> Iterator[ModelCall]:
    """Yield every call of an agent's tool in a reply, an event or an item of a conversation, with its id if any."""
    if isinstance(value, list):
        for item in value:
            yield from calls_made(item, call_id)
    elif isinstance(value, dict):
        call_id = next((value[key] for key in _IDS if isinstance(value.get(key), str)), call_id)
        given = [value[key] for key in ("arguments", "args", "input") if key in value]
        name = value.get("name")
        if isinstance(name, str) and name and (given or key in _CALLS):
            if value.get("type") in _KINDS:
                yield ModelCall(call_id, name, given[0] if given else None)
            return
        for inner, item in value.items():
            yield from calls_made(item, call_id, inner)
