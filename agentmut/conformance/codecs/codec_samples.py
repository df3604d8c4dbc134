"""Requests and replies in the normal form that every codec is tried on, each under the name of what it is about."""

from collections.abc import Mapping
from typing import Any

from agentmut.nouns import Message, ModelReply, ModelRequest, Role, ToolCall, ToolSpec, Usage

WEATHER = ToolSpec(
    name="get_weather",
    description="Weather of a city.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city."},
            "days": {"type": "integer", "default": 1},
        },
        "required": ["city"],
    },
)
CLOCK = ToolSpec(name="now", description="The time.")
SYSTEM = Message(role=Role.SYSTEM, text="Be kind.\n\nNever guess.")
QUESTION = Message(role=Role.USER, text="Weather in Bern?")
CALL = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Bern"}')
OTHER_CALL = ToolCall(id="call_2", name="now", arguments="{}")


def result(call: ToolCall, text: str) -> Message:
    """Return the result of a call."""
    return Message(role=Role.TOOL, text=text, tool_call_id=call.id)


TALK = (
    SYSTEM,
    QUESTION,
    Message(role=Role.ASSISTANT, text="One moment.", tool_calls=(CALL,)),
    result(CALL, "rain"),
    Message(role=Role.ASSISTANT, text="It rains."),
    Message(role=Role.USER, text="And the time?"),
)
PARALLEL = (
    SYSTEM,
    QUESTION,
    Message(role=Role.ASSISTANT, tool_calls=(CALL, OTHER_CALL)),
    result(CALL, "rain"),
    result(OTHER_CALL, "noon"),
)
BASE = ModelRequest(model="model-1", messages=(SYSTEM, QUESTION), max_tokens=100)
WITH_TOOLS = BASE.model_copy(update={"messages": TALK, "tools": (WEATHER, CLOCK)})
ONE_TOOL: dict[str, Any] = {"type": "function", "function": {"name": "get_weather"}}
SCHEMA: dict[str, Any] = {"name": "answer", "schema": {"type": "object", "properties": {}}, "strict": True}

SETTINGS: Mapping[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.25,
    "max_tokens": 50,
    "seed": 3,
    "stop": ("END", "STOP"),
    "reasoning_effort": "high",
    "tool_choice": "required",
    "response_format": {"type": "json_object"},
}
"""A value of each setting that a codec may know, besides the model's name."""


def _changed(**fields: Any) -> ModelRequest:
    return BASE.model_copy(update=fields)


REQUESTS: Mapping[str, ModelRequest] = {
    "instructions and a question": BASE,
    "no instructions": _changed(messages=(QUESTION,)),
    "several instructions": _changed(
        messages=(SYSTEM, Message(role=Role.SYSTEM, text="Be brief."), QUESTION)
    ),
    "an odd text": _changed(
        messages=(SYSTEM, Message(role=Role.USER, text=' "\\u00e9"\r\n\té\u2028\U0001f600 '))
    ),
    "a call and its result": WITH_TOOLS,
    "parallel calls": WITH_TOOLS.model_copy(update={"messages": PARALLEL}),
    "stream": _changed(stream=True),
    "no max_tokens": _changed(max_tokens=None),
    "tool_choice of one tool": WITH_TOOLS.model_copy(update={"tool_choice": ONE_TOOL}),
    "tool_choice none": WITH_TOOLS.model_copy(update={"tool_choice": "none"}),
    "tool_choice auto": WITH_TOOLS.model_copy(update={"tool_choice": "auto"}),
    "response_format with a schema": _changed(response_format={"type": "json_schema", "json_schema": SCHEMA}),
    **{name: WITH_TOOLS.model_copy(update={name: value}) for name, value in SETTINGS.items()},
}

_USAGE = Usage(input_tokens=7, output_tokens=5)
REPLIES: Mapping[str, ModelReply] = {
    "a reply in words": ModelReply(model="model-1", text="It rains,\n and é\U0001f600 pours.", usage=_USAGE),
    "a reply that calls": ModelReply(
        model="model-1", text="A moment.", tool_calls=(CALL,), finish_reason="tool_calls", usage=_USAGE
    ),
    "a reply with parallel calls": ModelReply(
        model="model-1", tool_calls=(CALL, OTHER_CALL), finish_reason="tool_calls", usage=_USAGE
    ),
    "a reply that was cut short": ModelReply(
        model="model-1", text="It rai", finish_reason="length", usage=_USAGE
    ),
}
