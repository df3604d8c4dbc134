"""Replies of Ollama, plain and as a stream of lines: assembled, and written."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut.nouns import Body
from agentmut.wire import bodies
from agentmut.wire.dialects.reading import ended_early
from agentmut.wire.dialects.sse import words

_TEXTS = ("content", "thinking")


def whole(reply: bytes) -> Body:
    """Return a reply in the service's plain form.

    Raises `ValueError` for errors and for streams that were cut off.
    """
    try:
        lines = [bodies.read_object(reply)]
    except ValueError:  # several lines are no JSON value
        lines = [bodies.read_object(line) for line in reply.splitlines() if line.strip()]
    found = _added(lines)
    if found.get("done") is not True:
        raise ended_early("last line, which says that it is done", "done" in found)
    return found


def write(reply: Body) -> bytes:
    """Return a whole stream that adds up to a reply."""
    return b"".join(bodies.write_json(line) + b"\n" for line in _lines(reply))


def _added(lines: Iterable[Mapping[str, Any]]) -> Body:
    reply: Body = {}
    message: Body = {}
    texts: dict[str, list[str]] = {}
    calls: list[Any] = []
    for line in lines:
        if line.get("error") is not None:
            raise ValueError(f"the service answered with an error: {line['error']!r:.200}")
        reply.update(line)
        piece = bodies.mapping(line.get("message") or {}, "message")
        message.update(piece)
        calls += bodies.listing(piece.get("tool_calls"), "message.tool_calls")
        for key in _TEXTS:
            if piece.get(key) is not None:
                texts.setdefault(key, []).append(bodies.text(piece[key], f"message.{key}"))
    message |= {key: "".join(pieces) for key, pieces in texts.items()}
    return {**reply, "message": {**message, **({"tool_calls": calls} if calls else {})}}


def _lines(reply: Body) -> Iterator[Body]:
    message = reply["message"]
    head = {"model": reply["model"], "created_at": reply["created_at"]}
    for word in words(message["content"]):
        yield {**head, "message": {"role": "assistant", "content": word}, "done": False}
    for call in message.get("tool_calls", ()):
        said = {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {**head, "message": said, "done": False}
    yield {**reply, "message": {"role": "assistant", "content": ""}}
