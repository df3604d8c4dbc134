"""Bodies that no service would send: a codec reads them or raises `ValueError`, and changes nothing unasked."""

import copy
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentmut.conformance.codecs.codec_samples import CALL, REPLIES, WITH_TOOLS
from agentmut.nouns.codec import Body, Codec, HttpCall, Path
from agentmut.nouns.messages import ModelRequest
from agentmut.wire.bodies import write_json
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.places import all_places, with_values

EVERY_CODEC = pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
ANYTHING = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
REPLY = REPLIES["a reply that calls"]
PATIENCE = 8.0
"""Processor seconds for work that takes a fraction of one: what grows with the square of a size takes minutes."""

any_text = st.text(st.characters(exclude_categories=()), max_size=8)  # half characters too
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
seldom = st.sampled_from([0, 0, 1, 2, 3])


def call_of(codec: Codec, request: ModelRequest = WITH_TOOLS) -> tuple[HttpCall, Body]:
    call = codec.encode_request(request)
    return call, json.loads(call.body)


def reply_of(codec: Codec, *, stream: bool) -> bytes:
    return codec.encode_reply(REPLY, reply_id="r-1", stream=stream)


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """The value with anything at all in a few of its places, their keys kept."""
    for _ in range(draw(st.integers(1, 3))):
        places = list(all_places(value))
        if places:
            value = with_values(value, {draw(st.sampled_from(places)): draw(any_json)})
    return value


@st.composite
def damaged_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with a few of them cut out, doubled or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.sampled_from([0, 0, 1, 2, 40]))
        data = data[:start] + draw(st.binary(max_size=4) | st.just(data[start:end] * 2)) + data[end:]
    return data


def attempts(codec: Codec, call: HttpCall, body: Body, reply: bytes) -> Iterator[Callable[[], Any]]:
    """Everything that a carrier may do with a request."""
    yield lambda: codec.decode_request(HttpCall(call.path, write_json(body)))
    yield lambda: codec.with_texts(body, {text.path: "other" for text in codec.texts(body)})
    yield lambda: codec.with_texts(body, {text.path: "" for text in codec.texts(body)})
    yield lambda: codec.with_tools(body, codec.tools(body)[:1])
    yield lambda: codec.with_tools(body, [])
    yield lambda: codec.with_tool_names(body, lambda name: f"other_{name}")
    yield lambda: codec.roles(body)
    yield lambda: codec.continued(body, reply, {CALL.id: "x"})
    for name, value in {"temperature": 0.5, "max_tokens": 9, "stop": ("x",), "tool_choice": "auto"}.items():
        yield partial(codec.with_setting, call, body, name, value)
        yield partial(codec.with_setting, call, body, name, None)


def survives(codec: Codec, call: HttpCall, body: Body) -> None:
    """Nothing but `ValueError`, no change of what is given, and none where none was asked for."""
    before = repr(body)
    for attempt in attempts(codec, call, body, reply_of(codec, stream=False)):
        with suppress(ValueError):
            attempt()
    assert repr(body) == before
    as_it_was: tuple[Callable[[], Any], ...] = (
        lambda: codec.with_texts(body, {}),
        lambda: codec.with_texts(body, {text.path: text.text for text in codec.texts(body)}),
        lambda: codec.with_tool_names(body, str),
        lambda: codec.with_tools(body, codec.tools(body)),
    )
    for unchanged in as_it_was:
        with suppress(ValueError):
            assert repr(unchanged()) == before


@EVERY_CODEC
@ANYTHING
@given(st.data())
def test_any_body_is_read_or_refused(codec: Codec, data: st.DataObject) -> None:
    call, body = call_of(codec)
    survives(
        codec, call, data.draw(st.dictionaries(st.sampled_from([*body]) | any_text, any_json, max_size=4))
    )


@EVERY_CODEC
@ANYTHING
@given(st.data())
def test_a_body_with_anything_in_its_places_is_read_or_refused(codec: Codec, data: st.DataObject) -> None:
    call, body = call_of(codec)
    survives(codec, call, data.draw(damaged(body)))


@EVERY_CODEC
@ANYTHING
@given(st.data())
def test_a_reply_with_anything_in_its_places_is_read_or_refused(codec: Codec, data: st.DataObject) -> None:
    _, body = call_of(codec)
    value = data.draw(any_json | damaged(json.loads(reply_of(codec, stream=False))))
    before = repr(value)
    with suppress(ValueError):
        codec.decode_reply(write_json(value))
    with suppress(ValueError):
        codec.continued(body, write_json(value), {CALL.id: "x"})
    with suppress(ValueError):
        assert repr(codec.reply_with_tool_names(value, str)) == before
        codec.reply_with_tool_names(value, str.upper)
    assert repr(value) == before


