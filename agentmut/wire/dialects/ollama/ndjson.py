"""Streams of JSON lines, one value a line."""

from collections.abc import Iterator
from typing import Any

from agentmut.nouns import Frame
from agentmut.wire import bodies

MEDIA_TYPE = "application/x-ndjson"


class LineFraming:
    """Cuts a stream after each line feed."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._at = 0  # up to where line feeds have been looked for: no byte is looked at twice

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        self._held += piece
        return [Frame(raw, _value(raw)) for raw in self._cut()]

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        return bytes(self._held)

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another JSON value; its line end stays."""
        data = bodies.write_json(value)
        if data == bodies.write_json(frame.value):
            return frame.raw
        return data + frame.raw[len(frame.raw.rstrip()) :]

    def _cut(self) -> Iterator[bytes]:
        begin = 0
        while (end := self._held.find(b"\n", max(begin, self._at)) + 1) > 0:
            yield bytes(self._held[begin:end])
            begin = end
        del self._held[:begin]
        self._at = len(self._held)


def _value(raw: bytes) -> Any:
    try:
        return bodies.read_json(raw)
    except ValueError:
        return None
