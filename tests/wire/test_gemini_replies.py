"""Replies of Gemini, plain and streamed: read, renamed, refused, encoded, and read by the SDK."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage
from agentmut.wire.dialects.gemini.gemini_stream import ArrayFraming
from tests.loopback import ANY_PATH, served
from tests.wire.gemini_bodies import (
    ARRAY,
    CHUNKS,
    CODEC,
    GOOGLE_SCHEMA,
    PARTS,
    PLAIN,
    REQUEST,
    SCHEMA,
    body,
    chunk,
    renamed,
    result,
)

SSE = b"".join(b"data: %b\r\n\r\n" % body(found) for found in CHUNKS)


@pytest.mark.parametrize("reply", [body(PLAIN), SSE, ARRAY], ids=["plain", "events", "array"])
def test_a_reply_is_read_plain_and_streamed(reply: bytes) -> None:
    found = CODEC.decode_reply(reply)
    assert (found.text, found.model, found.finish_reason) == (
        "One moment, please.",
        "gemini-x-001",
        "tool_calls",
    )
    assert found.usage == Usage(input_tokens=8, output_tokens=7)
    assert found.tool_calls == CODEC.decode_reply(body(PLAIN)).tool_calls
    assert len({c.id for c in found.tool_calls}) == 2
    history = CODEC.continued(REQUEST, reply, {found.tool_calls[1].id: "rain"})["contents"]
    thought, *_ = history[3]["parts"]
    assert thought == PARTS[0]
    assert history[-1] == {"role": "user", "parts": [result(result="rain")]}


def test_a_blocked_prompt_is_an_empty_filtered_reply() -> None:
    reply = CODEC.decode_reply(body({"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}))
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


@pytest.mark.parametrize("size", [1, 7, 1000000])
@pytest.mark.parametrize("stream", [SSE, ARRAY], ids=["events", "array"])
def test_names_are_mapped_back_in_a_stream_however_it_is_cut(stream: bytes, size: int) -> None:
    framing = CODEC.framing()
    frames = [f for i in range(0, len(stream), size) for f in framing.feed(stream[i : i + size])]
    assert b"".join(frame.raw for frame in frames) + framing.rest() == stream
    written = [framing.written(f, CODEC.reply_with_tool_names(f.value, renamed)) for f in frames]
    changed = b"".join(written) + framing.rest()
    assert {c.name for c in CODEC.decode_reply(changed).tool_calls} == {"look_up"}
    assert sum(frame.raw != new for frame, new in zip(frames, written, strict=True)) == 1


def test_braces_in_strings_do_not_end_an_object() -> None:
    stream = body([chunk({"text": 'a } \\" { b\\'}), chunk({"text": "}"}, finishReason="STOP")])
    framing = CODEC.framing()
    frames = [frame for byte in stream for frame in framing.feed(bytes([byte]))]
    assert [frame.value["candidates"][0]["content"]["parts"][0]["text"] for frame in frames] == [
        'a } \\" { b\\',
        "}",
    ]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b"".join(SSE.splitlines(keepends=True)[:4]), "cut off"),
        (body([{"error": {"code": 503, "message": "busy"}}]), "busy"),
        (CODEC.encode_error(429, "slow down", "x"), "RESOURCE_EXHAUSTED"),
        (b"{}", "candidates"),
        (ARRAY[:-3], "not JSON"),
    ],
)
def test_what_is_no_reply_is_refused(reply: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CODEC.decode_reply(reply)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
objects = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=5), max_size=3)
arguments = objects.map(lambda value: json.dumps(value, separators=(",", ":"))) | st.sampled_from(
    ['{"ci', "[1]"]
)


def call_lists(length: int) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    return st.lists(
        st.builds(ToolCall, id=texts, name=texts, arguments=arguments),
        max_size=length,
        unique_by=lambda call: call.id,
    ).map(tuple)


replies = st.builds(
    lambda calls, **fields: ModelReply(
        tool_calls=calls, finish_reason="tool_calls" if calls else "length", **fields
    ),
    calls=call_lists(3),
    model=st.just("m"),
    text=st.just("") | texts,
    usage=st.builds(Usage, input_tokens=st.integers(0, 9), output_tokens=st.integers(0, 9)),
)


@st.composite
def requests(draw: st.DrawFn) -> ModelRequest:
    calls = draw(call_lists(3))
    system = draw(st.lists(texts, max_size=2))
    return ModelRequest(
        model=draw(texts),
        messages=(
            *(Message(role=Role.SYSTEM, text=text) for text in system),
            Message(role=Role.USER, text=draw(texts)),
            Message(role=Role.ASSISTANT, text=draw(texts | st.just("")), tool_calls=calls),
            *(Message(role=Role.TOOL, text=draw(texts), tool_call_id=call.id) for call in calls),
        ),
        tools=draw(st.just((ToolSpec(name="f", description="d", parameters=SCHEMA),)) | st.just(())),
        temperature=draw(st.none() | st.floats(0, 1)),
        max_tokens=draw(st.none() | st.integers(1, 9)),
        seed=draw(st.none() | st.integers(0, 9)),
        stop=tuple(draw(st.lists(texts, max_size=2))),
        reasoning_effort=draw(st.sampled_from([None, "none", "minimal", "high"])),
        tool_choice=draw(
            st.sampled_from(
                [None, "auto", "none", "required", {"type": "function", "function": {"name": "f"}}]
            )
        ),
        response_format=draw(
            st.sampled_from(
                [None, {"type": "json_object"}, {"type": "json_schema", "json_schema": {"schema": SCHEMA}}]
            )
        ),
        stream=draw(st.booleans()),
    )


@settings(max_examples=40, deadline=None)
@given(replies, st.booleans())
def test_what_is_encoded_decodes_to_the_same_reply(reply: ModelReply, stream: bool) -> None:
    assert CODEC.decode_reply(CODEC.encode_reply(reply, reply_id="r", stream=stream)) == reply


@settings(max_examples=40, deadline=None)
@given(requests())
def test_what_is_encoded_decodes_to_the_same_request(request: ModelRequest) -> None:
    assert CODEC.decode_request(CODEC.encode_request(request)) == request


REPLY = ModelReply(
    model="gemini-x",
    text="One moment.",
    tool_calls=(ToolCall(id="a", name="get_weather", arguments='{"city":"Bern"}'),),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=7, output_tokens=5),
)


@pytest.fixture(scope="module")
def asked() -> list[ModelRequest]:
    return []


@pytest.fixture(scope="module")
def base_url(loop_thread: Any, asked: list[ModelRequest]) -> Iterator[str]:
    async def answer(http: web.Request) -> web.Response:
        request = CODEC.decode_request(HttpCall(http.path_qs, await http.read()))
        asked.append(request)
        encoded = CODEC.encode_reply(REPLY, reply_id="r", stream=request.stream)
        return web.Response(body=encoded, content_type=CODEC.content_type(stream=request.stream))

    with served(loop_thread, {ANY_PATH: answer}) as address:
        yield address


def test_the_sdk_reads_plain_and_streamed_replies(base_url: str, asked: list[ModelRequest]) -> None:
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="k", http_options={"base_url": base_url})
    config = {
        "system_instruction": "Be kind.",
        "tools": [{"function_declarations": [{"name": "get_weather", "parameters": GOOGLE_SCHEMA}]}],
        "tool_config": {"function_calling_config": {"mode": "ANY"}},
        "automatic_function_calling": {"disable": True},
        "temperature": 0.5,
        "thinking_config": {"thinking_level": "low"},
    }
    wanted = {"model": "gemini-x", "contents": "Weather?", "config": config}
    plain = client.models.generate_content(**wanted)
    chunks = list(client.models.generate_content_stream(**wanted))
    assert plain.candidates[0].content.parts[0].text == "One moment."
    assert (
        "".join(part.text for c in chunks for part in c.candidates[0].content.parts if part.text)
        == REPLY.text
    )
    calls = [call for c in chunks for call in c.function_calls or ()]
    for found in (plain.function_calls[0], calls[0]):
        assert (found.id, found.name, found.args) == ("a", "get_weather", {"city": "Bern"})
    assert chunks[-1].usage_metadata.total_token_count == 12
    assert [request.stream for request in asked] == [False, True]
    for request in asked:
        assert (request.system_text, request.tool_choice) == ("Be kind.", "required")
        assert (request.tools[0].parameters, request.reasoning_effort) == (SCHEMA, "low")


def test_a_growing_array_with_long_quotations_is_cut_in_linear_time() -> None:
    chunk = json.dumps({"candidates": [{"content": {"parts": [{"text": 'say "{" \\ ' * 40_000}]}}]}).encode()
    stream = b"[" + chunk + b",\r\n" + chunk + b"]"
    framing, frames = ArrayFraming(), []
    began = time.process_time()
    for start in range(0, len(stream), 1000):
        frames += framing.feed(stream[start : start + 1000])
    assert time.process_time() - began < 5
    assert b"".join([*(frame.raw for frame in frames), framing.rest()]) == stream
    assert [frame.value for frame in frames] == [json.loads(chunk)] * 2
