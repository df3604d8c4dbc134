"""Replies of Bedrock Converse, plain and streamed: read, renamed, refused, encoded, and read by boto3."""

import json
import struct
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage
from agentmut.wire.dialects import aws_event_stream
from tests.loopback import served
from tests.wire.converse_bodies import (
    CODEC,
    NAMED,
    REQUEST,
    SCHEMA,
    THOUGHT,
    WEATHER,
    arguments,
    body,
    frame,
    renamed,
    stop,
    use,
)

PLAIN = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"text": "One moment, please."},
                use("a", "get_weather", city="Bern"),
                use("b", "now"),
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {
        "inputTokens": 7,
        "outputTokens": 5,
        "totalTokens": 22,
        "cacheReadInputTokens": 6,
        "cacheWriteInputTokens": 4,
    },
    "metrics": {"latencyMs": 1},
}
REPLY = ModelReply(
    model="",
    text="One moment, please.",
    tool_calls=(
        ToolCall(id="a", name="get_weather", arguments='{"city":"Bern"}'),
        ToolCall(id="b", name="now", arguments="{}"),
    ),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=17, output_tokens=5, cached_tokens=6, cache_written_tokens=4),
)


def delta(index: int, **fields: Any) -> bytes:
    return frame("contentBlockDelta", {"delta": fields, "contentBlockIndex": index, "p": "abc"})


def start(index: int, call_id: str, name: str) -> bytes:
    block = {"toolUse": {"toolUseId": call_id, "name": name}}
    return frame("contentBlockStart", {"start": block, "contentBlockIndex": index})


FRAMES = [
    frame("messageStart", {"role": "assistant", "p": "ab"}),
    delta(0, reasoningContent={"text": "H"}),
    delta(0, reasoningContent={"text": "m."}),
    delta(0, reasoningContent={"signature": "c2ln"}),
    stop(0),
    delta(1, text="One mom"),
    delta(1, text="ent, please."),
    stop(1),
    start(2, "a", "get_weather"),
    delta(2, toolUse={"input": '{"city": '}),
    delta(2, toolUse={"input": '"Bern"}'}),
    stop(2),
    start(3, "b", "now"),
    delta(3, toolUse={"input": ""}),
    stop(3),
    frame("messageStop", {"stopReason": "tool_use"}),
    frame("metadata", {"usage": PLAIN["usage"], "metrics": {"latencyMs": 1}}),
]
STREAM = b"".join(FRAMES)


@pytest.mark.parametrize("reply", [body(PLAIN), STREAM], ids=["plain", "stream"])
def test_a_reply_is_read_and_the_conversation_goes_on(reply: bytes) -> None:
    assert CODEC.decode_reply(reply) == REPLY
    said, answers = CODEC.continued(REQUEST, reply, {"b": "noon"})["messages"][-2:]
    assert said == PLAIN["output"]["message"]  # type: ignore[index]
    assert answers["content"] == [{"toolResult": {"toolUseId": "b", "content": [{"text": "noon"}]}}]


def test_cited_text_is_text_in_a_stream_too() -> None:
    citation = {"title": "A page", "location": {"web": {"url": "https://x"}}}
    stream = delta(0, text="It ") + delta(0, citation=citation) + delta(0, text="rains.")
    reply = stream + frame("messageStop", {"stopReason": "end_turn"})
    assert CODEC.decode_reply(reply).text == "It rains."
    block = CODEC.continued(REQUEST, reply, {})["messages"][-1]["content"][0]
    assert block == {"citationsContent": {"content": [{"text": "It rains."}], "citations": [citation]}}


@pytest.mark.parametrize("size", [1, 11, 1000000])
def test_names_are_mapped_back_in_a_stream_however_it_is_cut(size: int) -> None:
    framing = CODEC.framing()
    frames = [f for i in range(0, len(STREAM), size) for f in framing.feed(STREAM[i : i + size])]
    assert [found.raw for found in frames] == FRAMES
    assert framing.rest() == b""
    written = [framing.written(f, CODEC.reply_with_tool_names(f.value, renamed)) for f in frames]
    assert [i for i, (new, old) in enumerate(zip(written, FRAMES, strict=True)) if new != old] == [8]
    assert CODEC.decode_reply(b"".join(written)).tool_calls[0].name == "look_up"
    before, after = (next(aws_event_stream.events(found)) for found in (FRAMES[8], written[8]))
    assert before.headers == after.headers


def test_a_plain_reply_has_its_names_mapped_back() -> None:
    changed = CODEC.reply_with_tool_names(PLAIN, renamed)
    assert json.dumps(changed) == json.dumps(PLAIN).replace("get_weather", "look_up")


def damaged(at: int) -> bytes:
    return STREAM[:at] + bytes([STREAM[at] ^ 1]) + STREAM[at + 1 :]


