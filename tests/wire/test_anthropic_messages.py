"""Requests to Anthropic Messages: bodies are written by hand as the reference shows them."""

import json
from typing import Any

import pytest

from agentmut.nouns.codec import HttpCall, OfferedTool
from agentmut.nouns.messages import ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.wire.codecs import codec_for
from tests.wire.anthropic_bodies import CODEC, IMAGE, MARK, REQUEST, SCHEMA, SEARCH, body, renamed


def read(**fields: Any) -> ModelRequest:
    return CODEC.decode_request(HttpCall("/v1/messages", body({**REQUEST, **fields})))


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
