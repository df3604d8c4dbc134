"""Gemini's streams: server-sent events, or one JSON array that grows."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut.nouns import Body, Frame, Framing
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.gemini.spelling import get
from agentmut.wire.dialects.json_frames import JsonFraming
from agentmut.wire.dialects.reading import ended_early
from agentmut.wire.dialects.sse import words

_OUTSIDE, _INSIDE = re.compile(rb'["{}]'), re.compile(rb'["\\]')
"""What matters outside of strings, and inside of them."""


class GeminiFraming:
    """Cuts a stream of either kind; the first byte shows the kind."""

    def __init__(self) -> None:
        self._framing: Framing | None = None
        self._blank = b""

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        if self._framing is None:
            self._blank += piece
            start = self._blank.lstrip()
            if not start:
                return []
            self._framing = ArrayFraming() if start.startswith(b"[") else sse.SseFraming()
            piece, self._blank = self._blank, b""
        return self._framing.feed(piece)

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        return self._blank if self._framing is None else self._framing.rest()

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another JSON value."""
        framing = self._framing or sse.SseFraming()
        return framing.written(frame, value)


class ArrayFraming(JsonFraming):
    """Cuts a JSON array after each of its objects; the comma before an object belongs to its frame."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._quoted = False

    def _around(self, raw: bytes) -> tuple[bytes, bytes]:
        return raw[: raw.index(b"{")], b""

    def _cut(self) -> Iterator[bytes]:
        while (mark := self._next_mark()) is not None:
            if mark == b"{":
                self._depth += 1
            elif mark == b"}":
                self._depth -= 1
                if self._depth == 0:
                    yield self._taken(self._at)

    def _next_mark(self) -> bytes | None:
        """Return the next brace outside of strings; no byte is looked at twice."""
        while found := (_INSIDE if self._quoted else _OUTSIDE).search(self._held, self._at):
            if found[0] == b"\\":
                if found.end() == len(self._held):  # what it escapes is still to come
                    self._at = found.start()
                    return None
                self._at = found.end() + 1
                continue
            self._at = found.end()
            if found[0] != b'"':
                return found[0]
            self._quoted = not self._quoted
        self._at = len(self._held)
        return None

    def _taken(self, end: int) -> bytes:
        raw = bytes(self._held[:end])
        del self._held[:end]
        self._at = 0
        return raw


def is_stream(body: bytes) -> bool:
    """Return whether a reply is a stream rather than one object."""
    return sse.is_event_stream(body) or body.lstrip().startswith(b"[")


def read(stream: bytes) -> Body:
    """Return the response that a complete stream adds up to.

    Raises `ValueError` when it is cut off or reports an error.
    """
    chunks = sse.json_events(stream) if sse.is_event_stream(stream) else bodies.read_json(stream)
    return _added(bodies.mapping(chunk, "a chunk") for chunk in chunks)


def write(response: Body) -> bytes:
    """Return a whole stream, as server-sent events, that adds up to a response."""
    return b"".join(b"data: %b\r\n\r\n" % bodies.write_json(chunk) for chunk in _chunks(response))


def candidate_of(response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first candidate; a blocked prompt has none."""
    if "error" in response:
        raise ValueError(f"the service answered with an error: {response['error']!r:.200}")
    found = bodies.listing(response.get("candidates"), "candidates")
    if found:
        return bodies.mapping(found[0], "candidates[0]")
    if get(response, "promptFeedback") is None:
        raise ValueError("candidates: expected at least one, found none")
    return {"finishReason": "SAFETY"}


def _added(chunks: Iterable[Mapping[str, Any]]) -> Body:
    whole: Body = {}
    candidate: Body = {}
    parts: list[Any] = []
    for chunk in chunks:
        if "candidates" not in chunk and "error" not in chunk and get(chunk, "promptFeedback") is None:
            whole.update(chunk)  # the last may tell nothing but usage
            continue
        found = candidate_of(chunk)
        content = bodies.mapping(found.get("content") or {}, "candidates[0].content")
        parts += bodies.listing(content.get("parts"), "candidates[0].content.parts")
        whole.update(chunk)
        candidate.update(found)
    if not get(candidate, "finishReason"):
        raise ended_early("finishReason", candidate)
    candidate["content"] = {"role": "model", "parts": [*_joined(parts)]}
    return {**whole, "candidates": [candidate]}


def _joined(parts: list[Any]) -> Iterator[Body]:
    """Yield the parts with consecutive texts joined; a part with a signature stays separate."""
    row: list[Body] = []
    for found in parts:
        part = dict(bodies.mapping(found, "parts[]"))
        if row and not (_is_text(part) and _is_text(row[0]) and part.get("thought") == row[0].get("thought")):
            yield _merged_part(row)
            row = []
        row.append(part)
    if row:
        yield _merged_part(row)


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _merged_part(row: list[Body]) -> Body:
    return row[0] if len(row) == 1 else {**row[0], "text": "".join(part["text"] for part in row)}


def _chunks(response: Body) -> Iterator[Body]:
    candidate = response["candidates"][0]
    end = {key: value for key, value in response.items() if key not in ("candidates", "usageMetadata")}
    for part in candidate["content"]["parts"]:
        for piece in [{"text": word} for word in words(part["text"])] if "text" in part else [part]:
            yield {"candidates": [{"content": {"parts": [piece], "role": "model"}, "index": 0}], **end}
    last = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": candidate["finishReason"]}
    yield {"candidates": [{**last, "index": 0}], "usageMetadata": response["usageMetadata"], **end}