ABSURD = struct.pack(">II", 2**31, 20)


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (b"".join(FRAMES[:-2]), "cut off"),
        (STREAM[:-3], "cut off"),
        (damaged(len(FRAMES[0]) - 1), "wrong checksum"),
        (damaged(len(FRAMES[0])), "wrong checksum"),
        (FRAMES[0] + ABSURD + struct.pack(">I", crc32(ABSURD)), "cannot have"),
        (frame("throttlingException", {"message": "slow down"}, "exception"), "slow down"),
        (b'{"message": "busy"}', "busy"),
        (b"", "not JSON"),
    ],
)
def test_what_is_no_reply_is_refused(stream: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CODEC.decode_reply(stream)


@pytest.mark.parametrize("at", [0, 5, 9, 20, len(FRAMES[0]) - 1, len(FRAMES[0]) + 2])
def test_a_damaged_stream_is_passed_on_byte_for_byte(at: int) -> None:
    stream = damaged(at)
    framing = CODEC.framing()
    frames = [f for i in range(0, len(stream), 50) for f in framing.feed(stream[i : i + 50])]
    assert b"".join(found.raw for found in frames) + framing.rest() == stream
    assert any(found.value is None for found in frames)
    assert len(framing.rest()) < 50


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_stream_or_a_value_error(data: bytes) -> None:
    framing = CODEC.framing()
    assert b"".join(found.raw for found in framing.feed(data)) + framing.rest() == data
    for reply in (data, FRAMES[0] + data):
        with pytest.raises(ValueError, match=r"\w"):
            CODEC.decode_reply(reply)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=arguments)
replies = st.builds(
    ModelReply,
    model=st.just(""),
    text=st.just("") | texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["stop", "tool_calls", "length", "content_filter"]),
    usage=st.builds(Usage, input_tokens=st.integers(0, 9), output_tokens=st.integers(0, 9)),
)
said_by_all = (
    st.builds(Message, role=st.just(Role.USER), text=texts)
    | st.builds(Message, role=st.just(Role.TOOL), text=texts, tool_call_id=texts)
    | st.builds(Message, role=st.just(Role.ASSISTANT), text=texts, tool_calls=st.lists(calls).map(tuple))
)
requests = st.builds(
    lambda system, said, **fields: ModelRequest(messages=(*system, *said), **fields),
    system=st.lists(st.builds(Message, role=st.just(Role.SYSTEM), text=texts), max_size=2),
    said=st.lists(said_by_all, max_size=5),
    model=st.sampled_from(["m", "anthropic.x-v1:0", "arn:aws:bedrock:x:1:inference-profile/us.y"]),
    tools=st.just((ToolSpec(name="f", description="d", parameters=SCHEMA),)),
    temperature=st.none() | st.floats(0, 1),
    max_tokens=st.none() | st.integers(1, 9),
    stop=st.lists(texts, max_size=2).map(tuple),
    reasoning_effort=st.sampled_from([None, "low", "max"]),
    tool_choice=st.sampled_from([None, "auto", "required", NAMED]),
    response_format=st.none() | st.just({"type": "json_schema", "json_schema": {"schema": SCHEMA}}),
    stream=st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(replies, st.booleans())
def test_what_is_encoded_decodes_to_the_same_reply(reply: ModelReply, stream: bool) -> None:
    assert CODEC.decode_reply(CODEC.encode_reply(reply, reply_id="r", stream=stream)) == reply


@settings(max_examples=40, deadline=None)
@given(requests)
def test_what_is_encoded_decodes_to_the_same_request(request: ModelRequest) -> None:
    assert CODEC.decode_request(CODEC.encode_request(request)) == request


@pytest.fixture(scope="module")
def bedrock(loop_thread: Any) -> Iterator[Any]:
    boto3 = pytest.importorskip("boto3")
    from botocore.config import Config

    async def answer(http: web.Request) -> web.Response:
        request = CODEC.decode_request(HttpCall(http.raw_path, await http.read()))
        if request.model == "busy":
            error = CODEC.encode_error(429, "slow down", "")
            return web.Response(status=429, body=error, content_type="application/json")
        assert request.messages[-1].text == '{"temperature":3}'
        encoded = CODEC.encode_reply(REPLY, reply_id="r", stream=request.stream)
        return web.Response(body=encoded, content_type=CODEC.content_type(stream=request.stream))

    with served(loop_thread, {"/model/{rest:.*}": answer}) as address:
        yield boto3.client(
            "bedrock-runtime",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="y",
            config=Config(retries={"total_max_attempts": 1}),
        )


ASKED = {
    "modelId": "anthropic.claude-x:0",
    "messages": [
        {"role": "user", "content": [{"text": "Weather?"}]},
        {"role": "assistant", "content": [use("t1", "get_weather", city="Bern")]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"temperature": 3}}]}}],
        },
    ],
    "toolConfig": {"tools": [WEATHER]},
}


def test_boto3_reads_a_plain_reply_and_an_error(bedrock: Any) -> None:
    found = bedrock.converse(**ASKED)
    assert found["stopReason"] == "tool_use"
    assert found["output"]["message"]["content"] == [
        {"text": REPLY.text},
        use("a", "get_weather", city="Bern"),
        use("b", "now"),
    ]
    with pytest.raises(bedrock.exceptions.ThrottlingException, match="slow down"):
        bedrock.converse(**{**ASKED, "modelId": "busy"})


def test_boto3_reads_a_stream(bedrock: Any) -> None:
    events = list(bedrock.converse_stream(**ASKED)["stream"])
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert "".join(found["text"] for found in deltas if "text" in found) == REPLY.text
    written = "".join(found["toolUse"]["input"] for found in deltas if "toolUse" in found)
    assert written == '{"city":"Bern"}{}'
    assert events[-2] == {"messageStop": {"stopReason": "tool_use"}}
    assert events[-1]["metadata"]["usage"]["totalTokens"] == 22
