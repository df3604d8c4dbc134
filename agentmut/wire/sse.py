"""Server-sent events, as model services use them: `data:` lines, one JSON value an event."""

from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from agentmut.wire.bodies import read_json, write_json

DONE = "[DONE]"


def is_event_stream(body: bytes) -> bool:
    """Whether a body reads as an event stream rather than as one JSON value.

    >>> is_event_stream(b'data: {}'), is_event_stream(b'{"data": 1}')
    (True, False)
    """
    return body.lstrip().startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def events(body: bytes) -> Iterator[str]:
    """The data of each event, several `data:` lines of one event joined as the standard says."""
    text = body.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if lines:
            yield "\n".join(lines)


def json_events(body: bytes) -> Iterator[JsonValue]:
    """The JSON values of a stream up to its `[DONE]` mark."""
    for data in events(body):
        if data.strip() == DONE:
            return
        yield read_json(data)


def write_events(values: Iterable[JsonValue]) -> bytes:
    """A whole stream, ended by `[DONE]`."""
    blocks = [b"data: " + write_json(value) for value in values]
    return b"\n\n".join([*blocks, b"data: " + DONE.encode(), b""])
