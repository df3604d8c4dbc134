"""Plain replies of Chat Completions, and the pieces that requests and streams share with them."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import Body, ModelReply, ToolCall, Usage
from agentmut.wire import bodies
from agentmut.wire.dialects.openai_codec import CREATED, read_content
from agentmut.wire.dialects.reading import TokenKeys, tokens

_TOKENS = TokenKeys(
    read=("prompt_tokens",),
    written=("completion_tokens",),
    cached=("prompt_tokens_details.cached_tokens",),
)


def decode(reply: Mapping[str, Any]) -> ModelReply:
    """Return a parsed reply in the normal form; of several alternatives, it takes the first."""
    choice = _first_choice(reply)
    message = bodies.mapping(choice.get("message"), "choices[0].message")
    return ModelReply(
        model=bodies.text(reply.get("model"), "model"),
        text=read_content(message.get("content"), "choices[0].message.content")
        or bodies.text(message.get("refusal"), "choices[0].message.refusal"),
        tool_calls=read_calls(message, "choices[0].message"),
        finish_reason=bodies.text(choice.get("finish_reason"), "finish_reason") or "stop",
        usage=tokens(reply.get("usage"), _TOKENS),
    )


def encode(reply: ModelReply, reply_id: str) -> Body:
    """Return a reply as the dialect writes it."""
    message: dict[str, JsonValue] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [write_call(call) for call in reply.tool_calls]
    choice: JsonValue = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return {
        **head(reply, reply_id, "chat.completion"),
        "choices": [choice],
        "usage": write_usage(reply.usage),
    }


def head(reply: ModelReply, reply_id: str, kind: str) -> dict[str, JsonValue]:
    """Return the fields that every body and chunk begins with."""
    return {"id": reply_id, "object": kind, "created": CREATED, "model": reply.model}


def read_calls(message: Mapping[str, Any], where: str) -> tuple[ToolCall, ...]:
    """Return the calls of an assistant's message, in today's form or the older one, where there is only one, without
    id.
    """
    if message.get("tool_calls") is None and message.get("function_call") is None:
        return ()
    where = f"{where}.tool_calls"
    calls = bodies.listing(message.get("tool_calls"), where)
    found = [_read_call(bodies.mapping(call, where), where) for call in calls]
    if message.get("function_call") is not None:
        found.append(_read_call({"function": message["function_call"]}, where))
    return tuple(found)


def write_call(call: ToolCall) -> JsonValue:
    """Return a tool call as the dialect writes it."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def write_usage(usage: Usage) -> JsonValue:
    """Return token counts as the dialect writes them."""
    written: Body = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total,
    }
    if usage.cached_tokens:
        written["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    return written


def _read_call(call: Mapping[str, Any], where: str) -> ToolCall:
    custom = bodies.mapping(call.get("custom") or {}, where)
    function = bodies.mapping(call.get("function") or custom, where)
    return ToolCall(
        id=bodies.text(call.get("id"), f"{where}.id"),
        name=bodies.name(function.get("name"), f"{where}.name"),
        arguments=bodies.text(function.get("arguments", function.get("input")), f"{where}.arguments"),
    )


def _first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    if reply.get("error") is not None:
        raise ValueError(f"the service answered with an error: {reply['error']!r:.200}")
    choices = bodies.listing(reply.get("choices"), "choices")
    if not choices:
        raise ValueError("choices: expected at least one, found none")
    return bodies.mapping(choices[0], "choices[0]")
