"""Requests to Gemini: bodies are written by hand as the reference shows them."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import HttpCall, OfferedTool
from agentmut.nouns.messages import ModelRequest, Role
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.codecs import codec_for
from tests.wire.gemini_bodies import (
    CODEC,
    GOOGLE_SCHEMA,
    IMAGE,
    NOW,
    PLAIN,
    REQUEST,
    SCHEMA,
    WEATHER,
    body,
    renamed,
)

PATH = "/v1beta/models/gemini-x:generateContent"
STREAM_PATH = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"


def read(path: str = PATH, **fields: Any) -> ModelRequest:
    return CODEC.decode_request(HttpCall(path, body({**REQUEST, **fields})))


def without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {key: found for key, found in value.items() if found is not None}


def test_a_request_is_read() -> None:
    assert codec_for("/v1beta/models/gemini-x:countTokens") is None
    request = read()
    assert [m.role for m in request.messages] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
    ]
    assert request.system_text == "Be kind."
    assert [m.text for m in request.messages[1:]] == ["Weather?", "", "rain", '{"temperature":3}']
    assert [c.arguments for c in request.messages[2].tool_calls] == ['{"city":"Bern"}', '{"city":"Oslo"}']
    assert [t.name for t in request.tools] == ["get_weather", "now"]
    assert request.tools[0].parameters == SCHEMA
    assert request.tool_choice == {"type": "function", "function": {"name": "get_weather"}}
    assert request.response_format == {"type": "json_schema", "json_schema": {"schema": SCHEMA}}
    assert (request.model, request.temperature, request.top_p, request.seed) == ("gemini-x", 0.5, 0.9, 3)
    assert (request.max_tokens, request.stop, request.reasoning_effort) == (99, ("END",), "high")


def test_model_and_streaming_stand_in_the_path() -> None:
    vertex = "/v1/projects/p/locations/l/publishers/google/models/gemini%2Fy:streamGenerateContent"
    assert (read(vertex).model, read(vertex).stream, read().stream) == ("gemini/y", True, False)


def test_both_spellings_are_read() -> None:
    other = {
        "systemInstruction": {"parts": {"text": "Be brief."}},
        "contents": [
            {"parts": [{"function_call": {"name": "f", "args": {}}}], "role": "model"},
            {"parts": [{"function_response": {"name": "f", "response": {"output": "x"}}}]},
        ],
        "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_budget": 0}},
        "tool_config": {"function_calling_config": {"mode": "none"}},
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": SCHEMA}]}],
    }
    request = CODEC.decode_request(HttpCall(PATH, body(other)))
    assert request.system_text == "Be brief."
    assert request.messages[2].tool_call_id == request.messages[1].tool_calls[0].id
    assert (request.max_tokens, request.tool_choice, request.reasoning_effort) == (5, "none", "none")
    assert request.tools[0].parameters == SCHEMA
    _, changed = CODEC.with_setting(HttpCall(PATH, b""), other, "max_tokens", 2)
    assert changed["generation_config"]["max_output_tokens"] == 2


def test_calls_without_ids_get_the_same_ones_in_the_reply_and_in_the_history() -> None:
    calls = CODEC.decode_reply(body(PLAIN)).tool_calls
    history = CODEC.continued(REQUEST, body(PLAIN), {})
    asked = CODEC.decode_request(HttpCall(PATH, body(history))).messages
    earlier = asked[2].tool_calls
    assert len({found.id for message in asked for found in message.tool_calls}) == 4
    assert asked[-1].tool_calls[0].id != earlier[0].id  # made a second time
    fresh = CODEC.continued({**REQUEST, "contents": []}, body(PLAIN), {})
    assert CODEC.decode_request(HttpCall(PATH, body(fresh))).messages[-1].tool_calls == calls


def test_results_are_matched_with_calls_by_name_and_order() -> None:
    first, second = (text for text in CODEC.texts(REQUEST) if text.role is Role.TOOL)
    ids = [found.id for found in read().messages[2].tool_calls]
    assert [first.call_id, second.call_id] == ids
    assert (first.tool, first.text, second.text) == ("get_weather", "rain", '{"temperature":3}')


def test_a_changed_text_leaves_the_rest_alone() -> None:
    path = ("system_instruction", "parts", 0, "text")
    before = json.dumps(REQUEST)
    changed = CODEC.with_texts(REQUEST, {path: "Be cruel."})
    assert json.dumps(changed) == before.replace("Be kind.", "Be cruel.")
    assert json.dumps(REQUEST) == before


def test_an_emptied_text_goes_with_its_part() -> None:
    texts = CODEC.texts(REQUEST)
    changed = CODEC.with_texts(REQUEST, {text.path: "" for text in texts})
    assert "system_instruction" not in changed
    assert changed["contents"][0]["parts"] == [IMAGE]
    results = [part["functionResponse"]["response"] for part in changed["contents"][2]["parts"]]
    assert results == [{"result": ""}, {"result": ""}]


def test_a_changed_result_is_json_where_it_was() -> None:
    _, found = (text.path for text in CODEC.texts(REQUEST) if text.role is Role.TOOL)
    for text, response in (
        ('{"temperature":9}', {"temperature": 9}),
        ('{"temper', {"result": '{"temper'}),
        ('{"temperature":3}', {"temperature": 3}),
    ):
        changed = CODEC.with_texts(REQUEST, {found: text})
        assert changed["contents"][2]["parts"][1]["functionResponse"]["response"] == response


def test_unchanged_tools_are_written_as_they_were() -> None:
    assert CODEC.with_tools(REQUEST, CODEC.tools(REQUEST)) == REQUEST


def test_a_changed_schema_is_written_in_its_own_style_in_what_differs() -> None:
    weather, now, search = CODEC.tools(REQUEST)
    assert weather.spec is not None
    schema = {**SCHEMA, "properties": {"city": {"type": "integer"}, "unit": {"type": "string"}}}
    spec = weather.spec.model_copy(update={"parameters": schema})
    changed = CODEC.with_tools(REQUEST, [OfferedTool(spec, weather.raw), now, search])
    written = {**GOOGLE_SCHEMA, "properties": {"city": {"type": "INTEGER"}, "unit": {"type": "STRING"}}}
    assert changed["tools"] == [
        {"functionDeclarations": [{**WEATHER, "parameters": written}, NOW]},
        {"googleSearch": {}},
    ]


def test_an_order_of_properties_does_not_outlive_them() -> None:
    properties = {
        "a": {"type": "STRING"},
        "b": {"type": "ARRAY", "items": {"type": "STRING"}, "min_items": "1"},
    }
    schema = {"type": "OBJECT", "properties": properties, "property_ordering": ["b", "a"]}
    asked = {"contents": [], "tools": [{"function_declarations": [{"name": "f", "parameters": schema}]}]}
    (tool,) = CODEC.tools(asked)
    assert tool.spec is not None
    listed = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    assert tool.spec.parameters == {"type": "object", "properties": {"a": {"type": "string"}, "b": listed}}
    assert CODEC.with_tools(asked, [tool]) == asked
    spec = tool.spec.model_copy(update={"parameters": {"type": "object", "properties": {"b": listed}}})
    (group,) = CODEC.with_tools(asked, [OfferedTool(spec, tool.raw)])["tools"]
    written = {"type": "OBJECT", "properties": {"b": properties["b"]}}
    assert group == {"function_declarations": [{"name": "f", "parameters": written}]}


def test_tools_are_removed_added_and_reordered() -> None:
    weather, now, search = CODEC.tools(REQUEST)
    decoy = {"name": "decoy", "description": "d", "parametersJsonSchema": SCHEMA}
    added = OfferedTool(ToolSpec(name="decoy", description="d", parameters=SCHEMA))
    changed = CODEC.with_tools(REQUEST, [now, added, search])
    assert changed["tools"] == [{"functionDeclarations": [NOW, decoy]}, {"googleSearch": {}}]
    assert "toolConfig" not in changed  # its only tool is gone
    assert CODEC.with_tools(REQUEST, [search])["tools"] == [{"googleSearch": {}}]
    assert CODEC.with_tools(REQUEST, []).keys() == REQUEST.keys() - {"tools", "toolConfig"}
    assert CODEC.with_tools({"contents": []}, [added])["tools"] == [{"functionDeclarations": [decoy]}]
    assert CODEC.with_tools(REQUEST, [weather, now])["tools"] == [{"functionDeclarations": [WEATHER, NOW]}]


def test_names_of_tools_are_changed_in_calls_results_and_choice() -> None:
    changed = CODEC.with_tool_names(REQUEST, renamed)
    text = json.dumps({**REQUEST, "tools": None}).replace("get_weather", "look_up")
    assert json.dumps({**changed, "tools": None}) == text
    assert changed["tools"] == REQUEST["tools"]


CONFIG = REQUEST["generationConfig"]


@pytest.mark.parametrize(
    ("name", "value", "config"),
    [
        ("temperature", 1.0, {"temperature": 1.0}),
        ("top_p", None, {"topP": None}),
        ("max_tokens", 5, {"maxOutputTokens": 5}),
        ("seed", None, {"seed": None}),
        ("stop", ("A",), {"stopSequences": ["A"]}),
        ("reasoning_effort", "low", {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}}),
        ("reasoning_effort", "none", {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 0}}),
        ("reasoning_effort", "max", {}),
        ("response_format", None, {"responseMimeType": None, "responseSchema": None}),
        ("response_format", {"type": "json_object"}, {"responseSchema": None}),
        ("response_format", {"type": "json_schema", "json_schema": {"schema": SCHEMA}}, {}),
    ],
)
def test_a_setting_is_written(name: str, value: Any, config: dict[str, Any]) -> None:
    path, changed = CODEC.with_setting(HttpCall(PATH, b""), REQUEST, name, value)
    assert path == PATH
    assert changed == {**REQUEST, "generationConfig": without_none({**CONFIG, **config})}


def test_another_model_is_another_path() -> None:
    call = HttpCall("/t/4/v1beta/models/gemini-x:streamGenerateContent?alt=sse", b"")
    path, changed = CODEC.with_setting(call, REQUEST, "name", "gemini-y")
    assert path == "/t/4/v1beta/models/gemini-y:streamGenerateContent?alt=sse"
    assert changed == REQUEST


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        (None, None),
        ("auto", {"mode": "AUTO"}),
        ("required", {"mode": "ANY"}),
        ({"type": "function", "function": {"name": "now"}}, {"mode": "ANY", "allowedFunctionNames": ["now"]}),
    ],
)
def test_a_tool_choice_is_written(choice: Any, config: Any) -> None:
    _, changed = CODEC.with_setting(HttpCall(PATH, b""), REQUEST, "tool_choice", choice)
    assert changed.get("toolConfig") == (config and {"functionCallingConfig": config})


def test_an_item_of_results_only_is_the_tools() -> None:
    assert CODEC.roles(REQUEST) == ("contents", [Role.USER, Role.ASSISTANT, Role.TOOL])
    assert CODEC.roles({"contents": {"parts": [{"text": "x"}]}}) == ("", ())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"contents": "hi"}, "contents: expected a list"),
        ({"contents": [{"role": "king", "parts": []}]}, r"contents\[0\].role"),
        ({"contents": [{"parts": [{"text": 1}]}]}, r"contents\[0\].parts\[0\].text: expected a string"),
        ({"tools": [{"functionDeclarations": [{}]}]}, r"tools\[0\]: a tool has no name"),
        ({"generationConfig": 1}, "generationConfig: expected an object"),
        ({"toolConfig": {"functionCallingConfig": 1}}, "functionCallingConfig: expected an object"),
    ],
)
def test_an_unreadable_request_names_the_place(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(**fields)
