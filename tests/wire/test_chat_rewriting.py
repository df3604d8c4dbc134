"""Chat Completions bodies rewritten in place; expected ones are written by hand."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import Codec, HttpCall, OfferedTool, Path
from agentmut.nouns.messages import Role
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

CODEC: Codec = ChatCompletions()
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
CUSTOM = {"id": "c2", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
IMAGE = {"type": "image_url", "image_url": {"url": "x"}}
WEATHER = {
    "type": "function",
    "function": {
        "strict": True,
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "x-own": 1}, "day": {"type": "integer"}},
            "additionalProperties": False,
        },
    },
    "cache_control": {"type": "ephemeral"},
}
SHELL = {"type": "custom", "custom": {"name": "shell", "format": {"type": "text"}}}
REQUEST: dict[str, Any] = {
    "messages": [
        {"role": "developer", "content": "Be kind."},
        {
            "role": "user",
            "name": "get_weather",
            "content": [
                {"type": "text", "text": "Weather?", "cache_control": {"type": "ephemeral"}},
                IMAGE,
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [CALL, CUSTOM], "own": 1},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "a.txt"}]},
    ],
    "model": "gpt-x",
    "tools": [WEATHER, {"type": "web_search"}, SHELL],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
    "max_tokens": 12,
    "stop": "END",
    "logprobs": True,
}
CALLED = HttpCall("/v1/chat/completions", b"")


def other(name: str) -> str:
    return {"get_weather": "weather"}.get(name, name)


def test_texts_are_told_with_their_places_and_the_tool_that_a_result_is_of() -> None:
    assert [tuple(text) for text in CODEC.texts(REQUEST)] == [
        (("messages", 0, "content"), Role.SYSTEM, "Be kind.", None, None),
        (("messages", 1, "content", 0, "text"), Role.USER, "Weather?", None, None),
        (("messages", 3, "content"), Role.TOOL, "rain", "c1", "get_weather"),
        (("messages", 4, "content", 0, "text"), Role.TOOL, "a.txt", "c2", "shell"),
    ]


def test_texts_change_in_their_places() -> None:
    changed = CODEC.with_texts(
        REQUEST, {("messages", 1, "content", 0, "text"): "Snow?", ("messages", 3, "content"): ""}
    )
    assert changed["messages"][1]["content"] == [
        {"type": "text", "text": "Snow?", "cache_control": {"type": "ephemeral"}},
        IMAGE,
    ]
    assert changed["messages"][3]["content"] == ""
    assert changed["messages"][2] is REQUEST["messages"][2]


def test_an_emptied_block_goes_and_the_last_one_leaves_an_empty_text() -> None:
    emptied: dict[Path, str] = dict.fromkeys(
        [("messages", 1, "content", 0, "text"), ("messages", 4, "content", 0, "text")], ""
    )
    changed = CODEC.with_texts(REQUEST, emptied)
    assert changed["messages"][1]["content"] == [IMAGE]
    assert changed["messages"][4]["content"] == ""


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no messages\[9\]"):
        CODEC.with_texts(REQUEST, {("messages", 9, "content"): "x"})


def test_a_tool_is_written_anew_in_what_differs() -> None:
    weather, hosted, shell = CODEC.tools(REQUEST)
    assert weather.spec and shell.spec and hosted.spec is None
    assert [weather.spec.name, shell.spec.name] == ["get_weather", "shell"]
    schema: Any = {
        "additionalProperties": False,
        "type": "object",
        "properties": {"day": {"type": "integer"}, "city": {"type": "string", "x-own": True}},
    }
    fresh = ToolSpec(name="weather", description="Forecast", parameters=schema)
    changed = CODEC.with_tools(REQUEST, [OfferedTool(fresh, weather.raw), hosted, shell])
    assert json.dumps(changed["tools"][0]) == json.dumps(
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Forecast",
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string", "x-own": True}, "day": {"type": "integer"}},
                    "additionalProperties": False,
                },
            },
            "cache_control": {"type": "ephemeral"},
        }
    )
    assert changed["tools"][1:] == REQUEST["tools"][1:]


def test_tools_come_and_go() -> None:
    shell = CODEC.tools(REQUEST)[2]
    fewer = CODEC.with_tools(REQUEST, [shell])
    assert fewer["tools"] == [SHELL]
    assert "tool_choice" not in fewer, "its tool is gone"
    none = CODEC.with_tools({**REQUEST, "parallel_tool_calls": False}, [])
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & none.keys()
    decoy = ToolSpec(name="decoy", description="x")
    added = CODEC.with_tools({"messages": [], "model": "m"}, [OfferedTool(decoy)])
    assert added["tools"] == [decoy.to_openai()]


def test_the_older_functions_are_tools_and_stay_functions() -> None:
    older = {
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "get_weather", "arguments": "{}"},
            },
            {"role": "function", "name": "get_weather", "content": "rain"},
        ],
        "model": "m",
        "functions": [WEATHER["function"]],
        "function_call": {"name": "get_weather"},
    }
    (tool,) = CODEC.tools(older)
    assert tool.spec and tool.spec.name == "get_weather"
    assert CODEC.texts(older)[0].tool == "get_weather"
    fresh = tool.spec.model_copy(update={"name": "weather"})
    changed = CODEC.with_tools(older, [OfferedTool(fresh, tool.raw), OfferedTool(ToolSpec(name="decoy"))])
    assert [entry["name"] for entry in changed["functions"]] == ["weather", "decoy"]
    assert "tools" not in changed
    named = CODEC.with_tool_names(changed, other)
    assert named["function_call"] == {"name": "weather"}
    assert named["messages"][0]["function_call"]["name"] == "weather"
    assert named["messages"][1]["name"] == "weather"
    request = CODEC.decode_request(HttpCall("", json.dumps(older).encode()))
    assert request.messages[0].tool_calls[0].name == request.tools[0].name == "get_weather"


def test_a_tool_of_the_service_stays_where_it_is_even_with_a_name() -> None:
    body = {**REQUEST, "tools": [WEATHER, {"type": "web_search", "name": "search"}]}
    changed = CODEC.with_tools(body, [*CODEC.tools(body), OfferedTool(ToolSpec(name="decoy"))])
    assert changed["tools"][:2] == body["tools"]
    assert "functions" not in changed


def test_names_change_in_calls_and_choices_alone() -> None:
    changed = CODEC.with_tool_names(REQUEST, other)
    assert changed["messages"][2]["tool_calls"][0]["function"]["name"] == "weather"
    assert changed["messages"][2]["own"] == 1
    assert changed["messages"][1]["name"] == "get_weather", "a user's name is a person's"
    assert changed["tool_choice"]["function"]["name"] == "weather"
    assert changed["tools"] is REQUEST["tools"]
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [WEATHER]}}
    tools = CODEC.with_tool_names({**REQUEST, "tool_choice": allowed}, other)["tool_choice"]
    assert tools["allowed_tools"]["tools"][0]["function"]["name"] == "weather"


@pytest.mark.parametrize(
    ("name", "value", "key", "written"),
    [
        ("name", "gpt-y", "model", "gpt-y"),
        ("temperature", 0, "temperature", 0),
        ("max_tokens", 5, "max_tokens", 5),
        ("max_tokens", None, "max_tokens", None),
        ("stop", ("x",), "stop", "x"),
        ("stop", ("x", "y"), "stop", ["x", "y"]),
        ("stop", (), "stop", None),
        ("seed", 3, "seed", 3),
        ("reasoning_effort", "high", "reasoning_effort", "high"),
        ("tool_choice", "none", "tool_choice", "none"),
        ("response_format", {"type": "json_object"}, "response_format", {"type": "json_object"}),
    ],
)
def test_a_setting_is_written_where_the_request_has_it(name: str, value: Any, key: str, written: Any) -> None:
    path, changed = CODEC.with_setting(CALLED, REQUEST, name, value)
    assert path == CALLED.path
    assert changed.get(key) == written
    assert (key in changed) is (written is not None)
    assert [k for k in changed if k != key] == [k for k in REQUEST if k != key]


def test_a_limit_of_tokens_has_the_newer_name_where_the_request_has_none() -> None:
    body = {"messages": [], "model": "m"}
    assert CODEC.with_setting(CALLED, body, "max_tokens", 5)[1]["max_completion_tokens"] == 5
    assert CODEC.with_setting(CALLED, body, "provider", "p")[1] == body


MESSAGE = {
    "role": "assistant",
    "content": "Hm.",
    "refusal": None,
    "tool_calls": [CALL, CUSTOM],
    "thought": "x",
}
PLAIN = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}], "model": "m"}


def chunks(*deltas: Any) -> bytes:
    choices: list[Any] = [[{"index": 0, "delta": delta}] for delta in deltas]
    choices.insert(1, [{"index": 1, "delta": {"role": "assistant", "content": "Another."}}])
    choices.append([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])
    lines = [b"data: " + json.dumps({"model": "m", "choices": found}).encode() for found in choices]
    return b"\n\n".join([*lines, b"data: [DONE]", b""])


STREAM = chunks(
    {"role": "assistant", "content": "H", "refusal": None, "thought": "x"},
    {"content": "m."},
    {"tool_calls": [{"index": 0, **CALL, "function": {"name": "get_weather", "arguments": "{"}}]},
    {"tool_calls": [{"index": 1, **CUSTOM, "custom": {"name": "shell", "input": "l"}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}, {"index": 1, "custom": {"input": "s"}}]},
)


@pytest.mark.parametrize("reply", [json.dumps(PLAIN).encode(), STREAM])
def test_a_conversation_goes_on_with_the_replys_message_and_the_results(reply: bytes) -> None:
    changed = CODEC.continued(REQUEST, reply, {"c2": "b.txt", "c1": "sun", "c9": "?"})
    assert changed["messages"] == [
        *REQUEST["messages"],
        MESSAGE,
        {"role": "tool", "tool_call_id": "c1", "content": "sun"},
        {"role": "tool", "tool_call_id": "c2", "content": "b.txt"},
    ]


def test_a_renamed_tool_is_mapped_back_in_plain_replies_and_chunks() -> None:
    plain = CODEC.reply_with_tool_names(PLAIN, lambda name: f"own_{name}")
    assert [call["id"] for call in plain["choices"][0]["message"]["tool_calls"]] == ["c1", "c2"]
    assert plain["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "own_get_weather"
    assert plain["choices"][0]["message"]["tool_calls"][1]["custom"]["name"] == "own_shell"
    framing = CODEC.framing()
    changed = b"".join(
        framing.written(frame, CODEC.reply_with_tool_names(frame.value, lambda name: f"own_{name}"))
        for frame in framing.feed(STREAM)
    )
    assert [call.name for call in CODEC.decode_reply(changed).tool_calls] == ["own_get_weather", "own_shell"]
    assert changed.count(b'"content": "m."') == 1, "other chunks keep their bytes"


def test_the_older_call_of_a_function_is_put_together_from_its_pieces() -> None:
    pieces = [{"name": "get_weather", "arguments": "{"}, {"arguments": "}"}]
    stream = chunks({"role": "assistant", "content": None}, *({"function_call": piece} for piece in pieces))
    (call,) = CODEC.decode_reply(stream).tool_calls
    assert (call.id, call.name, call.arguments) == ("", "get_weather", "{}")
    changed = CODEC.continued(REQUEST, stream, {"": "sun"})
    assert changed["messages"][-1] == {"role": "function", "name": "get_weather", "content": "sun"}
