"""Anthropic Messages as a stream of events."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut.nouns import Body
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.reading import arguments_text, ended_early
from agentmut.wire.dialects.sse import halves, words

_TEXT_DELTAS: Mapping[str, tuple[str, str]] = {
    "input_json_delta": ("partial_json", "input"),
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "compaction_delta": ("content", "content"),
}
"""By kind of delta: its key, and the key of the block that it adds to."""


def read(stream: bytes) -> Body:
    """Return the message that a complete stream adds up to.

    Raises `ValueError` when it is cut off or reports an error.
    """
    message: Body = {}
    blocks: list[_Block] = []
    for found in sse.json_events(stream):
        event = bodies.mapping(found, "an event")
        kind = event.get("type")
        if kind == "error":
            raise ValueError(f"the service ended its stream with an error: {event.get('error')!r:.200}")
        if kind == "message_start":
            message.update(bodies.mapping(event.get("message"), "message_start.message"))
        elif kind == "content_block_start":
            block = bodies.mapping(event.get("content_block"), "content_block_start.content_block")
            blocks.append(_Block(dict(block), []))
        elif kind == "content_block_delta":
            _block(blocks, event.get("index")).deltas.append(bodies.mapping(event.get("delta"), "delta"))
        elif kind == "message_delta":
            _end(message, event)
    if message.get("stop_reason") is None:
        raise ended_early("stop_reason", message)
    return {**message, "content": [_finished(block) for block in blocks]}


def write(message: Body) -> bytes:
    """Return a whole stream that adds up to a message."""
    return sse.write_named_events((str(event["type"]), event) for event in _events(message))


class _Block(NamedTuple):
    """A block: its start, and the pieces added to it."""

    start: Body
    deltas: list[Mapping[str, Any]]


def _block(blocks: list[_Block], index: Any) -> _Block:
    """Return the block of an index; blocks arrive in order."""
    number = bodies.count(index, "content_block_delta.index")
    if number >= len(blocks):
        raise ValueError(f"content_block_delta.index: no block {number} has started")
    return blocks[number]


def _end(message: Body, event: Mapping[str, Any]) -> None:
    """Take the ending and the token counts from an event; later counts replace earlier ones."""
    message.update(bodies.mapping(event.get("delta") or {}, "message_delta.delta"))
    before = bodies.mapping(message.get("usage") or {}, "message_start.message.usage")
    usage = bodies.mapping(event.get("usage") or {}, "message_delta.usage")
    message["usage"] = {**before, **{key: value for key, value in usage.items() if value is not None}}


def _finished(block: _Block) -> Body:
    texts: dict[str, list[str]] = {}
    citations = []
    for delta in block.deltas:
        kind = bodies.text(delta.get("type"), "delta.type")
        if kind == "citations_delta":
            citations.append(delta.get("citation"))
        elif kind in _TEXT_DELTAS:
            key, target = _TEXT_DELTAS[kind]
            texts.setdefault(target, []).append(bodies.text(delta.get(key), f"{kind}.{key}"))
    found = {
        **block.start,
        **{key: _block_content(block.start, key, pieces) for key, pieces in texts.items()},
    }
    return {**found, "citations": citations} if citations else found


def _block_content(start: Body, key: str, pieces: list[str]) -> Any:
    text = "".join(pieces)
    if key != "input":
        return bodies.text(start.get(key), key) + text
    try:
        return bodies.read_json(text) if text else start.get(key)
    except ValueError:
        return text  # the model was cut off in the middle of its arguments


def _events(message: Body) -> Iterator[dict[str, JsonValue]]:
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    start["usage"] = {**message["usage"], "output_tokens": 0}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    ended: JsonValue = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}  # counts are cumulative
    yield {"type": "message_stop"}


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[dict[str, JsonValue]]:
    begun = {**block, **({"text": ""} if block["type"] == "text" else {"input": {}})}
    yield {"type": "content_block_start", "index": index, "content_block": begun}
    for delta in _deltas(block):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _deltas(block: Mapping[str, Any]) -> Iterator[JsonValue]:
    if block["type"] == "text":
        for piece in words(block["text"]):
            yield {"type": "text_delta", "text": piece}
        return
    for part in ("", *halves(arguments_text(block["input"]))):
        yield {"type": "input_json_delta", "partial_json": part}
