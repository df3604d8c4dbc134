"""Requests of Chat Completions, read into the normal form and written from it."""

import marshal
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from agentmut.nouns import Body, Message, ModelRequest, OfferedTool, Role, ToolSpec
from agentmut.wire import bodies
from agentmut.wire.dialects.chat.chat_replies import read_calls, write_call
from agentmut.wire.dialects.offers import read_spec
from agentmut.wire.dialects.openai_codec import read_content

ROLES: Mapping[str, Role] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,  # the dialect's older name
}
AS_GIVEN = ("temperature", "top_p", "seed", "tool_choice", "reasoning_effort", "response_format")
"""Settings that the dialect and the normal form say alike."""
KINDS = ("function", "custom")
_PLAIN = 2
"""The version of marshal that writes equal values as equal bytes; it takes a tenth of the time of JSON."""


def decode(request: Mapping[str, Any]) -> ModelRequest:
    """Return a parsed body in the normal form. Raises `ValueError` naming the field that cannot be read."""
    messages = conversation(request)
    return ModelRequest(
        model=bodies.name(request.get("model"), "model"),
        messages=tuple(_messages(messages)),
        tools=_specs(marshal.dumps([request.get("tools"), request.get("functions")], _PLAIN)),
        max_tokens=_max_tokens(request),
        stream=bool(request.get("stream")),
        stop=_stop(request.get("stop")),
        **{key: request.get(key) for key in AS_GIVEN},
    )


def encode(request: ModelRequest) -> Body:
    """Return a request in the dialect's form; settings left to the service are omitted."""
    body: Body = {"model": request.model, "messages": [_written(message) for message in request.messages]}
    if request.tools:
        body["tools"] = [tool.to_openai() for tool in request.tools]
    settings = {key: getattr(request, key) for key in AS_GIVEN}
    settings["max_completion_tokens"] = request.max_tokens
    settings["stop"] = list(request.stop) or None
    settings["stream"] = request.stream or None
    return {**body, **{key: value for key, value in settings.items() if value is not None}}


def conversation(request: Mapping[str, Any]) -> list[Any]:
    """Return the raw messages."""
    messages = request.get("messages")
    if not isinstance(messages, list):
        raise ValueError("messages: expected a list, the conversation so far")
    return messages


def offers(request: Mapping[str, Any]) -> list[tuple[str, OfferedTool]]:
    """Return the tools on offer, also those in the older list `functions`, with their places."""
    return [
        (f"{key}[{index}]", _offered(entry, f"{key}[{index}]", older=key == "functions"))
        for key in ("tools", "functions")
        for index, entry in enumerate(bodies.listing(request.get(key), key))
    ]


@lru_cache(maxsize=256)  # an agent offers the same tools in all its requests
def _specs(both_lists: bytes) -> tuple[ToolSpec, ...]:
    tools, functions = marshal.loads(both_lists)
    return tuple(tool.spec for _, tool in offers({"tools": tools, "functions": functions}) if tool.spec)


def role_of(message: Mapping[str, Any], where: str) -> Role:
    """Return the role of a raw message."""
    role = message.get("role")
    known = ROLES.get(role) if isinstance(role, str) else None
    return known or bodies.one_of(role, ROLES, f"{where}.role")


def _offered(entry: Any, where: str, *, older: bool) -> OfferedTool:
    tool = bodies.mapping(entry, where)
    kind = tool.get("type", "function")
    if older:
        return OfferedTool(read_spec(tool, where), entry)
    if kind not in KINDS:
        return OfferedTool(None, entry)
    return OfferedTool(read_spec(bodies.mapping(tool.get(kind), f"{where}.{kind}"), where), entry)


def _messages(messages: Iterable[Any]) -> Iterator[Message]:
    for index, found in enumerate(messages):
        where = f"messages[{index}]"
        message = bodies.mapping(found, where)
        yield Message(
            role=role_of(message, where),
            text=read_content(message.get("content"), f"{where}.content"),
            tool_calls=read_calls(message, where),
            tool_call_id=message.get("tool_call_id"),
        )


def _written(message: Message) -> Body:
    written: Body = {"role": message.role.value, "content": message.text}
    if message.tool_calls:
        written["content"] = message.text or None
        written["tool_calls"] = [write_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written


def _max_tokens(request: Mapping[str, Any]) -> Any:
    newer = request.get("max_completion_tokens")
    return request.get("max_tokens") if newer is None else newer


def _stop(value: Any) -> tuple[str, ...]:
    sequences = [value] if isinstance(value, str) else bodies.listing(value, "stop")
    return tuple(bodies.text(sequence, "stop") for sequence in sequences)
