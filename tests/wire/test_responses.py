"""Bodies are written by hand as OpenAI's reference shows them, not by the encoder under test."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import Codec, HttpCall, OfferedTool, system_text
from agentmut.nouns.messages import Message, ModelReply, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Usage
from agentmut.wire.dialects.responses.responses import Responses

CODEC: Codec = Responses()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
REQUEST: dict[str, Any] = {
    "model": "gpt-x",
    "instructions": "Be kind.",
    "input": [
        {"role": "developer", "content": "Be brief."},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Weather?"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "One moment.", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_weather", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "shell", "input": "ls"},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {
            "type": "custom_tool_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "a.txt"}],
        },
        {"type": "item_reference", "id": "msg_0"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "get_weather",
            "description": "Weather of a city",
            "parameters": SCHEMA,
            "strict": True,
        },
        {"type": "web_search", "search_context_size": "low"},
        {"type": "custom", "name": "shell", "description": "Runs a line", "format": {"type": "text"}},
    ],
    "tool_choice": {"type": "function", "name": "get_weather"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {
        "format": {"type": "json_schema", "name": "a", "schema": {}, "strict": True},
        "verbosity": "low",
    },
    "max_output_tokens": 99,
    "temperature": 0.5,
    "previous_response_id": "resp_0",
    "store": False,
}
REPLY: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1700000000,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "gpt-x",
    "output": [
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {
            "type": "message",
            "id": "msg_2",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "c3",
            "name": "weather",
            "arguments": '{"city":"Bern"}',
            "status": "completed",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ],
    "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}],
    "tool_choice": "auto",
    "usage": {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12},
}
OWN = {"weather": "get_weather"}


def own(name: str) -> str:
    return OWN.get(name, name)


def decoded(**fields: Any) -> Any:
    return CODEC.decode_request(HttpCall("/v1/responses", json.dumps({**REQUEST, **fields}).encode()))


def test_a_request_is_read_with_instructions_items_and_flat_tools() -> None:
    request = decoded()
    assert request.messages == (
        Message(role=Role.SYSTEM, text="Be kind."),
        Message(role=Role.SYSTEM, text="Be brief."),
        Message(role=Role.USER, text="Weather?"),
        Message(
            role=Role.ASSISTANT,
            text="One moment.",
            tool_calls=(
                ToolCall(id="c1", name="get_weather", arguments="{}"),
                ToolCall(id="c2", name="shell", arguments="ls"),
            ),
        ),
        Message(role=Role.TOOL, text="rain", tool_call_id="c1"),
        Message(role=Role.TOOL, text="a.txt", tool_call_id="c2"),
    )
    assert [tool.name for tool in request.tools] == ["get_weather", "shell"]
    assert (request.max_tokens, request.temperature, request.reasoning_effort) == (99, 0.5, "low")


def test_settings_are_read_in_the_terms_of_chat_completions() -> None:
    request = decoded()
    assert request.tool_choice == {"type": "function", "function": {"name": "get_weather"}}
    assert request.response_format == {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": {}, "strict": True},
    }


def test_an_input_of_one_text_is_the_users() -> None:
    request = decoded(input="Hello", instructions=None)
    assert request.messages == (Message(role=Role.USER, text="Hello"),)
    assert CODEC.roles({**REQUEST, "input": "Hello"}) == ("", ())


def test_texts_are_told_with_their_places_and_the_tool_that_a_result_is_of() -> None:
    texts = CODEC.texts(REQUEST)
    assert [(text.path, text.role, text.text) for text in texts] == [
        (("instructions",), Role.SYSTEM, "Be kind."),
        (("input", 0, "content"), Role.SYSTEM, "Be brief."),
        (("input", 1, "content", 0, "text"), Role.USER, "Weather?"),
        (("input", 3, "content", 0, "text"), Role.ASSISTANT, "One moment."),
        (("input", 6, "output"), Role.TOOL, "rain"),
        (("input", 7, "output", 0, "text"), Role.TOOL, "a.txt"),
    ]
    assert [(text.call_id, text.tool) for text in texts[-2:]] == [("c1", "get_weather"), ("c2", "shell")]
    assert system_text(texts) == "Be kind.\n\nBe brief."


def test_an_emptied_text_goes_where_another_block_stays() -> None:
    place = ("input", 1, "content", 0, "text")
    changed = CODEC.with_texts(REQUEST, {place: "", ("instructions",): "Be rude."})
    assert [block["type"] for block in changed["input"][1]["content"]] == ["input_image"]
    assert changed["instructions"] == "Be rude."
    assert changed["input"][2] is REQUEST["input"][2], "the rest is shared"


def test_items_have_a_speaker_each() -> None:
    key, roles = CODEC.roles(REQUEST)
    told = "system user assistant assistant assistant assistant tool tool assistant"
    assert (key, " ".join(roles)) == ("input", told)


def test_a_tool_is_written_anew_in_what_differs_and_hosted_ones_stay() -> None:
    weather, hosted, shell = CODEC.tools(REQUEST)
    assert hosted.spec is None
    assert weather.spec and shell.spec
    schema: Any = {**SCHEMA, "properties": {"city": {"type": "string", "description": "Where"}}}
    fresh = weather.spec.model_copy(update={"name": "weather", "parameters": schema})
    decoy = ToolSpec(name="decoy", description="Never call it")
    changed = CODEC.with_tools(REQUEST, [OfferedTool(fresh, weather.raw), hosted, shell, OfferedTool(decoy)])
    assert changed["tools"] == [
        {
            "type": "function",
            "name": "weather",
            "description": "Weather of a city",
            "parameters": schema,
            "strict": True,
        },
        REQUEST["tools"][1],
        REQUEST["tools"][2],
        {
            "type": "function",
            "name": "decoy",
            "description": "Never call it",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    ]
    assert changed["tool_choice"] == REQUEST["tool_choice"]


def test_what_goes_with_tools_goes_with_the_last_of_them() -> None:
    none = CODEC.with_tools({**REQUEST, "parallel_tool_calls": True}, [])
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & none.keys()
    fewer = CODEC.with_tools(REQUEST, CODEC.tools(REQUEST)[1:])
    assert "tool_choice" not in fewer, "its tool is gone"


def test_names_change_in_calls_and_choices_alone() -> None:
    def rename(name: str) -> str:
        return {"get_weather": "weather"}.get(name, name)

    changed = CODEC.with_tool_names(REQUEST, rename)
    assert changed["input"][4]["name"] == "weather"
    assert changed["tool_choice"] == {"type": "function", "name": "weather"}
    assert changed["tools"] is REQUEST["tools"]
    allowed = {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "get_weather"}, {"type": "mcp", "name": "get_weather"}],
    }
    tools = CODEC.with_tool_names({**REQUEST, "tool_choice": allowed}, rename)["tool_choice"]["tools"]
    assert [tool["name"] for tool in tools] == ["weather", "get_weather"]


@pytest.mark.parametrize(
    ("name", "value", "key", "written"),
    [
        ("name", "gpt-y", "model", "gpt-y"),
        ("temperature", None, "temperature", None),
        ("max_tokens", 5, "max_output_tokens", 5),
        ("reasoning_effort", "high", "reasoning", {"effort": "high", "summary": "auto"}),
        ("reasoning_effort", None, "reasoning", {"summary": "auto"}),
        ("response_format", None, "text", {"verbosity": "low"}),
        (
            "response_format",
            {"type": "json_object"},
            "text",
            {"format": {"type": "json_object"}, "verbosity": "low"},
        ),
        ("tool_choice", "required", "tool_choice", "required"),
        (
            "tool_choice",
            {"type": "custom", "custom": {"name": "shell"}},
            "tool_choice",
            {"type": "custom", "name": "shell"},
        ),
    ],
)
def test_a_setting_is_written_where_the_dialect_has_it(name: str, value: Any, key: str, written: Any) -> None:
    path, changed = CODEC.with_setting(HttpCall("/v1/responses", b""), REQUEST, name, value)
    assert path == "/v1/responses"
    assert changed.get(key) == written
    assert [k for k in changed if k != key] == [k for k in REQUEST if k != key]


def test_settings_that_the_dialect_does_not_have_change_nothing() -> None:
    for name, value in [("seed", 3), ("stop", ("x",)), ("provider", "p")]:
        assert CODEC.with_setting(HttpCall("", b""), REQUEST, name, value)[1] == REQUEST


def test_a_reply_is_read() -> None:
    assert CODEC.decode_reply(json.dumps(REPLY).encode()) == ModelReply(
        model="gpt-x",
        text="Let me look.",
        tool_calls=(ToolCall(id="c3", name="weather", arguments='{"city":"Bern"}'),),
        finish_reason="tool_calls",
        usage=Usage(input_tokens=7, output_tokens=5),
    )


def test_a_reply_that_ended_early_says_why() -> None:
    early = {**REPLY, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert CODEC.decode_reply(json.dumps(early).encode()).finish_reason == "length"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "failed", "error": {"code": "server_error", "message": "oh"}}, "oh"),
        ({"status": "queued"}, "queued"),
    ],
)
def test_a_reply_that_is_none_is_refused(fields: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CODEC.decode_reply(json.dumps({**REPLY, **fields}).encode())


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


DONE = {"type": "response.output_item.done", "output_index": 0, "item": REPLY["output"][2]}


def test_a_stream_is_the_reply_it_ends_with_or_what_came_before() -> None:
    whole = sse({"type": "response.completed", "response": REPLY})
    assert CODEC.decode_reply(whole) == CODEC.decode_reply(json.dumps(REPLY).encode())
    left_out = sse(DONE, {"type": "response.completed", "response": {**REPLY, "output": []}})
    assert [call.id for call in CODEC.decode_reply(left_out).tool_calls] == ["c3"]


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (sse(DONE), "cut off"),
        (sse({"type": "error", "code": "x", "message": "too many"}), "too many"),
        (sse({"type": "response.failed", "response": {**REPLY, "error": {"message": "oh"}}}), "oh"),
    ],
)
def test_a_stream_without_its_end_is_refused(stream: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CODEC.decode_reply(stream)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_item.added", "sequence_number": 4, "item": REPLY["output"][2]},
        DONE,
        {"type": "response.function_call_arguments.done", "name": "weather", "arguments": "{}"},
        {"type": "response.completed", "response": REPLY},
        {"type": "response.created", "response": {**REPLY, "output": []}},
        REPLY,
    ],
)
def test_a_renamed_tool_is_mapped_back_in_every_event_that_names_it(event: Any) -> None:
    changed = json.dumps(CODEC.reply_with_tool_names(event, own))
    assert changed == json.dumps(event).replace('"name": "weather"', '"name": "get_weather"')
    assert changed != json.dumps(event)


def test_names_of_the_services_own_tools_are_left_alone() -> None:
    event = {"type": "response.output_item.added", "item": {"type": "mcp_call", "name": "weather"}}
    assert CODEC.reply_with_tool_names(event, own) is event


def test_a_conversation_goes_on_with_the_replys_items_and_the_results() -> None:
    changed = CODEC.continued(
        {**REQUEST, "store": True}, json.dumps(REPLY).encode(), {"c3": "sun", "c9": "x"}
    )
    assert changed["input"] == [
        *REQUEST["input"],
        *REPLY["output"],
        {"type": "function_call_output", "call_id": "c3", "output": "sun"},
    ]
    asked = CODEC.continued({"model": "m", "input": "Hi"}, json.dumps(REPLY).encode(), {})
    assert asked["input"][0] == {"role": "user", "content": "Hi"}


def test_a_thought_that_the_service_did_not_keep_is_not_sent_back() -> None:
    changed = CODEC.continued(REQUEST, json.dumps(REPLY).encode(), {"c3": "sun"})
    kinds = [item.get("type") for item in changed["input"][len(REQUEST["input"]) :]]
    assert kinds == ["message", "function_call", "web_search_call", "function_call_output"]


def test_errors_say_the_place() -> None:
    with pytest.raises(ValueError, match=r"input\[0\].role: expected one of system"):
        decoded(input=[{"role": "king", "content": ""}])
    with pytest.raises(ValueError, match="input: expected a list"):
        decoded(input=3)
    with pytest.raises(ValueError, match="model"):
        decoded(model=None)
    assert decoded(model=None, prompt={"id": "pmpt_1"}).model == ""
