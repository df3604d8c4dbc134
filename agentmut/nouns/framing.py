"""Streams cut into frames as they arrive, so that events can be rewritten without holding the stream up."""

from typing import Any, NamedTuple, Protocol


class Frame(NamedTuple):
    """One event of a stream. `raw` is every byte of it, so that the frames' bytes joined are the stream."""

    raw: bytes
    value: Any = None
    """The JSON value of its data; None where it has none that can be read (comments, the end mark)."""


class Framing(Protocol):
    """Reads one stream, piece by piece, however it is cut."""

    def feed(self, piece: bytes) -> list[Frame]:
        """The frames that are complete now."""
        ...

    def rest(self) -> bytes:
        """What has come since the last complete frame."""
        ...

    def written(self, frame: Frame, value: Any) -> bytes:
        """The frame with another JSON value; everything else of it (event name, id, headers) stays."""
        ...
