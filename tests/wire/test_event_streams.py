"""Event streams cut into frames, however their bytes arrive."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.codec import Frame
from agentmut.wire.dialects.sse import SseFraming, events, is_event_stream

STREAM = (
    b"\xef\xbb\xbf: hello\n\n"
    b'event: start\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    b'data:{"b": 2}\r\rretry: 10\n\n\n'
    b"data: \xff\n\ndata: [DONE]\n\ndata: {"
)
VALUES = [None, {"a": 1}, {"b": 2}, None, None, None, None]


def frames_of(pieces: list[bytes]) -> tuple[list[Frame], bytes]:
    framing = SseFraming()
    return [frame for piece in pieces for frame in framing.feed(piece)], framing.rest()


def cut_at(stream: bytes, places: list[int]) -> list[bytes]:
    ends = [0, *sorted(places), len(stream)]
    return [stream[start:end] for start, end in pairwise(ends)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_frames_are_the_same_wherever_the_stream_is_cut(places: list[int]) -> None:
    frames, rest = frames_of(cut_at(STREAM, places))
    assert b"".join(frame.raw for frame in frames) + rest == STREAM
    assert [frame.value for frame in frames] == VALUES
    assert rest == b"data: {"


def test_frames_are_the_same_byte_by_byte() -> None:
    frames, rest = frames_of([STREAM[at : at + 1] for at in range(len(STREAM))])
    assert b"".join(frame.raw for frame in frames) + rest == STREAM
    assert [frame.value for frame in frames] == VALUES


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_frame_is_given_as_soon_as_its_blank_line_begins(end: bytes) -> None:
    framing = SseFraming()
    assert framing.feed(b"data: 1" + end) == []
    assert [frame.value for frame in framing.feed(end[:1])] == [1]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60) | st.text("dat: \r\n{}1", max_size=40).map(str.encode), st.integers(1, 5))
def test_any_bytes_are_cut_without_loss(stream: bytes, size: int) -> None:
    frames, rest = frames_of([stream[at : at + size] for at in range(0, len(stream), size)])
    whole, _ = frames_of([stream])
    assert b"".join(frame.raw for frame in frames) + rest == stream
    assert [frame.value for frame in frames] == [frame.value for frame in whole]


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (b'data: {"a": 1}\n\n', b'data: {"a":2}\n\n'),
        (b'data:{"a": 1}\n\n', b'data:{"a":2}\n\n'),
        (
            b': c\r\nevent: x\r\ndata: {\r\ndata: "a": 1}\r\nid: 3\r\n\r\n',
            b': c\r\nevent: x\r\ndata: {"a":2}\r\nid: 3\r\n\r\n',
        ),
        (b'\xef\xbb\xbfdata: {"a": 1}\r\r', b'\xef\xbb\xbfdata: {"a":2}\r\r'),
    ],
)
def test_a_rewritten_frame_keeps_its_other_lines(raw: bytes, written: bytes) -> None:
    framing = SseFraming()
    (frame,) = framing.feed(raw)
    assert framing.written(frame, {"a": 2}) == written
    assert framing.written(frame, {"a": 1}) == raw, "an unchanged frame keeps its bytes"
    assert framing.written(frame, {"a": True}) != raw, "true is not 1"


def test_a_long_frame_byte_by_byte_takes_no_longer_than_its_length() -> None:
    def seconds(length: int) -> float:
        stream = b'data: "' + b"x" * length + b'"\n\n'
        framing, began = SseFraming(), time.process_time()
        found = [frame for at in range(len(stream)) for frame in framing.feed(stream[at : at + 1])]
        assert [len(frame.value) for frame in found] == [length]
        return time.process_time() - began

    small, large = seconds(40_000), seconds(400_000)
    assert large < 40 * small + 0.5, f"{small} s, ten times as much in {large} s"


def test_many_frames_in_one_piece_are_cut_in_time() -> None:
    stream = b"data: 1\n\n" * 100_000
    assert sum(1 for _ in events(stream)) == 100_000


def test_an_event_stream_is_told_from_json_also_behind_a_byte_order_mark() -> None:
    assert is_event_stream(b"\xef\xbb\xbf\ndata: {}")
    assert not is_event_stream(b'\xef\xbb\xbf{"data": 1}')
