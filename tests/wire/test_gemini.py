"""Bodies are written by hand as Google's reference shows them; the SDK reads what the codec writes."""

import json
import time
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
from agentmut.wire.dialects.gemini.gemini import Gemini
from agentmut.wire.dialects.gemini.gemini_stream import ArrayFraming
from tests.loopback import ANY_PATH, served

CODEC: Codec = Gemini()
PATH = "/v1beta/models/gemini-x:generateContent"
STREAM_PATH = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GOOGLE_SCHEMA = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
WEATHER = {"name": "get_weather", "description": "Weather", "parameters": GOOGLE_SCHEMA}
NOW = {"name": "now", "description": "The time", "parametersJsonSchema": {"type": "object", "properties": {}}}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aQ=="}}


def call(city: str, **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "get_weather", "args": {"city": city}}, **fields}


def result(**response: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "get_weather", "response": response}}


REQUEST: dict[str, Any] = {
    "system_instruction": {"parts": [{"text": "Be kind."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}, IMAGE]},
        {
            "role": "model",
            "parts": [{"text": "Hm.", "thought": True}, call("Bern", thoughtSignature="c2ln"), call("Oslo")],
        },
        {"role": "user", "parts": [result(result="rain"), result(temperature=3)]},
    ],
    "tools": [{"functionDeclarations": [WEATHER, NOW]}, {"googleSearch": {}}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}},
    "generationConfig": {
        "temperature": 0.5,
        "topP": 0.9,
        "maxOutputTokens": 99,
        "stopSequences": ["END"],
        "seed": 3,
        "responseMimeType": "application/json",
        "responseSchema": GOOGLE_SCHEMA,
        "thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True},
    },
    "safetySettings": [],
}
PARTS: list[dict[str, Any]] = [
    {"text": "Hm.", "thought": True},
    {"text": "One moment, please.", "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "get_weather", "args": {"city": "Bern"}}},
    {"functionCall": {"name": "get_weather", "args": {"city": "Bern"}}},
]
USAGE = {
    "promptTokenCount": 7,
    "toolUsePromptTokenCount": 1,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 2,
    "totalTokenCount": 15,
}
PLAIN = {
    "candidates": [{"content": {"parts": PARTS, "role": "model"}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": USAGE,
    "modelVersion": "gemini-x-001",
}


def chunk(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **fields}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 7},
        "modelVersion": "gemini-x-001",
    }


CHUNKS: list[dict[str, Any]] = [
    chunk({"text": "H", "thought": True}),
    chunk({"text": "m.", "thought": True}),
    chunk({"text": "One mom"}),
    chunk({"text": "ent, please."}),
    chunk(PARTS[2], PARTS[3]),
    {**chunk({"text": ""}, finishReason="STOP"), "usageMetadata": USAGE},
]


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


SSE = b"".join(b"data: %b\r\n\r\n" % body(found) for found in CHUNKS)
ARRAY = b"[" + b"\n,\r\n".join(json.dumps(found, indent=1).encode() for found in CHUNKS) + b"\n]\n"


def read(path: str = PATH, **fields: Any) -> ModelRequest:
    return CODEC.decode_request(HttpCall(path, body({**REQUEST, **fields})))


def renamed(name: str) -> str:
    return {"get_weather": "look_up"}.get(name, name)


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
