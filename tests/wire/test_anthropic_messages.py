"""Bodies are written by hand as Anthropic's reference shows them; the SDK reads what the codec writes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.codec import Codec, HttpCall, OfferedTool
from agentmut.nouns.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage
from agentmut.wire.codecs import codec_for
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from tests.loopback import served

CODEC: Codec = AnthropicMessages()
MARK = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "get_weather", "description": "Weather", "input_schema": SCHEMA, "cache_control": MARK}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
REQUEST: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 1024,
    "system": [
        {"type": "text", "text": "Be kind."},
        {"type": "text", "text": "Long.", "cache_control": MARK},
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}, IMAGE]},
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Bern"}},
                {"type": "tool_use", "id": "t2", "name": "get_weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "rain"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no such city"}, IMAGE],
                },
            ],
        },
        {"role": "assistant", "content": "Rain."},
        {"role": "user", "content": "Thanks"},
    ],
    "tools": [WEATHER, SEARCH],
    "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True},
    "stop_sequences": ["END"],
    "temperature": 0.5,
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    "metadata": {"user_id": "u"},
}
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


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def read(**fields: Any) -> ModelRequest:
    return CODEC.decode_request(HttpCall("/v1/messages", body({**REQUEST, **fields})))


def renamed(name: str) -> str:
    return {"get_weather": "look_up"}.get(name, name)


def test_the_path_of_messages_is_told_from_its_neighbours() -> None:
    assert codec_for("/t/4/v1/messages?beta=true") is not None
    assert codec_for("/v1/messages/count_tokens") is None
    assert codec_for("/v1/messages/batches") is None


def test_a_request_is_read() -> None:
    request = read()
    system, user, tool, assistant = Role.SYSTEM, Role.USER, Role.TOOL, Role.ASSISTANT
    assert [m.role for m in request.messages] == [
        system,
        system,
        user,
        assistant,
        tool,
        tool,
        assistant,
        user,
    ]
    assert request.system_text == "Be kind.\n\nLong."
    assert [m.text for m in request.messages[2:]] == [
        "Weather?",
        "I look.",
        "rain",
        "no such city",
        "Rain.",
        "Thanks",
    ]
    assert request.messages[3].tool_calls == (
        ToolCall(id="t1", name="get_weather", arguments='{"city":"Bern"}'),
        ToolCall(id="t2", name="get_weather", arguments='{"city":"Oslo"}'),
    )
    assert request.messages[5].tool_call_id == "t2"
    assert request.tools == (ToolSpec(name="get_weather", description="Weather", parameters=SCHEMA),)
    assert request.tool_choice == {"type": "function", "function": {"name": "get_weather"}}
    assert request.response_format == {"type": "json_schema", "json_schema": {"schema": SCHEMA}}
    assert (request.max_tokens, request.temperature, request.stop) == (1024, 0.5, ("END",))
    assert (request.reasoning_effort, request.stream) == ("high", False)


def test_a_system_string_is_instructions_too() -> None:
    assert read(system="Be brief.").system_text == "Be brief."


@pytest.mark.parametrize(("choice", "said"), [("auto", "auto"), ("any", "required"), ("none", "none")])
def test_a_tool_choice_is_read(choice: str, said: str) -> None:
    assert read(tool_choice={"type": choice}).tool_choice == said


def test_thinking_that_is_turned_off_is_no_effort() -> None:
    assert read(output_config=None, thinking={"type": "disabled"}).reasoning_effort == "none"
    assert read(output_config=None, thinking={"type": "adaptive"}).reasoning_effort is None


def test_texts_tell_their_place_their_speaker_and_the_tool_of_a_result() -> None:
    texts = CODEC.texts(REQUEST)
    assert [text.text for text in texts] == [
        "Be kind.",
        "Long.",
        "Weather?",
        "I look.",
        "rain",
        "no such city",
        "Rain.",
        "Thanks",
    ]
    error = texts[5]
    assert error.path == ("messages", 2, "content", 1, "content", 0, "text")
    assert (error.role, error.call_id, error.tool) == (Role.TOOL, "t2", "get_weather")


def test_a_document_of_plain_text_is_text_that_the_model_reads() -> None:
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Page 1"}}
    found = {**REQUEST, "messages": [{"role": "user", "content": [document]}]}
    (text,) = (t for t in CODEC.texts(found) if t.role is Role.USER)
    changed = CODEC.with_texts(found, {text.path: "Page 2"})
    assert changed["messages"][0]["content"][0] == {
        **document,
        "source": {**document["source"], "data": "Page 2"},  # type: ignore[dict-item]
    }


def test_a_changed_text_leaves_markers_images_and_order_alone() -> None:
    before = json.dumps(REQUEST)
    changed = CODEC.with_texts(REQUEST, {("system", 1, "text"): "Short.", ("messages", 4, "content"): "Bye"})
    assert json.dumps(REQUEST) == before
    assert json.dumps(changed) == before.replace("Long.", "Short.").replace("Thanks", "Bye")


def test_an_emptied_text_goes_with_its_block_but_a_result_stays() -> None:
    paths = [text.path for text in CODEC.texts(REQUEST) if text.role is not Role.ASSISTANT]
    changed = CODEC.with_texts(REQUEST, dict.fromkeys(paths, ""))
    assert "system" not in changed
    assert [item["role"] for item in changed["messages"]] == ["user", "assistant", "user", "assistant"]
    assert changed["messages"][0]["content"] == [IMAGE]
    assert [result["content"] for result in changed["messages"][2]["content"]] == ["", [IMAGE]]


def test_a_service_tool_has_no_spec_and_stays() -> None:
    own, search = CODEC.tools(REQUEST)
    assert search == OfferedTool(None, SEARCH)
    assert CODEC.with_tools(REQUEST, [own, search]) == REQUEST
    added = ToolSpec(name="decoy", parameters=SCHEMA)
    tools = CODEC.with_tools(REQUEST, [search, OfferedTool(added)])["tools"]
    assert tools == [SEARCH, {"name": "decoy", "input_schema": SCHEMA}]


def test_a_changed_tool_is_written_in_what_differs() -> None:
    own, search = CODEC.tools(REQUEST)
    assert own.spec is not None
    spec = own.spec.model_copy(update={"name": "look_up", "description": ""})
    tools = CODEC.with_tools(REQUEST, [OfferedTool(spec, own.raw), search])["tools"]
    assert tools[0] == {"name": "look_up", "input_schema": SCHEMA, "cache_control": MARK}


def test_with_no_tool_left_the_choice_goes_too() -> None:
    changed = CODEC.with_tools(REQUEST, [])
    assert changed.keys() == REQUEST.keys() - {"tools", "tool_choice"}


def test_names_of_tools_are_changed_in_calls_and_choice() -> None:
    changed = CODEC.with_tool_names(REQUEST, renamed)
    text = json.dumps({**REQUEST, "tools": None}).replace("get_weather", "look_up")
    assert json.dumps({**changed, "tools": None}) == text
    assert changed["tools"] == REQUEST["tools"]


@pytest.mark.parametrize(
    ("name", "value", "changes"),
    [
        ("name", "claude-y", {"model": "claude-y"}),
        ("temperature", 1.0, {"temperature": 1.0}),
        ("temperature", None, {"temperature": None}),
        ("max_tokens", 5, {"max_tokens": 5}),
        ("stop", ("A", "B"), {"stop_sequences": ["A", "B"]}),
        ("stop", (), {"stop_sequences": None}),
        ("seed", 3, {}),
        ("reasoning_effort", "low", {"output_config": {**REQUEST["output_config"], "effort": "low"}}),
        ("reasoning_effort", "minimal", {}),
        ("response_format", None, {"output_config": {"effort": "high"}}),
        ("response_format", {"type": "json_object"}, {}),
        ("tool_choice", None, {"tool_choice": None}),
        ("tool_choice", "required", {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}),
        ("tool_choice", "none", {"tool_choice": {"type": "none"}}),
    ],
)
def test_a_setting_is_written(name: str, value: Any, changes: dict[str, Any]) -> None:
    path, changed = CODEC.with_setting(HttpCall("/v1/messages", b""), REQUEST, name, value)
    wanted = {key: found for key, found in {**REQUEST, **changes}.items() if found is not None}
    assert (path, changed) == ("/v1/messages", wanted)


def test_an_effort_of_none_turns_thinking_off_and_a_level_on_again() -> None:
    call = HttpCall("/v1/messages", b"")
    _, off = CODEC.with_setting(call, {"model": "m"}, "reasoning_effort", "none")
    assert off == {"model": "m", "thinking": {"type": "disabled"}}
    _, on = CODEC.with_setting(call, off, "reasoning_effort", "low")
    assert on == {"model": "m", "output_config": {"effort": "low"}}


def test_an_item_of_results_only_is_the_tools() -> None:
    key, roles = CODEC.roles(REQUEST)
    assert key == "messages"
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER]
    assert CODEC.roles({"model": "m"}) == ("", ())


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


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"messages": "hi"}, "messages: expected a list"),
        ({"messages": ["hi"]}, r"messages\[0\]: expected an object"),
        ({"messages": [{"role": "king", "content": "x"}]}, r"messages\[0\].role: expected one of user"),
        ({"messages": [{"role": "user", "content": 1}]}, r"messages\[0\].content: expected a string"),
        ({"system": 1}, "system: expected a string"),
        ({"tools": [{"input_schema": {}}]}, r"tools\[0\]"),
        ({"model": None}, "model: expected a non-empty string"),
        ({"tool_choice": "auto"}, "tool_choice: expected an object"),
    ],
)
def test_an_unreadable_request_names_the_place(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(**fields)


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
