"""A stream of JSON values that is cut into frames, one value a frame."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from agentmut.nouns import Frame
from agentmut.wire import bodies


class JsonFraming(ABC):
    """Holds a stream until a value is complete. A subclass says where a value ends, and what stands around it."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._at = 0
        """Up to where the held bytes have been searched: no byte is looked at twice."""

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        self._held += piece
        return [Frame(raw, self._value(raw)) for raw in self._cut()]

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        return bytes(self._held)

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another JSON value; what stands around the value stays."""
        data = bodies.write_json(value)
        if data == bodies.write_json(frame.value):
            return frame.raw
        before, after = self._around(frame.raw)
        return before + data + after

    def _value(self, raw: bytes) -> Any:
        """Return the value of a frame; None where it is no JSON."""
        before, after = self._around(raw)
        try:
            return bodies.read_json(raw[len(before) : len(raw) - len(after)])
        except ValueError:
            return None

    @abstractmethod
    def _cut(self) -> Iterator[bytes]:
        """Yield the complete frames, and take each out of the held bytes."""

    @abstractmethod
    def _around(self, raw: bytes) -> tuple[bytes, bytes]:
        """Return the bytes of a frame before its value and after it."""
