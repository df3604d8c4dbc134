"""Requests to Bedrock Converse: bodies are written by hand as the reference shows them."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import HttpCall, OfferedTool
from agentmut.nouns.messages import ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.codecs import codec_for
from tests.wire.converse_bodies import (
    CODEC,
    IMAGE,
    MARK,
    NAMED,
    REQUEST,
    SCHEMA,
    THOUGHT,
    WEATHER,
    body,
    renamed,
)

PATH = "/model/anthropic.claude-x%3A0/converse"


def read(path: str = PATH, **fields: Any) -> ModelRequest:
    return CODEC.decode_request(HttpCall(path, body({**REQUEST, **fields})))


def test_a_request_is_read() -> None:
    assert codec_for("/model/x/count-tokens") is None
    request = read()
    system, user, tool, assistant = Role.SYSTEM, Role.USER, Role.TOOL, Role.ASSISTANT
    assert [m.role for m in request.messages] == [system, system, user, assistant, tool, tool]
    assert request.system_text == "Be kind.\n\nBe safe."
    assert [m.text for m in request.messages[2:]] == ["Weather?", "I look.", '{"temperature":3}', "none"]
    assert request.messages[3].tool_calls == (
        ToolCall(id="t1", name="get_weather", arguments='{"city":"Bern"}'),
        ToolCall(id="t2", name="get_weather", arguments='{"city":"Oslo"}'),
    )
    assert request.tools == (ToolSpec(name="get_weather", description="Weather", parameters=SCHEMA),)
    assert request.tool_choice == {"type": "function", "function": {"name": "get_weather"}}
    assert request.response_format == {
        "type": "json_schema",
        "json_schema": {"name": "city", "schema": SCHEMA},
    }
    assert (request.model, request.max_tokens, request.temperature) == ("anthropic.claude-x:0", 99, 0.5)
    assert (request.top_p, request.stop, request.reasoning_effort) == (0.9, ("END",), "high")


def test_model_and_streaming_stand_in_the_path() -> None:
    arn = "arn:aws:bedrock:us-east-1:1:inference-profile/us.x"
    for path in (f"/t/4/model/{arn}/converse-stream", f"/model/{arn.replace('/', '%2F')}/converse-stream"):
        assert (read(path).model, read(path).stream) == (arn, True)
    path, changed = CODEC.with_setting(HttpCall(f"/t/4{PATH}", b""), REQUEST, "name", "meta.y:1")
    assert (path, changed) == ("/t/4/model/meta.y%3A1/converse", REQUEST)


def test_texts_tell_their_place_their_speaker_and_the_tool_of_a_result() -> None:
    texts = CODEC.texts(REQUEST)
    assert [t.text for t in texts] == [
        "Be kind.",
        "Be safe.",
        "Weather?",
        "I look.",
        '{"temperature":3}',
        "none",
    ]
    assert texts[4].path == ("messages", 2, "content", 0, "toolResult", "content", 0, "json")
    assert (texts[4].role, texts[4].call_id, texts[4].tool) == (Role.TOOL, "t1", "get_weather")


def test_a_changed_text_leaves_marks_images_and_order_alone() -> None:
    before = json.dumps(REQUEST)
    guarded = ("system", 1, "guardContent", "text", "text")
    changed = CODEC.with_texts(REQUEST, {guarded: "Be rude.", ("messages", 0, "content", 0, "text"): "Rain?"})
    assert json.dumps(changed) == before.replace("Be safe.", "Be rude.").replace("Weather?", "Rain?")
    assert json.dumps(REQUEST) == before


def test_a_json_result_stays_json_where_its_text_does() -> None:
    path = CODEC.texts(REQUEST)[4].path
    for text, block in (
        ('{"temperature":9}', {"json": {"temperature": 9}}),
        ('{"temper', {"text": '{"temper'}),
    ):
        changed = CODEC.with_texts(REQUEST, {path: text})
        assert changed["messages"][2]["content"][0]["toolResult"]["content"] == [block]
    assert CODEC.with_texts(REQUEST, {path: '{"temperature":3}'}) == REQUEST


def test_an_emptied_text_goes_with_its_block_and_the_mark_behind_it_but_a_result_stays() -> None:
    changed = CODEC.with_texts(REQUEST, {text.path: "" for text in CODEC.texts(REQUEST)})
    assert "system" not in changed
    assert changed["messages"][0]["content"] == [IMAGE]
    assert changed["messages"][1]["content"] == [THOUGHT, *REQUEST["messages"][1]["content"][2:]]
    results = [block["toolResult"]["content"] for block in changed["messages"][2]["content"][:2]]
    assert results == [[], [IMAGE]]


def test_tools_are_written_in_what_differs() -> None:
    weather, mark = CODEC.tools(REQUEST)
    assert CODEC.with_tools(REQUEST, [weather, mark]) == REQUEST
    assert weather.spec is not None
    spec = weather.spec.model_copy(
        update={"name": "look_up", "description": "", "parameters": {"type": "object"}}
    )
    decoy = OfferedTool(ToolSpec(name="decoy", description="d", parameters=SCHEMA))
    changed = CODEC.with_tools(REQUEST, [OfferedTool(spec, weather.raw), decoy, mark])["toolConfig"]["tools"]
    assert changed == [
        {"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}, "strict": True}},
        {"toolSpec": {"name": "decoy", "description": "d", "inputSchema": {"json": SCHEMA}}},
        MARK,
    ]
    assert "toolChoice" not in CODEC.with_tools(REQUEST, [decoy, mark])["toolConfig"]
    assert "toolConfig" not in CODEC.with_tools(REQUEST, [mark])


def test_names_of_tools_are_changed_in_calls_and_choice() -> None:
    changed = CODEC.with_tool_names(REQUEST, renamed)
    assert changed["toolConfig"] == {**REQUEST["toolConfig"], "toolChoice": {"tool": {"name": "look_up"}}}
    text = json.dumps(REQUEST["messages"]).replace("get_weather", "look_up")
    assert json.dumps(changed["messages"]) == text


CONFIG, OUTPUT, TOOLS = REQUEST["inferenceConfig"], REQUEST["outputConfig"], [WEATHER, MARK]


@pytest.mark.parametrize(
    ("name", "value", "changes"),
    [
        ("temperature", None, {"inferenceConfig": {k: v for k, v in CONFIG.items() if k != "temperature"}}),
        ("max_tokens", 5, {"inferenceConfig": {**CONFIG, "maxTokens": 5}}),
        ("stop", ("A",), {"inferenceConfig": {**CONFIG, "stopSequences": ["A"]}}),
        ("seed", 3, {}),
        ("reasoning_effort", "low", {"outputConfig": {**OUTPUT, "effort": "low"}}),
        ("response_format", None, {"outputConfig": {"effort": "high"}}),
        ("response_format", {"type": "json_object"}, {}),
        ("tool_choice", None, {"toolConfig": {"tools": TOOLS}}),
        ("tool_choice", "required", {"toolConfig": {"tools": TOOLS, "toolChoice": {"any": {}}}}),
        ("tool_choice", NAMED, {"toolConfig": {"tools": TOOLS, "toolChoice": {"tool": {"name": "f"}}}}),
        ("tool_choice", "none", {}),
    ],
)
def test_a_setting_is_written(name: str, value: Any, changes: dict[str, Any]) -> None:
    path, changed = CODEC.with_setting(HttpCall(PATH, b""), REQUEST, name, value)
    assert (path, changed) == (PATH, {**REQUEST, **changes})


def test_an_item_of_results_only_is_the_tools() -> None:
    assert CODEC.roles(REQUEST) == ("messages", [Role.USER, Role.ASSISTANT, Role.TOOL])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"messages": "hi"}, "messages: expected a list"),
        ({"messages": [{"role": "king", "content": []}]}, r"messages\[0\].role"),
        ({"messages": [{"role": "user", "content": [{"text": 1}]}]}, r"messages\[0\].content\[0\].text"),
        ({"toolConfig": {"tools": [{"toolSpec": {}}]}}, r"toolConfig.tools\[0\]"),
        ({"toolConfig": {"toolChoice": "auto"}}, "toolConfig.toolChoice: expected an object"),
        ({"inferenceConfig": 1}, "inferenceConfig: expected an object"),
    ],
)
def test_an_unreadable_request_names_the_place(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(**fields)
