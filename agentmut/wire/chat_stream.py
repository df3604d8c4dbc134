"""Chat Completions as a stream of chunks, and the pieces that plain replies share with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from agentmut.trace import Usage
from agentmut.wire import bodies, sse
from agentmut.wire.messages import ModelReply, ToolCall

CREATED = 0  # a reply is a function of its request, so it carries no clock


@dataclass
class _CallParts:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class _Parts:
    """What the chunks read so far add up to."""

    model: str = ""
    texts: list[str] = field(default_factory=list)
    calls: dict[int, _CallParts] = field(default_factory=dict)
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)


def decode(body: bytes) -> ModelReply:
    """Put a complete stream together. Raises `ValueError` when it is cut off or reports an error."""
    parts = _Parts()
    for chunk in sse.json_events(body):
        _add_chunk(parts, bodies.mapping(chunk, "a chunk"))
    if not parts.finish_reason:
        raise ValueError("the event stream ends before its finish_reason: it was cut off")
    return ModelReply(
        model=parts.model,
        text="".join(parts.texts),
        tool_calls=tuple(_call(parts.calls[index]) for index in sorted(parts.calls)),
        finish_reason=parts.finish_reason,
        usage=parts.usage,
    )


def chunks(reply: ModelReply, reply_id: str) -> Iterator[JsonValue]:
    """The chunks of a reply: role, words, tool calls piece by piece, and the end with usage.

    Usage rides on the last chunk that has a choice, where clients that asked for none do not stumble on it.
    """
    top = head(reply, reply_id, "chat.completion.chunk")
    deltas: list[dict[str, JsonValue]] = [{"role": "assistant", "content": "" if reply.text else None}]
    deltas += [{"content": piece} for piece in _pieces(reply.text)]
    deltas += [
        {"tool_calls": [piece]} for i, call in enumerate(reply.tool_calls) for piece in _split(i, call)
    ]
    for delta in deltas:
        yield {**top, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end: JsonValue = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}
    yield {**top, "choices": [end], "usage": write_usage(reply.usage)}


def head(reply: ModelReply, reply_id: str, kind: str) -> dict[str, JsonValue]:
    """The fields that every body and chunk begins with."""
    return {"id": reply_id, "object": kind, "created": CREATED, "model": reply.model}


def write_call(call: ToolCall) -> JsonValue:
    """A tool call as the dialect writes it."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def write_usage(usage: Usage) -> JsonValue:
    """Token counts as the dialect writes them."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total,
    }


def read_usage(usage: Any) -> Usage:
    """Token counts; an absent report counts as zero."""
    found = {} if usage is None else bodies.mapping(usage, "usage")
    return Usage(
        input_tokens=bodies.count(found.get("prompt_tokens"), "usage.prompt_tokens"),
        output_tokens=bodies.count(found.get("completion_tokens"), "usage.completion_tokens"),
    )


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if i == 0 else f" {word}" for i, word in enumerate(words)] if text else []


def _split(index: int, call: ToolCall) -> Iterator[JsonValue]:
    half = len(call.arguments) // 2
    function: dict[str, JsonValue] = {"name": call.name, "arguments": ""}
    yield {"index": index, "id": call.id, "type": "function", "function": function}
    for piece in (call.arguments[:half], call.arguments[half:]):
        if piece:
            yield {"index": index, "function": {"arguments": piece}}


def _add_chunk(parts: _Parts, chunk: Mapping[str, Any]) -> None:
    if "error" in chunk:
        raise ValueError(f"the service ended its stream with an error: {chunk['error']!r:.200}")
    parts.model = bodies.text(chunk.get("model"), "model") or parts.model
    if chunk.get("usage") is not None:
        parts.usage = read_usage(chunk["usage"])
    for choice in bodies.listing(chunk.get("choices"), "choices"):
        _add_choice(parts, bodies.mapping(choice, "choices[]"))


def _add_choice(parts: _Parts, choice: Mapping[str, Any]) -> None:
    if choice.get("index") not in (None, 0):
        return  # only the first of several alternatives is read, as in plain replies
    parts.finish_reason = bodies.text(choice.get("finish_reason"), "finish_reason") or parts.finish_reason
    delta = bodies.mapping(choice.get("delta") or {}, "delta")
    parts.texts.append(bodies.text(delta.get("content"), "delta.content"))
    for position, piece in enumerate(bodies.listing(delta.get("tool_calls"), "delta.tool_calls")):
        _add_call(parts, bodies.mapping(piece, "delta.tool_calls[]"), position)


def _add_call(parts: _Parts, piece: Mapping[str, Any], position: int) -> None:
    index = piece.get("index")
    call = parts.calls.setdefault(
        position if index is None else bodies.count(index, "tool_calls[].index"), _CallParts()
    )
    function = bodies.mapping(piece.get("function") or {}, "tool_calls[].function")
    call.id = bodies.text(piece.get("id"), "tool_calls[].id") or call.id
    call.name += bodies.text(function.get("name"), "tool_calls[].function.name")
    call.arguments.append(bodies.text(function.get("arguments"), "tool_calls[].function.arguments"))


def _call(parts: _CallParts) -> ToolCall:
    return ToolCall(
        id=parts.id,
        name=bodies.name(parts.name, "tool_calls[].function.name"),
        arguments="".join(parts.arguments),
    )
