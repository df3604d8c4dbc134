"""Streams of InvokeModel: each frame holds one event of the model's own dialect, in base64."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

from agentmut.nouns import Frame
from agentmut.wire.bodies import mapping, read_json, write_json
from agentmut.wire.dialects import aws_event_stream
from agentmut.wire.dialects.aws_event_stream import EventStreamFraming

KIND = "chunk"


class ChunkFraming:
    """Cuts a stream into its frames; the value of a frame is the model's event, for Nova without its kind."""

    def __init__(self) -> None:
        self._frames = EventStreamFraming()

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that are complete now."""
        return [
            Frame(frame.raw, _kind_and_value(inner(frame.value))[1]) for frame in self._frames.feed(piece)
        ]

    def rest(self) -> bytes:
        """Return the bytes after the last complete frame."""
        return self._frames.rest()

    def written(self, frame: Frame, value: Any) -> bytes:
        """Return the frame with another event; headers and padding stay."""
        if value == frame.value:
            return frame.raw
        (outer,) = EventStreamFraming().feed(frame.raw)
        kind, _ = _kind_and_value(inner(outer.value))
        event = {kind: value} if kind else value
        return self._frames.written(outer, {**outer.value, "bytes": _packed(event)})


def inner(value: Any) -> Any:
    """Return the event in a frame's payload; None if there is none."""
    packed = value.get("bytes") if isinstance(value, dict) else None
    if not isinstance(packed, str):
        return None
    try:
        return read_json(base64.b64decode(packed, validate=True))
    except (ValueError, binascii.Error):
        return None


def _kind_and_value(event: Any) -> tuple[str, Any]:
    """Return the kind and the content of an event; only Nova's events have a kind, their only key."""
    if isinstance(event, dict) and len(event) == 1:
        ((kind, value),) = event.items()
        if isinstance(value, dict):
            return kind, value
    return "", event


def read(stream: bytes) -> list[Any]:
    """Return the model's events of a complete stream. Raises `ValueError` for errors and what was cut off."""
    found = []
    for event in aws_event_stream.events(stream):
        if event.is_error:
            raise ValueError(
                f"the service ended its stream with an error: {event.kind}: {event.payload!r:.200}"
            )
        value = inner(mapping(read_json(event.payload), event.kind))
        if value is None:
            raise ValueError(f"{event.kind}: expected bytes that hold JSON")
        found.append(value)
    return found


def write(values: Iterable[Any]) -> bytes:
    """Return a whole stream of the model's events."""
    return b"".join(aws_event_stream.event(KIND, {"bytes": _packed(value)}) for value in values)


def _packed(value: Any) -> str:
    return base64.b64encode(write_json(value)).decode("ascii")
