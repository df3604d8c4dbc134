"""Chat Completions as a stream of chunks: assembled into a plain reply, and written."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import Body, ModelReply, ToolCall
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.chat.chat_replies import head, write_usage
from agentmut.wire.dialects.reading import ended_early
from agentmut.wire.dialects.sse import halves, words

_WHOLE = frozenset({"role", "id", "type"})
"""Strings that a later piece repeats; all others it goes on with."""


def assembled(body: bytes) -> Body:
    """Return the plain reply that a complete stream amounts to, with the first of its alternatives.

    Raises `ValueError` when the stream is cut off or reports an error.
    """
    reply: Body = {}
    message: dict[str, Any] = {}
    finish_reason = ""
    for value in sse.json_events(body):
        chunk = bodies.mapping(value, "a chunk")
        if chunk.get("error") is not None:
            raise ValueError(f"the service ended its stream with an error: {chunk['error']!r:.200}")
        reply |= {key: found for key, found in chunk.items() if found not in (None, "") and key != "choices"}
        for choice in _first_choices(chunk):
            _add(message, bodies.mapping(choice.get("delta") or {}, "delta"))
            finish_reason = bodies.text(choice.get("finish_reason"), "finish_reason") or finish_reason
    if not finish_reason:
        raise ended_early("finish_reason", message)
    choice = {"index": 0, "message": _joined(message), "finish_reason": finish_reason}
    return {**reply, "choices": [choice]}


def chunks(reply: ModelReply, reply_id: str) -> Iterator[JsonValue]:
    """Yield the chunks of a reply: role, words, tool calls piece by piece, and the end with usage.

    Usage rides on the last chunk that has a choice, where clients that asked for none do not stumble on it.
    """
    top = head(reply, reply_id, "chat.completion.chunk")
    deltas: list[dict[str, JsonValue]] = [{"role": "assistant", "content": "" if reply.text else None}]
    deltas += [{"content": piece} for piece in words(reply.text)]
    deltas += [
        {"tool_calls": [piece]} for i, call in enumerate(reply.tool_calls) for piece in _split(i, call)
    ]
    for delta in deltas:
        yield {**top, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end: JsonValue = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}
    yield {**top, "choices": [end], "usage": write_usage(reply.usage)}


def _split(index: int, call: ToolCall) -> Iterator[JsonValue]:
    function: dict[str, JsonValue] = {"name": call.name, "arguments": ""}
    yield {"index": index, "id": call.id, "type": "function", "function": function}
    for piece in halves(call.arguments):
        yield {"index": index, "function": {"arguments": piece}}


def _first_choices(chunk: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the choices that continue the first alternative, which is also the one read from plain replies."""
    for found in bodies.listing(chunk.get("choices"), "choices"):
        choice = bodies.mapping(found, "choices[]")
        if choice.get("index") in (None, 0):
            yield choice


class _Pieces(list[str]):
    """A text that arrives in pieces and is joined once, at the end."""


class _Calls(dict[int, Any]):
    """Tool calls by index."""


def _add(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add one piece of a streamed object to the earlier pieces; unknown fields are kept."""
    for key, value in delta.items():
        held = whole.get(key)
        if key == "tool_calls":
            calls = whole.setdefault(key, _Calls())
            _add_calls(calls, bodies.listing(value, "delta.tool_calls"))
        elif isinstance(value, str) and key not in _WHOLE:
            if not isinstance(held, _Pieces):
                held = whole[key] = _Pieces()
            held.append(value)
        elif isinstance(value, dict):
            if not isinstance(held, dict):
                held = whole[key] = {}
            _add(held, value)
        elif value not in (None, "") or key not in whole:
            whole[key] = value


def _add_calls(calls: dict[int, Any], pieces: list[Any]) -> None:
    for position, found in enumerate(pieces):
        piece = bodies.mapping(found, "delta.tool_calls[]")
        given = piece.get("index")
        index = position if given is None else bodies.count(given, "tool_calls[].index")
        _add(calls.setdefault(index, {}), {key: value for key, value in piece.items() if key != "index"})


def _joined(value: Any) -> Any:
    if isinstance(value, _Pieces):
        return "".join(value)
    if isinstance(value, _Calls):
        return [_joined(value[index]) for index in sorted(value)]
    return {key: _joined(item) for key, item in value.items()} if isinstance(value, dict) else value
