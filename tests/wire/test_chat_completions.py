"""Bodies are written by hand as OpenAI's reference shows them, not by the encoder under test."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.codec import Codec, HttpCall
from agentmut.nouns.messages import ModelReply, Role, ToolCall
from agentmut.nouns.trace import Usage
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

CODEC: Codec = ChatCompletions()


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def written_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
REQUEST = {
    "model": "gpt-x",
    "messages": [
        {"role": "developer", "content": [text_block("Be kind."), text_block("Be brief.")]},
        {
            "role": "user",
            "content": [text_block("Weather?"), {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [written_call("c1", "get_weather", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ],
    "tools": [WEATHER],
    "tool_choice": "auto",
    "max_completion_tokens": 99,
    "max_tokens": 12,
    "temperature": 0.5,
    "seed": 3,
    "response_format": {"type": "json_object"},
    "logprobs": True,
}
REPLY = ModelReply(
    model="gpt-x",
    text="One moment, please.",
    tool_calls=(
        ToolCall(id="a", name="get_weather", arguments='{"city":"Bern"}'),
        ToolCall(id="b", name="now", arguments=""),
    ),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=7, output_tokens=5),
)


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def changed(**fields: Any) -> bytes:
    return body({**REQUEST, **fields})


def test_a_request_is_read_with_blocks_developer_role_and_tools() -> None:
    request = CODEC.decode_request(HttpCall("", body(REQUEST)))
    assert [m.role for m in request.messages] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL]
    assert request.system_text == "Be kind.\nBe brief."
    assert request.messages[1].text == "Weather?"
    assert request.messages[2].tool_calls == (ToolCall(id="c1", name="get_weather", arguments="{}"),)
    assert request.messages[3].tool_call_id == "c1"
    assert request.tools[0].parameters["required"] == ["city"]
    assert (request.max_tokens, request.temperature, request.seed) == (99, 0.5, 3)
    assert request.response_format == {"type": "json_object"}
    assert request.stream is False


def test_max_tokens_counts_where_the_newer_name_is_absent() -> None:
    assert CODEC.decode_request(HttpCall("", changed(max_completion_tokens=None))).max_tokens == 12


def test_a_custom_tool_is_read_without_parameters() -> None:
    tool = {"type": "custom", "custom": {"name": "shell", "description": "Runs a line"}}
    assert CODEC.decode_request(HttpCall("", changed(tools=[tool]))).tools[0].name == "shell"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"model": NaN}', "NaN"),
        (b"[]", "expected an object"),
        (changed(messages="hi"), "messages: expected a list"),
        (changed(messages=["hi"]), r"messages\[0\]: expected an object"),
        (changed(messages=[{"role": "king", "content": ""}]), r"messages\[0\].role: expected one of system"),
        (changed(messages=[{"role": "user", "content": 1}]), r"messages\[0\].content: expected a string"),
        (changed(model=None), "model: expected a non-empty string"),
        (changed(tools=[{"type": "function", "function": {}}]), r"tools\[0\]: a tool has no name"),
        (changed(tools=[{"type": "function"}]), r"tools\[0\].function: expected an object"),
        (changed(temperature="hot"), "temperature"),
    ],
)
def test_an_unreadable_request_names_the_place(wrong: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CODEC.decode_request(HttpCall("", wrong))


def test_a_plain_reply_is_read() -> None:
    written = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "gpt-x",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "One moment, please.",
                    "tool_calls": [
                        written_call("a", "get_weather", '{"city":"Bern"}'),
                        written_call("b", "now", ""),
                    ],
                },
                "finish_reason": "tool_calls",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
    }
    assert CODEC.decode_reply(body(written)) == REPLY


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "data: " + json.dumps(
        {"id": "x", "object": "chat.completion.chunk", "model": "gpt-x", "choices": [choice]}
    )


def call_piece(index: int, **piece: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **piece}]}


STREAM = [
    ": keep-alive",
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "One mom"}),
    chunk({"content": "ent, please."}),
    chunk(call_piece(0, id="a", type="function", function={"name": "get_weather", "arguments": ""})),
    chunk(call_piece(0, function={"arguments": '{"city":'})),
    chunk(call_piece(1, id="b", type="function", function={"name": "now", "arguments": ""})),
    chunk(call_piece(0, function={"arguments": '"Bern"}'})),
    chunk({}, "tool_calls"),
    'data: {"model":"gpt-x","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5}}',
    "data: [DONE]",
    "",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_stream_with_split_and_interleaved_deltas_is_put_together(newline: str) -> None:
    assert CODEC.decode_reply((newline * 2).join(STREAM).encode()) == REPLY


def test_a_stream_that_was_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="cut off"):
        CODEC.decode_reply("\n\n".join(STREAM[:6]).encode())


def test_an_error_is_not_taken_for_a_reply() -> None:
    error = CODEC.encode_error(404, "no such model", "model_not_found")
    with pytest.raises(ValueError, match="no such model"):
        CODEC.decode_reply(error)
    with pytest.raises(ValueError, match="no such model"):
        CODEC.decode_reply(b"data: " + error + b"\n\n")


def test_errors_have_the_shape_of_the_service() -> None:
    assert json.loads(CODEC.encode_error(400, "m", "c")) == {
        "error": {"message": "m", "type": "invalid_request_error", "param": None, "code": "c"}
    }
    assert json.loads(CODEC.encode_error(503, "m", "c"))["error"]["type"] == "server_error"


texts = st.text(max_size=30)
calls = st.builds(ToolCall, id=texts, name=st.text(min_size=1, max_size=9), arguments=texts)
replies = st.builds(
    ModelReply,
    model=st.just("sim"),
    text=texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["stop", "tool_calls", "length"]),
    usage=st.builds(Usage, input_tokens=st.integers(0, 9), output_tokens=st.integers(0, 9)),
)


@given(replies, st.booleans())
def test_what_is_encoded_decodes_to_the_same_reply(reply: ModelReply, stream: bool) -> None:
    assert CODEC.decode_reply(CODEC.encode_reply(reply, reply_id="r", stream=stream)) == reply


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
REQUEST_KEYS = [*REQUEST, "top_p", "stream"]
MESSAGE_KEYS = ["role", "content", "tool_calls", "tool_call_id"]
near_messages = st.lists(
    st.dictionaries(st.sampled_from(MESSAGE_KEYS), json_values | st.just("user")), max_size=3
)
near_requests = st.dictionaries(st.sampled_from(REQUEST_KEYS), json_values | near_messages).map(
    lambda fields: {"model": "m", "messages": [], **fields}
)
near_choices = st.fixed_dictionaries(
    {},
    optional={
        "message": json_values,
        "delta": json_values,
        "finish_reason": json_values,
        "index": json_values,
    },
)
near_replies = st.fixed_dictionaries(
    {}, optional={"model": json_values, "choices": st.lists(near_choices, max_size=2), "usage": json_values}
)


def decodes_or_refuses(decode: Any, data: bytes) -> None:
    try:
        decode(data)
    except ValueError as error:
        assert str(error)


@settings(max_examples=300)
@given(json_values | near_requests)
def test_any_json_is_a_request_or_a_value_error(value: Any) -> None:
    decodes_or_refuses(lambda data: CODEC.decode_request(HttpCall("", data)), body(value))


@settings(max_examples=300)
@given(json_values | near_replies)
def test_any_json_is_a_reply_or_a_value_error(value: Any) -> None:
    decodes_or_refuses(CODEC.decode_reply, body(value))
    decodes_or_refuses(CODEC.decode_reply, b"data: " + body(value) + b"\n\ndata: [DONE]\n\n")


@given(st.binary(max_size=60))
def test_any_bytes_are_a_body_or_a_value_error(data: bytes) -> None:
    decodes_or_refuses(lambda data: CODEC.decode_request(HttpCall("", data)), data)
    decodes_or_refuses(CODEC.decode_reply, data)
