"""Translate inspect_ai's model requests and replies to chat completion bodies, and changed bodies back."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
    from inspect_ai.tool import ToolInfo

Asked = tuple["list[ChatMessage]", "list[ToolInfo]", Any, "GenerateConfig"]
"""The arguments of `ModelAPI.generate`: messages, tools, choice of a tool, settings."""
SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "seed": "seed",
    "stop_seqs": "stop",
    "reasoning_effort": "reasoning_effort",
}
"""inspect_ai's names of the settings that a body holds -> their keys in the body."""
_ENDED = {"tool_calls": "tool_calls", "max_tokens": "length", "content_filter": "content_filter"}


def as_body(
    model: str,
    messages: "list[ChatMessage]",
    tools: "list[ToolInfo]",
    _choice: Any,
    config: "GenerateConfig",
) -> dict[str, Any]:
    """Return the request's body."""
    body: dict[str, Any] = {"model": model, "messages": [_message(one) for one in messages]}
    if tools:
        body["tools"] = [_tool(one) for one in tools]
    told = {key: getattr(config, name) for name, key in SETTINGS.items()}
    return body | {key: value for key, value in told.items() if value is not None}


def as_asked(body: Mapping[str, Any], before: Asked) -> Asked:
    """Return the request for a body that may have been changed; unchanged parts stay the original objects."""
    messages, tools, choice, config = before
    return (
        list(_messages(body["messages"], messages)),
        list(_tools(body.get("tools") or (), tools)),
        choice,
        _settings(body, config),
    )


def as_reply(output: "ModelOutput") -> dict[str, Any]:
    """Return the reply's body."""
    choices = [
        {
            "index": place,
            "message": _message(choice.message),
            "finish_reason": _ENDED.get(choice.stop_reason, "stop"),
        }
        for place, choice in enumerate(output.choices)
    ]
    body: dict[str, Any] = {"object": "chat.completion", "model": output.model, "choices": choices}
    if output.usage is not None:
        used = output.usage
        asked = used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
        body["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": used.output_tokens,
            "total_tokens": asked + used.output_tokens,
        }
    return body


def as_output(reply: Mapping[str, Any], answered: "ModelOutput") -> "ModelOutput":
    """Return the model's output, with the messages of a changed reply."""
    choices = [
        choice.model_copy(update={"message": _changed(choice.message, told["message"])})
        for choice, told in zip(answered.choices, reply["choices"], strict=True)
    ]
    completion = choices[0].message.text if choices else ""
    return answered.model_copy(update={"choices": choices, "completion": completion})


def _message(message: "ChatMessage") -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.text}
    if calls := getattr(message, "tool_calls", None):
        written["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
            }
            for call in calls
        ]
    if message.role == "tool":
        written["tool_call_id"] = message.tool_call_id or ""
    return written


def _tool(tool: "ToolInfo") -> dict[str, Any]:
    parameters = tool.parameters.model_dump(mode="json", exclude_none=True)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _messages(messages: Any, before: "list[ChatMessage]") -> "Iterator[ChatMessage]":
    """Return the messages of a body, each made from the original message of its role at that place, if any."""
    left = list(before)
    for one in messages:
        same = next((old for old in left if _message(old) == one), None)
        near = same or next((old for old in left if old.role == one["role"]), None)
        if near is None:
            yield _new(one)
            continue
        if same is not None or len(messages) >= len(before):
            left.remove(near)
        yield near if same is not None else _changed(near, one)


def _new(message: Mapping[str, Any]) -> "ChatMessage":
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser

    kinds: dict[str, Any] = {
        "system": ChatMessageSystem,
        "developer": ChatMessageSystem,
        "user": ChatMessageUser,
        "tool": ChatMessageTool,
    }
    made: ChatMessage = _changed(kinds.get(message["role"], ChatMessageAssistant)(content=""), message)
    return made


def _changed(message: Any, body: Mapping[str, Any]) -> Any:
    """Return a message with the text and calls of a body. Parts other than text stay if the text does."""
    changed: dict[str, Any] = {}
    if (text := _text(body.get("content"))) != message.text:
        changed["content"] = text
    if body.get("tool_calls") or getattr(message, "tool_calls", None):
        changed["tool_calls"] = [_call(one) for one in body.get("tool_calls") or ()] or None
    if message.role == "tool":
        changed["tool_call_id"] = body.get("tool_call_id")
    return message.model_copy(update=changed)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""


def _call(call: Mapping[str, Any]) -> Any:
    from inspect_ai.tool import ToolCall

    function = call["function"]
    return ToolCall(
        id=call["id"], function=function["name"], arguments=json.loads(function.get("arguments") or "{}")
    )


def _tools(tools: Any, before: "list[ToolInfo]") -> "Iterator[ToolInfo]":
    from inspect_ai.tool import ToolInfo, ToolParams

    known = {json.dumps(_tool(one), sort_keys=True): one for one in before}
    for one in tools:
        function = one["function"]
        yield known.get(json.dumps(one, sort_keys=True)) or ToolInfo(
            name=function["name"],
            description=function.get("description") or "",
            parameters=ToolParams.model_validate(function.get("parameters") or {}),
        )


def _settings(body: Mapping[str, Any], before: "GenerateConfig") -> "GenerateConfig":
    told = {name: body.get(key) for name, key in SETTINGS.items()}
    changed = {name: value for name, value in told.items() if value != getattr(before, name)}
    if "max_completion_tokens" in body:
        changed["max_tokens"] = body["max_completion_tokens"]
    return before.model_copy(update=changed) if changed else before
