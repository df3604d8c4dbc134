"""Replies of Anthropic Messages, plain and streamed: read, renamed, refused, encoded, and read by the SDK."""

import json
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
from tests.loopback import served
from tests.wire.anthropic_bodies import CODEC, REQUEST, SCHEMA, THOUGHT, body, renamed

REPLY = ModelReply(
    model="claude-x",
    text="One moment, please.",
    tool_calls=(
        ToolCall(id="a", name="get_weather", arguments='{"city":"Bern"}'),
        ToolCall(id="b", name="now", arguments="{}"),
    ),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=17, output_tokens=5, cached_tokens=6, cache_written_tokens=4),
)
PLAIN = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        THOUGHT,
        {"type": "text", "text": "One moment, please."},
        {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Bern"}},
        {"type": "tool_use", "id": "b", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 7,
        "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 6,
        "output_tokens": 5,
    },
}


def event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> str:
    events = [event("content_block_start", index=index, content_block=start)]
    events += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return "".join([*events, event("content_block_stop", index=index)])


def used(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def words(text: str) -> dict[str, Any]:
    return {"type": "text_delta", "text": text}


def json_piece(text: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


START = {
    **PLAIN,
    "content": [],
    "stop_reason": None,
    "usage": {
        "input_tokens": 7,
        "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 6,
        "output_tokens": 1,
    },
}
STREAM = "".join(
    [
        event("message_start", message=START),
        event("ping"),
        block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "H"},
            {"type": "thinking_delta", "thinking": "m."},
            {"type": "signature_delta", "signature": "c2ln"},
        ),
        block(1, {"type": "text", "text": ""}, words("One mom"), words("ent, please.")),
        block(2, used("a", "get_weather"), json_piece(""), json_piece('{"city": '), json_piece('"Bern"}')),
        block(3, used("b", "now"), json_piece("")),
        event(
            "message_delta",
            delta={"stop_reason": "tool_use", "stop_sequence": None},
            usage={"output_tokens": 5},
        ),
        event("message_stop"),
    ]
)


def test_a_plain_reply_is_read_with_cached_tokens_as_input() -> None:
    assert CODEC.decode_reply(body(PLAIN)) == REPLY


def test_a_stream_is_read_as_its_plain_reply() -> None:
    assert CODEC.decode_reply(STREAM.encode()) == REPLY


@pytest.mark.parametrize("reply", [body(PLAIN), STREAM.encode()])
def test_a_conversation_goes_on_with_signed_thoughts_and_results(reply: bytes) -> None:
    changed = CODEC.continued(REQUEST, reply, {"a": "rain", "b": "noon"})
    said, answers = changed["messages"][-2:]
    assert said == {"role": "assistant", "content": PLAIN["content"]}
    assert answers["content"][1] == {"type": "tool_result", "tool_use_id": "b", "content": "noon"}
    assert len(changed["messages"]) == len(REQUEST["messages"]) + 2


def test_names_are_mapped_back_in_a_message_and_in_the_event_that_starts_a_call() -> None:
    changed = CODEC.reply_with_tool_names(PLAIN, renamed)
    assert json.dumps(changed) == json.dumps(PLAIN).replace("get_weather", "look_up")
    framing = CODEC.framing()
    frames = framing.feed(STREAM.encode())
    written = [framing.written(f, CODEC.reply_with_tool_names(f.value, renamed)) for f in frames]
    assert CODEC.decode_reply(b"".join(written)).tool_calls[0].name == "look_up"
    assert sum(frame.raw != new for frame, new in zip(frames, written, strict=True)) == 1


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (STREAM[: STREAM.index("event: message_delta")], "cut off"),
        (event("error", error={"type": "overloaded_error", "message": "busy"}), "overloaded_error"),
        (
            event("message_start", message=START) + event("content_block_delta", index=0, delta={}),
            "no block 0",
        ),
    ],
)
def test_a_broken_stream_is_refused(stream: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CODEC.decode_reply(stream.encode())


def test_arguments_that_were_cut_off_stay_as_the_model_wrote_them() -> None:
    end = event("message_delta", delta={"stop_reason": "max_tokens"}, usage={"output_tokens": 2})
    cut = event("message_start", message=START) + block(0, used("a", "f"), json_piece('{"ci')) + end
    reply = CODEC.decode_reply(cut.encode())
    assert (reply.tool_calls[0].arguments, reply.finish_reason) == ('{"ci', "length")


def test_an_error_is_not_taken_for_a_reply() -> None:
    error = CODEC.encode_error(529, "busy", "overloaded")
    assert json.loads(error) == {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    with pytest.raises(ValueError, match="busy"):
        CODEC.decode_reply(error)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
objects = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=5), max_size=3)
calls = st.builds(
    ToolCall,
    id=texts,
    name=texts,
    arguments=objects.map(lambda value: json.dumps(value, separators=(",", ":"))) | st.just('{"ci'),
)
replies = st.builds(
    ModelReply,
    model=st.just("m"),
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
    model=st.just("m"),
    tools=st.just((ToolSpec(name="f", description="d", parameters=SCHEMA),)) | st.just(()),
    temperature=st.none() | st.floats(0, 1),
    max_tokens=st.none() | st.integers(1, 9),
    stop=st.lists(texts, max_size=2).map(tuple),
    reasoning_effort=st.sampled_from([None, "none", "low", "max"]),
    tool_choice=st.sampled_from(
        [None, "auto", "none", "required", {"type": "function", "function": {"name": "f"}}]
    ),
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
def base_url(loop_thread: Any) -> Iterator[str]:
    async def answer(http: web.Request) -> web.Response:
        request = CODEC.decode_request(HttpCall(http.path, await http.read()))
        assert request.tools[0].name == "get_weather"
        encoded = CODEC.encode_reply(REPLY, reply_id="msg_1", stream=request.stream)
        kind = CODEC.content_type(stream=request.stream)
        return web.Response(body=encoded, headers={"Content-Type": kind})

    with served(loop_thread, {"/v1/messages": answer}) as address:
        yield address


def test_the_sdk_reads_plain_and_streamed_replies(base_url: str) -> None:
    anthropic = pytest.importorskip("anthropic")
    asked = {key: REQUEST[key] for key in ("model", "max_tokens", "messages", "system", "tools")}
    with anthropic.Anthropic(base_url=base_url, api_key="k", max_retries=0) as client:
        plain = client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            streamed = stream.get_final_message()
    for message in (plain, streamed):
        assert [found.type for found in message.content] == ["text", "tool_use", "tool_use"]
        assert message.content[0].text == REPLY.text
        assert message.content[1].input == {"city": "Bern"}
        assert (message.stop_reason, message.usage.output_tokens) == ("tool_use", 5)
