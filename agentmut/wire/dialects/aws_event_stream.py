"""AWS event streams: binary frames with headers, a payload and checksums.

A frame is its whole length and the length of its headers (four bytes each, big-endian), the CRC-32 of these
eight bytes, headers, payload, and the CRC-32 of everything before.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from zlib import crc32

from pydantic import JsonValue

from agentmut.nouns import Frame
from agentmut.wire.bodies import read_json, write_json

MEDIA_TYPE = "application/vnd.amazon.eventstream"
MAX_HEADERS = 128 * 2**10
MAX_PAYLOAD = 24 * 2**20
"""As the service's documentation limits them."""
_PRELUDE = struct.Struct("!III")
_CRC = struct.Struct("!I")
_LEAST = _PRELUDE.size + _CRC.size
_STRING = 7
_SIZES: Mapping[int, int] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type; byte arrays and strings say their length."""


class Event(NamedTuple):
    """The content of one frame."""

    headers: Mapping[str, str]
    """The headers whose values are strings."""
    payload: bytes

    @property
    def kind(self) -> str:
        """Return the event's name, or the exception's."""
        return self.headers.get(":event-type") or self.headers.get(":exception-type", "")

    @property
    def is_error(self) -> bool:
        """Return whether the frame reports that the stream has failed."""
        return self.headers.get(":message-type", "event") != "event"


class EventStreamFraming:
    """Cuts a stream into its frames.

    A frame whose checksum is wrong is passed on without a value. After a prelude that cannot be right nothing
    can be cut any more, so that everything is passed on as it comes.
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._lost = False

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        self._held += piece
        frames = list(self._cut())
        if self._lost and self._held:
            frames.append(Frame(bytes(self._held)))
            self._held.clear()
        return frames

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        return bytes(self._held)

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another JSON payload: lengths and checksums are new, headers stay."""
        data = write_json(value)
        if data == write_json(frame.value):
            return frame.raw
        _, headers, _ = _PRELUDE.unpack_from(frame.raw)
        return _packed(frame.raw[_PRELUDE.size : _PRELUDE.size + headers], data)

    def _cut(self) -> Iterator[Frame]:
        while not self._lost and len(self._held) >= _PRELUDE.size:
            try:
                length = _length(self._held)
            except ValueError:
                self._lost = True
                return
            if len(self._held) < length:
                return
            raw = bytes(self._held[:length])
            del self._held[:length]
            yield Frame(raw, _value(raw))


def is_event_stream(body: bytes) -> bool:
    """Return whether a body begins with the prelude of a frame."""
    if len(body) < _LEAST:
        return False
    try:
        return _length(body) > 0
    except ValueError:
        return False


def events(stream: bytes) -> Iterator[Event]:
    """Yield the events of a complete stream.

    Raises `ValueError` for wrong checksums and lengths, and what was cut off.
    """
    at = 0
    while at < len(stream):
        if len(stream) - at < _PRELUDE.size:
            raise ValueError("the event stream ends in the middle of a frame: it was cut off")
        length = _length(stream[at : at + _PRELUDE.size])
        if len(stream) - at < length:
            raise ValueError("the event stream ends in the middle of a frame: it was cut off")
        yield _event(stream[at : at + length])
        at += length


def event(kind: str, payload: JsonValue) -> bytes:
    """Return a frame with a JSON payload."""
    return _framed(
        {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, payload
    )


def exception(kind: str, message: str) -> bytes:
    """Return a frame that ends a stream with an error."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return _framed(headers, {"message": message})


def _framed(headers: Mapping[str, str], payload: JsonValue) -> bytes:
    return _packed(b"".join(_header(*found) for found in headers.items()), write_json(payload))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack("!B", len(key)) + key + struct.pack("!BH", _STRING, len(text)) + text


def _packed(headers: bytes, payload: bytes) -> bytes:
    lengths = struct.pack("!II", _LEAST + len(headers) + len(payload), len(headers))
    whole = lengths + _CRC.pack(crc32(lengths)) + headers + payload
    return whole + _CRC.pack(crc32(whole))


def _length(data: bytes | bytearray) -> int:
    """Return the length of the frame at the start of the data. Raise `ValueError` for an impossible length."""
    length, headers, crc = _PRELUDE.unpack_from(data)
    if crc != crc32(data[:8]):
        raise ValueError("a frame of the event stream begins with a wrong checksum")
    if headers > MAX_HEADERS or not 0 <= length - headers - _LEAST <= MAX_PAYLOAD:
        raise ValueError(f"a frame of the event stream cannot have {length} bytes, {headers} of them headers")
    return int(length)


def _event(raw: bytes) -> Event:
    if _CRC.unpack(raw[-4:])[0] != crc32(raw[:-4]):
        raise ValueError("a frame of the event stream has a wrong checksum")
    _, headers, _ = _PRELUDE.unpack_from(raw)
    end = _PRELUDE.size + headers
    return Event(dict(_headers(raw[_PRELUDE.size : end])), raw[end:-4])


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the headers that are strings."""
    at = 0
    try:
        while at < len(data):
            name_end = at + 1 + data[at]
            name, kind = data[at + 1 : name_end].decode("utf-8"), data[name_end]
            start, size = name_end + 1, _SIZES.get(kind, -1)
            if size < 0:
                size, start = struct.unpack_from("!H", data, start)[0], start + 2
            if kind == _STRING:
                yield name, data[start : start + size].decode("utf-8")
            at = start + size
    except (IndexError, struct.error, UnicodeDecodeError):
        raise ValueError("the headers of a frame of the event stream cannot be read") from None


def _value(raw: bytes) -> Any:
    try:
        return read_json(_event(raw).payload)
    except ValueError:
        return None
