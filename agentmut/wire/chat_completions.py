"""The OpenAI Chat Completions dialect: requests and replies, plain and streamed.

Only the parts that `agentmut.wire.messages` names are read; a request's other fields pass unseen.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agentmut.errors import UsageError
from agentmut.tools import ToolSpec, read_tool
from agentmut.wire import bodies, chat_stream
from agentmut.wire.codec import HttpCall
from agentmut.wire.messages import Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.wire.sse import is_event_stream, write_events

ROLES: Mapping[str, Role] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,  # the dialect's older name
}
ERROR_TYPES: Mapping[int, str] = {429: "rate_limit_error", 401: "authentication_error"}

_AS_GIVEN = ("temperature", "top_p", "seed", "tool_choice", "reasoning_effort", "response_format")


class ChatCompletions:
    """Codec of `POST .../chat/completions`, OpenAI's and everybody's who speaks it."""

    def matches(self, path: str) -> bool:
        """Whether a URL path is this dialect's, with any prefix, query or trailing slash.

        >>> ChatCompletions().matches("/t/42/v1/chat/completions?api-version=1")
        True
        >>> ChatCompletions().matches("/v1/completions")
        False
        """
        return path.partition("?")[0].rstrip("/").endswith("/chat/completions")

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        request = bodies.mapping(bodies.read_json(call.body), "the body")
        if not isinstance(request.get("messages"), list):
            raise ValueError("messages: expected a list, the conversation so far")
        return ModelRequest(
            model=bodies.name(request.get("model"), "model"),
            messages=tuple(_messages(request["messages"])),
            tools=tuple(_tools(bodies.listing(request.get("tools"), "tools"))),
            max_tokens=_max_tokens(request),
            stream=bool(request.get("stream")),
            stop=_stop(request.get("stop")),
            **{key: request.get(key) for key in _AS_GIVEN},
        )

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream.

        Raises `ValueError` for errors, streams that were cut off, and anything else unreadable.
        """
        if is_event_stream(body):
            return chat_stream.decode(body)
        reply = bodies.mapping(bodies.read_json(body), "the body")
        choice = _first_choice(reply)
        message = bodies.mapping(choice.get("message"), "choices[0].message")
        return ModelReply(
            model=bodies.text(reply.get("model"), "model"),
            text=_content(message.get("content"), "choices[0].message.content"),
            tool_calls=_tool_calls(message.get("tool_calls"), "choices[0].message.tool_calls"),
            finish_reason=bodies.text(choice.get("finish_reason"), "finish_reason") or "stop",
            usage=chat_stream.read_usage(reply.get("usage")),
        )

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        if stream:
            return write_events(chat_stream.chunks(reply, reply_id))
        message: dict[str, JsonValue] = {"role": "assistant", "content": reply.text or None}
        if reply.tool_calls:
            message["tool_calls"] = [chat_stream.write_call(call) for call in reply.tool_calls]
        choice: JsonValue = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
        head = chat_stream.head(reply, reply_id, "chat.completion")
        return bodies.write_json({**head, "choices": [choice], "usage": chat_stream.write_usage(reply.usage)})

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Write an error body as the service does."""
        kind = ERROR_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        return bodies.write_json({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _stop(value: Any) -> tuple[str, ...]:
    sequences = [value] if isinstance(value, str) else bodies.listing(value, "stop")
    return tuple(bodies.text(sequence, "stop") for sequence in sequences)


def _messages(messages: Iterable[Any]) -> Iterator[Message]:
    for index, found in enumerate(messages):
        where = f"messages[{index}]"
        message = bodies.mapping(found, where)
        yield Message(
            role=_role(message.get("role"), f"{where}.role"),
            text=_content(message.get("content"), f"{where}.content"),
            tool_calls=_tool_calls(message.get("tool_calls"), f"{where}.tool_calls"),
            tool_call_id=message.get("tool_call_id"),
        )


def _role(role: Any, where: str) -> Role:
    found = ROLES.get(role) if isinstance(role, str) else None
    if found is None:
        raise ValueError(f"{where}: expected one of {', '.join(ROLES)}, found {role!r:.80}")
    return found


def _content(content: Any, where: str) -> str:
    """Text of a string or of a list of blocks; blocks without text (images, audio) are left out."""
    if not isinstance(content, list):
        return bodies.text(content, where)
    blocks = [bodies.mapping(block, where) for block in content]
    texts = (block.get("text", block.get("refusal")) for block in blocks)
    return "\n".join(bodies.text(found, where) for found in texts if found is not None)


def _tool_calls(calls: Any, where: str) -> tuple[ToolCall, ...]:
    return tuple(_tool_call(bodies.mapping(call, where), where) for call in bodies.listing(calls, where))


def _tool_call(call: Mapping[str, Any], where: str) -> ToolCall:
    custom = bodies.mapping(call.get("custom") or {}, where)
    function = bodies.mapping(call.get("function") or custom, where)
    return ToolCall(
        id=bodies.text(call.get("id"), f"{where}.id"),
        name=bodies.name(function.get("name"), f"{where}.name"),
        arguments=bodies.text(function.get("arguments", function.get("input")), f"{where}.arguments"),
    )


def _tools(tools: Iterable[Any]) -> Iterator[ToolSpec]:
    for index, found in enumerate(tools):
        where = f"tools[{index}]"
        tool = bodies.mapping(found, where)
        kind = tool.get("type", "function")
        if kind not in ("function", "custom"):
            raise ValueError(f"{where}.type: expected 'function' or 'custom', found {kind!r:.80}")
        try:
            yield read_tool(bodies.mapping(tool.get(kind), f"{where}.{kind}"))
        except (UsageError, TypeError) as error:
            raise ValueError(f"{where}: {error}") from None


def _max_tokens(request: Mapping[str, Any]) -> Any:
    newer = request.get("max_completion_tokens")
    return request.get("max_tokens") if newer is None else newer


def _first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    if "error" in reply:
        raise ValueError(f"the service answered with an error: {reply['error']!r:.200}")
    choices = bodies.listing(reply.get("choices"), "choices")
    if not choices:
        raise ValueError("choices: expected at least one, found none")
    return bodies.mapping(choices[0], "choices[0]")
