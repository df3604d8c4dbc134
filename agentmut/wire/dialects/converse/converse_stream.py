"""Bedrock Converse as a stream of events."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import Body
from agentmut.wire import bodies
from agentmut.wire.dialects import aws_event_stream
from agentmut.wire.dialects.reading import arguments_text, ended_early
from agentmut.wire.dialects.sse import halves, words


def read(stream: bytes) -> Body:
    """Return the response that a complete stream adds up to.

    Raises `ValueError` when it is cut off or reports an error.
    """
    whole: Body = {}
    blocks: dict[int, list[Mapping[str, Any]]] = {}
    for event in aws_event_stream.events(stream):
        if event.is_error:
            raise ValueError(
                f"the service ended its stream with an error: {event.kind}: {event.payload!r:.200}"
            )
        found = bodies.mapping(bodies.read_json(event.payload), event.kind)
        if event.kind in ("contentBlockStart", "contentBlockDelta"):
            index = bodies.count(found.get("contentBlockIndex"), f"{event.kind}.contentBlockIndex")
            blocks.setdefault(index, []).append(_part(event.kind, found))
        elif event.kind in ("messageStop", "metadata"):
            whole.update({key: value for key, value in found.items() if key != "p"})
    if whole.get("stopReason") is None:
        raise ended_early("stopReason", blocks)
    content = [_block(blocks[index]) for index in sorted(blocks)]
    return {"output": {"message": {"role": "assistant", "content": content}}, **whole}


def write(response: Body) -> bytes:
    """Return a whole stream that adds up to a response."""
    return b"".join(aws_event_stream.event(kind, payload) for kind, payload in _events(response))


def _part(kind: str, found: Mapping[str, Any]) -> Mapping[str, Any]:
    key = "start" if kind == "contentBlockStart" else "delta"
    return bodies.mapping(found.get(key) or {}, f"{kind}.{key}")


def _block(parts: list[Mapping[str, Any]]) -> Body:
    """Return a block from its start, if it had one, and its deltas."""
    texts = [bodies.text(part["text"], "delta.text") for part in parts if "text" in part]
    citations = [part["citation"] for part in parts if "citation" in part]
    if citations:
        return {"citationsContent": {"content": [{"text": "".join(texts)}], "citations": citations}}
    if texts:
        return {"text": "".join(texts)}
    for key in ("toolUse", "reasoningContent"):
        held = [bodies.mapping(part[key], key) for part in parts if key in part]
        if held:
            return {key: _tool_use(held) if key == "toolUse" else _reasoning(held)}
    return _other(parts)


def _tool_use(parts: list[Mapping[str, Any]]) -> Body:
    written = "".join(bodies.text(part["input"], "delta.toolUse.input") for part in parts if "input" in part)
    start = {key: value for part in parts for key, value in part.items() if key != "input"}
    return {**start, "input": _arguments(written)}


def _arguments(text: str) -> Any:
    try:
        return bodies.read_json(text) if text else {}
    except ValueError:
        return text  # the model was cut off in the middle of its arguments


def _reasoning(parts: list[Mapping[str, Any]]) -> Body:
    text: Body = {"text": "".join(bodies.text(part.get("text"), "reasoningContent.text") for part in parts)}
    for part in parts:
        if "redactedContent" in part:
            return {"redactedContent": part["redactedContent"]}
        if "signature" in part:
            text["signature"] = part["signature"]
    return {"reasoningText": text}


def _other(parts: list[Mapping[str, Any]]) -> Body:
    """Return results of tools of the service, images: the start, with what each delta adds."""
    block: Body = {}
    for part in parts:
        for key, value in part.items():
            held = block.get(key) or {}
            added = {"content": [*held.get("content", ()), *value]} if isinstance(value, list) else value
            block[key] = {**held, **bodies.mapping(added, key)}
    return block


def _events(response: Body) -> Iterator[tuple[str, JsonValue]]:
    yield "messageStart", {"role": "assistant"}
    for index, block in enumerate(response["output"]["message"]["content"]):
        if "toolUse" in block:
            use = {key: value for key, value in block["toolUse"].items() if key != "input"}
            yield "contentBlockStart", {"start": {"toolUse": use}, "contentBlockIndex": index}
        for delta in _deltas(block):
            yield "contentBlockDelta", {"delta": delta, "contentBlockIndex": index}
        yield "contentBlockStop", {"contentBlockIndex": index}
    yield "messageStop", {"stopReason": response["stopReason"]}
    yield "metadata", {"usage": response["usage"], "metrics": response["metrics"]}


def _deltas(block: Mapping[str, Any]) -> Iterator[JsonValue]:
    if "text" in block:
        for word in words(block["text"]):
            yield {"text": word}
        return
    for part in halves(arguments_text(block["toolUse"]["input"])):
        yield {"toolUse": {"input": part}}
