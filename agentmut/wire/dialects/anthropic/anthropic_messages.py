"""The Anthropic Messages dialect: requests and replies, plain and streamed."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut.nouns import (
    Body,
    Framing,
    HttpCall,
    ModelReply,
    ModelRequest,
    OfferedTool,
    Path,
    Rename,
    Role,
    Text,
    ToolSpec,
    Usage,
)
from agentmut.wire import bodies
from agentmut.wire.dialects import block_conversation, edits
from agentmut.wire.dialects.anthropic import anthropic_blocks, anthropic_settings, anthropic_stream
from agentmut.wire.dialects.offers import is_among, read_spec, removed_names, unchanged, with_spec
from agentmut.wire.dialects.places import places, renamed, without
from agentmut.wire.dialects.reading import TokenKeys, tokens
from agentmut.wire.dialects.sse import MEDIA_TYPE, SseFraming, is_event_stream

FINISH: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""Why a reply ended, in the terms of Chat Completions; other reasons keep their name."""
STOP_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
ERROR_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_REQUEST_NAMES = ("messages.*.content.*.name", "messages.*.content.*.content.*.tool_name")
_REPLY_NAMES = ("content.*.name", "message.content.*.name", "content_block.name")
_TOKENS = TokenKeys(
    read=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    written=("output_tokens",),
    cached=("cache_read_input_tokens",),
    cache_written=("cache_creation_input_tokens",),
)
"""What is written to and read from the prompt cache is input too."""


class AnthropicMessages:
    """Codec of `POST .../v1/messages`."""

    name: ClassVar[str] = "anthropic_messages"

    def matches(self, path: str) -> bool:
        """Return whether a URL path belongs to this dialect; paths of token counts and batches do not.

        Other services have messages too (MCP, threads, chats), so that the version must stand before them.

        >>> AnthropicMessages().matches("/t/42/v1/messages?beta=true")
        True
        >>> AnthropicMessages().matches("/v1/messages/count_tokens")
        False
        >>> AnthropicMessages().matches("/v1/threads/7/messages")
        False
        """
        return path.partition("?")[0].rstrip("/").endswith("/v1/messages")

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        body = bodies.read_call(call)
        if not isinstance(body.get("messages"), list):
            raise ValueError("messages: expected a list, the conversation so far")
        return ModelRequest(
            messages=tuple(block_conversation.messages(anthropic_blocks.read(body))),
            tools=tuple(tool.spec for tool in self.tools(body) if tool.spec),
            stream=bool(body.get("stream")),
            **anthropic_settings.read(body),
        )

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream. Raises `ValueError` for errors and what was cut off."""
        reply = _plain_form(body)
        blocks = [bodies.mapping(b, "content[]") for b in bodies.listing(reply.get("content"), "content")]
        texts = (block.get("text") for block in blocks if block.get("type") == "text")
        reason = bodies.text(reply.get("stop_reason"), "stop_reason")
        return ModelReply(
            model=bodies.text(reply.get("model"), "model"),
            text="".join(bodies.text(text, "content[].text") for text in texts),
            tool_calls=tuple(
                anthropic_blocks.call_of(block, ("content",))
                for block in blocks
                if block.get("type") == "tool_use"
            ),
            finish_reason=FINISH.get(reason, reason) or "stop",
            usage=tokens(reply.get("usage"), _TOKENS),
        )

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Return a request's call. The service requires `max_tokens`, and has no seed."""
        body = {**anthropic_settings.written(request), **anthropic_blocks.written(request.messages)}
        if request.tools:
            body["tools"] = [_entry(spec) for spec in request.tools]
        if request.stream:
            body["stream"] = True
        return HttpCall("/v1/messages", bodies.write_json(body))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        message: Body = {
            "id": reply_id,
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": list(anthropic_blocks.answer_blocks(reply.text, reply.tool_calls)),
            "stop_reason": STOP_REASONS.get(reply.finish_reason, reply.finish_reason),
            "stop_sequence": None,
            "usage": _written_usage(reply.usage),
        }
        return anthropic_stream.write(message) if stream else bodies.write_json(message)

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body in the service's form, which has no error code."""
        kind = ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return bodies.write_json({"type": "error", "error": {"type": kind, "message": message}})

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        return SseFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """List instructions, messages and results of tools; signed thinking is left out."""
        return block_conversation.texts(anthropic_blocks.read(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts. Empty blocks are removed, as the service refuses them, but results stay."""
        results = [path for path in texts if anthropic_blocks.is_result(body, path)]
        return edits.with_texts(body, texts, results, "messages")

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return the tools on offer; the service's own tools (web search, bash) and toolsets have no spec."""
        return [
            OfferedTool(_spec(bodies.mapping(tool, f"tools[{i}]"), i), tool)
            for i, tool in enumerate(bodies.listing(body.get("tools"), "tools"))
        ]

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer; without tools, it has no tool choice either."""
        before = self.tools(body)
        if unchanged(before, tools):
            return body
        if not tools:
            return without(body, "tools", "tool_choice")
        gone = removed_names(before, tools)
        chosen = body.get("tool_choice")
        if isinstance(chosen, dict) and is_among(chosen.get("name"), gone):  # services refuse such a choice
            body = without(body, "tool_choice")
        return {**body, "tools": [_written(tool) for tool in tools]}

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with renamed tools in the conversation and the tool choice."""
        names = [*anthropic_blocks.names(body, _REQUEST_NAMES), *places(body, "tool_choice.name")]
        fresh: Body = renamed(body, names, rename)
        return fresh

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with a setting as given; the service knows no seed, and efforts from low upwards."""
        return call.path, anthropic_settings.with_setting(body, name, value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the conversation's list, and the role of each item."""
        return block_conversation.roles(body, "messages", anthropic_blocks.read)

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the request body that continues after a reply, with its thinking and signatures."""
        answers = [anthropic_blocks.result(*found) for found in results.items()]
        return block_conversation.continued(body, _plain_form(reply).get("content"), answers)

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a message, or an event that starts a message or a block, with renamed tools."""
        return renamed(value, anthropic_blocks.names(value, _REPLY_NAMES), rename)


def _written_usage(usage: Usage) -> Body:
    """Return token counts in the dialect's form, where uncached input is counted apart."""
    plain = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
    told: Body = {"input_tokens": plain, "output_tokens": usage.output_tokens}
    if usage.cached_tokens or usage.cache_written_tokens:
        told["cache_read_input_tokens"] = usage.cached_tokens
        told["cache_creation_input_tokens"] = usage.cache_written_tokens
    return told


def _plain_form(reply: bytes) -> Body:
    """Return a reply in the service's plain form."""
    if is_event_stream(reply):
        return anthropic_stream.read(reply)
    found = bodies.read_object(reply)
    if found.get("type") == "error" or "error" in found:
        raise ValueError(f"the service answered with an error: {found.get('error')!r:.200}")
    if not isinstance(found.get("content"), list):
        raise ValueError("content: expected a list, the blocks of the reply")
    return found


def _spec(tool: Mapping[str, Any], index: int) -> ToolSpec | None:
    own = tool.get("type") in (None, "custom")
    return read_spec(tool, f"tools[{index}]") if own else None


def _entry(spec: ToolSpec) -> dict[str, JsonValue]:
    described: dict[str, JsonValue] = {"description": spec.description} if spec.description else {}
    return {"name": spec.name, **described, "input_schema": spec.parameters}


def _written(tool: OfferedTool) -> Any:
    if tool.spec is None:
        return tool.raw
    if tool.raw is None:
        return _entry(tool.spec)
    return with_spec(tool.raw, tool.spec, "input_schema")
