"""Requests come from outside: whatever they hold, there is a reply, and a conversation ends."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.messages import Message, ModelRequest, Role, ToolCall
from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.mind.behave import reply

WORDS = [
    "if",
    "unless", "never", "before", "after", "only", "first", "then", "instead of", "or", "and", "the lamp",
    "a bulb",
    "change", "tell", "L-12", "30", "days", "more than", ",", ".", ";", ":", '"', "JSON", "keys", "`a`",
    "say",
    "under", "words", "\n", "- ", "# ", "ask for", "offer", "thank", "?", "<document>", "é", "{}",
]  # fmt: skip
prose = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYWORDS = [
    "type",
    "enum",
    "description",
    "pattern",
    "minimum",
    "items",
    "anyOf",
    "format",
    "examples",
    "default",
]
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "array", "object"])
slots = st.dictionaries(st.sampled_from(KEYWORDS), json_values | TYPES, max_size=4) | json_values
names = st.sampled_from(["lamp", "lamp_id", "email", "date", "reason", "watts", ""])
schemas = st.dictionaries(
    st.sampled_from(["properties", "required", "type"]),
    st.dictionaries(names, slots, max_size=3) | st.lists(names, max_size=2) | json_values,
)
tools = st.builds(
    ToolSpec,
    name=st.sampled_from(["change_bulb", "lamp", "x.y", "readLamp"]),
    description=prose,
    parameters=schemas,
)
requests = st.builds(
    lambda system, said, offered, choice, form: ModelRequest(
        model="sim-small",
        messages=(
            Message(role=Role.SYSTEM, text=system),
            *(Message(role=Role.USER, text=text) for text in said),
        ),
        tools=tuple(offered),
        tool_choice=choice,
        response_format=form,
    ),
    prose,
    st.lists(prose, max_size=3),
    st.lists(tools, max_size=3),
    json_values | st.just("required"),
    json_values | st.just({"type": "json_object"}),
)


@settings(max_examples=250, deadline=None)
@given(requests, st.text(max_size=30) | json_values.map(json.dumps))
def test_every_conversation_ends_in_an_answer(request_: ModelRequest, result: str) -> None:
    current = request_
    for _ in range(10):
        answer = reply(current, seed=1)
        if not answer.tool_calls:
            return
        current = _continued(current, answer.text, answer.tool_calls, result)
    raise AssertionError(f"still calling tools: {current.messages}")


def _continued(request: ModelRequest, text: str, calls: tuple[ToolCall, ...], result: str) -> ModelRequest:
    said = Message(role=Role.ASSISTANT, text=text, tool_calls=calls)
    results: list[Any] = [Message(role=Role.TOOL, text=result, tool_call_id=call.id) for call in calls]
    return request.model_copy(update={"messages": (*request.messages, said, *results)})
