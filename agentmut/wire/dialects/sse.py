"""Server-sent events, as model services use them: `data:` lines, one JSON value an event; texts stream in pieces."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import Frame
from agentmut.wire.bodies import read_json, write_json

DONE = "[DONE]"
MEDIA_TYPE = "text/event-stream"
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"[\r\n]")
_LINES = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class SseFraming:
    """Cuts an event stream after each blank line; lines may end in CRLF, LF or CR."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._line = 0  # where the current line begins
        self._at = 0  # up to where line ends have been looked for: no byte is looked at twice
        self._after_cr = False

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        return [Frame(raw, _value(raw)) for raw in self.cut(piece)]

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        return bytes(self._held)

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another JSON value; its event name, id, comments and line ends stay."""
        if value is frame.value:
            return frame.raw
        data = write_json(value)
        if data == write_json(frame.value):
            return frame.raw
        return b"".join(_with_data(frame.raw, data))

    def cut(self, piece: bytes) -> Iterator[bytes]:
        """Yield the bytes of each frame that is complete now."""
        self._held += piece
        while found := _LINE_END.search(self._held, self._at):
            end = found.end()
            if end - 1 == self._line and not self._is_second_half(end - 1):
                yield self._taken(end)
            else:
                self._after_cr = self._held[end - 1] == 0x0D
                self._line = self._at = end
        self._at = len(self._held)

    def _is_second_half(self, place: int) -> bool:
        """Return whether the line end is the LF of a CRLF, whose CR may be in an earlier piece."""
        return self._after_cr and self._held[place] == 0x0A

    def _taken(self, end: int) -> bytes:
        """Return the frame up to a blank line's end.

        It is not held up for the LF of a CRLF: that may come with the next.
        """
        self._after_cr = self._held[end - 1] == 0x0D
        if self._after_cr and self._held[end : end + 1] == b"\n":
            end, self._after_cr = end + 1, False
        raw = bytes(self._held[:end])
        del self._held[:end]
        self._line = self._at = 0
        return raw


def is_event_stream(body: bytes) -> bool:
    """Return whether a body reads as an event stream rather than as one JSON value.

    >>> is_event_stream(b'data: {}'), is_event_stream(b'{"data": 1}')
    (True, False)
    """
    return body.removeprefix(_BOM).lstrip().startswith(_FIELDS)


def events(body: bytes) -> Iterator[str]:
    """Yield the data of each event; several `data:` lines of one event are joined, as the standard demands."""
    framing = SseFraming()
    for raw in [*framing.cut(body), framing.rest()]:
        data = _data(raw)
        if data is not None:
            yield data.decode("utf-8")


def json_events(body: bytes) -> Iterator[JsonValue]:
    """Yield the JSON values of a stream up to its `[DONE]` mark."""
    for data in events(body):
        if data.strip() == DONE:
            return
        yield read_json(data)


def write_events(values: Iterable[JsonValue]) -> bytes:
    """Return a whole stream, ended by `[DONE]`."""
    blocks = [b"data: " + write_json(value) for value in values]
    return b"\n\n".join([*blocks, b"data: " + DONE.encode(), b""])


def write_named_events(values: Iterable[tuple[str, JsonValue]]) -> bytes:
    """Return a whole stream of named events, without an end mark."""
    return b"".join(b"event: %b\ndata: %b\n\n" % (name.encode(), write_json(value)) for name, value in values)


def _value(raw: bytes) -> Any:
    """Return the JSON value of a frame's data; None if the data is not JSON."""
    data = _data(raw)
    try:
        return None if data is None else read_json(data.decode("utf-8"))
    except ValueError:
        return None


def _data(raw: bytes) -> bytes | None:
    lines = [line[5:].removeprefix(b" ") for line, _ in _lines(raw) if _is_data(line)]
    return b"\n".join(lines) if lines else None


def _with_data(raw: bytes, data: bytes) -> Iterator[bytes]:
    """Return the lines of a frame with new data in its first data line, and without its other data lines."""
    if raw.startswith(_BOM):
        yield _BOM
    written = False
    for line, end in _lines(raw):
        if not _is_data(line):
            yield line + end
        elif not written:
            blank = b"" if line[5:] and not line.startswith(b"data: ") else b" "
            yield b"data:" + blank + data + end
            written = True


def _lines(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return each line and its end."""
    return ((found[1], found[2]) for found in _LINES.finditer(raw.removeprefix(_BOM)) if found[0])


def _is_data(line: bytes) -> bool:
    return line.startswith(b"data:") or line == b"data"


def words(text: str) -> list[str]:
    """Return the pieces in which a text is streamed: each word with the blank before it."""
    if not text:
        return []
    first, *others = text.split(" ")
    return [first, *(f" {word}" for word in others)]


def halves(text: str) -> list[str]:
    """Return a text in two pieces; an empty piece is left out."""
    half = len(text) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]
