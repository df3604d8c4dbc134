"""Streams of JSON lines, one value a line."""

from collections.abc import Iterator

from agentmut.wire.dialects.json_frames import JsonFraming

MEDIA_TYPE = "application/x-ndjson"


class LineFraming(JsonFraming):
    """Cuts a stream after each line feed."""

    def _around(self, raw: bytes) -> tuple[bytes, bytes]:
        return b"", raw[len(raw.rstrip()) :]

    def _cut(self) -> Iterator[bytes]:
        begin = 0
        while (end := self._held.find(b"\n", max(begin, self._at)) + 1) > 0:
            yield bytes(self._held[begin:end])
            begin = end
        del self._held[:begin]
        self._at = len(self._held)