@EVERY_CODEC
@ANYTHING
@given(st.data(), st.integers(1, 50))
def test_a_broken_stream_passes_its_frames_and_is_read_or_refused(
    codec: Codec, data: st.DataObject, size: int
) -> None:
    stream = data.draw(damaged_bytes(reply_of(codec, stream=True)))
    framing = codec.framing()
    frames = [f for at in range(0, len(stream), size) for f in framing.feed(stream[at : at + size])]
    assert b"".join(frame.raw for frame in frames) + framing.rest() == stream
    for frame in frames:
        if frame.value is not None:
            before = copy.deepcopy(frame.value)
            codec.reply_with_tool_names(frame.value, str.upper)
            assert frame.value == before
            assert framing.written(frame, frame.value) == frame.raw
    with suppress(ValueError):
        codec.decode_reply(stream)


@EVERY_CODEC
@ANYTHING
@given(st.data())
def test_any_stream_of_values_is_read_or_refused(codec: Codec, data: st.DataObject) -> None:
    stream = reply_of(codec, stream=True)
    framing, rewritten = codec.framing(), b""
    for frame in framing.feed(stream):
        spoilt = frame.value is not None and data.draw(seldom) == 3
        value = data.draw(damaged(frame.value) | any_json) if spoilt else frame.value
        rewritten += framing.written(frame, value) if value is not None else frame.raw
        with suppress(ValueError):
            codec.reply_with_tool_names(value, str.upper)
    with suppress(ValueError):
        codec.decode_reply(rewritten + framing.rest())


@EVERY_CODEC
@ANYTHING
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(codec: Codec, data: bytes) -> None:
    call, body = call_of(codec)
    for attempt in (
        lambda: codec.decode_request(HttpCall(call.path, data)),
        lambda: codec.decode_reply(data),
        lambda: codec.continued(body, data, {}),
    ):
        with suppress(ValueError):
            attempt()


def shallow(body: Any) -> list[Path]:
    return [place for place in all_places(body) if len(place) < 4][::2]


@EVERY_CODEC
@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_deep_nesting_passes_or_is_refused_wherever_it_stands(codec: Codec, depth: int) -> None:
    call, body = call_of(codec)
    deep = "[" * depth + "]" * depth
    plain = json.loads(reply_of(codec, stream=False))
    for place in shallow(body):
        text = json.dumps(with_values(body, {place: "@"})).replace('"@"', deep)
        with suppress(ValueError):
            codec.decode_request(HttpCall(call.path, text.encode()))
        if depth == 100:
            survives(codec, call, json.loads(text))
    for place in shallow(plain):
        text = json.dumps(with_values(plain, {place: "@"})).replace('"@"', deep)
        with suppress(ValueError):
            codec.decode_reply(text.encode())
        with suppress(ValueError):
            codec.decode_reply(b"data: " + text.encode() + b"\n\n")


@EVERY_CODEC
def test_half_characters_and_other_odd_text_survive(codec: Codec) -> None:
    odd = "\ud83d half \udfff \x00 \u2028 \x85 \r\n data: {} \ufeff \U0010ffff"
    call, body = call_of(codec)
    texts = {text.path: odd for text in codec.texts(body)}
    changed = write_json(codec.with_texts(body, texts))
    assert [text.text for text in codec.texts(json.loads(changed))] == [odd] * len(texts)
    assert odd in codec.decode_request(HttpCall(call.path, changed)).system_text
    said = REPLY.model_copy(update={"text": odd})
    for stream in (False, True):
        written = codec.encode_reply(said, reply_id="r-1", stream=stream)
        assert codec.decode_reply(written).text == odd


@EVERY_CODEC
def test_megabytes_take_no_longer_than_their_length(codec: Codec) -> None:
    call, body = call_of(codec)
    began = time.process_time()
    huge = "All_work_and_no_play. " * 50_000
    survives(codec, call, codec.with_texts(body, {codec.texts(body)[0].path: huge}))
    reply = REPLY.model_copy(update={"text": huge[:40_000] + "x" * 1_000_000})
    stream = codec.encode_reply(reply, reply_id="r-1", stream=True)
    assert codec.decode_reply(stream).text == reply.text
    framing = codec.framing()
    frames = [frame for at in range(0, len(stream), 4096) for frame in framing.feed(stream[at : at + 4096])]
    assert b"".join(frame.raw for frame in frames) + framing.rest() == stream
    assert time.process_time() - began < PATIENCE


@EVERY_CODEC
def test_a_long_conversation_with_many_tools_is_rewritten_in_time(codec: Codec) -> None:
    tools = tuple(WITH_TOOLS.tools[0].model_copy(update={"name": f"tool_{number}"}) for number in range(200))
    long = WITH_TOOLS.model_copy(update={"messages": WITH_TOOLS.messages * 100, "tools": tools})
    call, body = call_of(codec, long)
    began = time.process_time()
    codec.decode_request(call)
    codec.with_texts(body, {text.path: "" for text in codec.texts(body)})
    codec.with_tool_names(body, lambda name: f"other_{name}")
    codec.with_tools(body, codec.tools(body)[::2])
    assert time.process_time() - began < PATIENCE
