"""The Bedrock Converse dialect: `Converse` and `ConverseStream`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote, unquote

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
from agentmut.wire.dialects.aws_event_stream import MEDIA_TYPE, EventStreamFraming, is_event_stream
from agentmut.wire.dialects.converse import converse_blocks, converse_settings, converse_stream
from agentmut.wire.dialects.offers import read_spec, removed_names, unchanged, with_spec
from agentmut.wire.dialects.places import places, renamed, same, without
from agentmut.wire.dialects.reading import TokenKeys, tokens

FINISH: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
"""Why a reply ended, in the terms of Chat Completions; other reasons keep their name."""
STOP_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filtered",
}
ERROR_TYPES: Mapping[int, str] = {
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}
_PATH = re.compile(
    r"(?=.*/converse(?:-stream)?/?\Z)(?P<before>.*/model/)(?P<model>.+)(?P<verb>/converse(?P<stream>-stream)?)/?"
)
_TOKENS = TokenKeys(
    read=("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    written=("outputTokens",),
    cached=("cacheReadInputTokens",),
    cache_written=("cacheWriteInputTokens",),
)
"""What is written to and read from the prompt cache is input too."""
_REQUEST_NAMES = ("messages.*.content.*.toolUse.name", "toolConfig.toolChoice.tool.name")
_REPLY_NAMES = ("output.message.content.*.toolUse.name", "start.toolUse.name")


class Converse:
    """Codec of `POST /model/<id>/converse` and `/model/<id>/converse-stream`."""

    name: ClassVar[str] = "converse"

    def matches(self, path: str) -> bool:
        """Return whether a URL path is this dialect's.

        >>> Converse().matches("/t/42/model/anthropic.claude-x%3A0/converse-stream")
        True
        >>> Converse().matches("/model/anthropic.claude-x%3A0/invoke")
        False
        """
        return _PATH.fullmatch(path.partition("?")[0]) is not None

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request. Raises `ValueError` naming the field that cannot be read."""
        body = bodies.read_call(call)
        if not isinstance(body.get("messages"), list):
            raise ValueError("messages: expected a list, the conversation so far")
        path = _PATH.fullmatch(call.path.partition("?")[0])
        if path is None:
            raise ValueError(f"the path names no model: {call.path:.200}")
        return ModelRequest(
            model=unquote(path["model"]),
            messages=tuple(block_conversation.messages(converse_blocks.read(body))),
            tools=tuple(tool.spec for tool in self.tools(body) if tool.spec),
            stream=path["stream"] is not None,
            **converse_settings.read(body),
        )

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply, plain or a complete stream. Raises `ValueError` for errors and what was cut off.

        The service does not say which model answered, unless it has chosen it.
        """
        reply = _plain_form(body)
        content = _content(reply)
        reason = bodies.text(reply.get("stopReason"), "stopReason")
        return ModelReply(
            model=_chosen_model(reply),
            text=converse_blocks.reply_text(content, ("output", "message", "content")),
            tool_calls=tuple(converse_blocks.calls_of(content, ("output", "message", "content"))),
            finish_reason=FINISH.get(reason, reason) or "stop",
            usage=tokens(reply.get("usage"), _TOKENS),
        )

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Return a request's call. The dialect has no seed, and cannot forbid tool calls."""
        body = {
            **converse_blocks.written(request.messages),
            **edits.settings_of(request, converse_settings.with_setting),
        }
        if request.tools:
            tools = [_entry(spec) for spec in request.tools]
            body["toolConfig"] = {"tools": tools, **body.get("toolConfig", {})}
        verb = "converse-stream" if request.stream else "converse"
        return HttpCall(f"/model/{quote(request.model, safe='')}/{verb}", bodies.write_json(body))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Return a reply; with `stream`, all its frames.

        It has no place for model and id.
        """
        content = list(converse_blocks.answer_blocks(reply.text, reply.tool_calls))
        response: Body = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": STOP_REASONS.get(reply.finish_reason, reply.finish_reason),
            "usage": _written_usage(reply.usage),
            "metrics": {"latencyMs": 0},
        }
        return converse_stream.write(response) if stream else bodies.write_json(response)

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body in the service's form, which has no error code."""
        kind = "InternalServerException" if status >= 500 else "ValidationException"
        return bodies.write_json({"__type": ERROR_TYPES.get(status, kind), "message": message})

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        return EventStreamFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """List instructions, messages and results of tools as text or JSON; signed reasoning is left out."""
        return block_conversation.texts(converse_blocks.read(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts. Empty blocks are removed, as the service refuses them, but results stay."""
        as_json = {path: text for path, text in texts.items() if path[-1] == "json" and text}
        others = {path: text for path, text in texts.items() if path not in as_json}
        results = [path for path in others if "toolResult" in path]
        fresh = edits.with_texts(converse_blocks.with_json(body, as_json), others, results, "messages")
        return converse_blocks.without_lone_marks(fresh) if "" in others.values() else fresh

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return the tools on offer; the service's own tools and cache points have no spec."""
        config = bodies.mapping(body.get("toolConfig") or {}, "toolConfig")
        return [
            OfferedTool(_spec(bodies.mapping(entry, f"toolConfig.tools[{i}]"), i), entry)
            for i, entry in enumerate(bodies.listing(config.get("tools"), "toolConfig.tools"))
        ]

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer; without tools, it has no tool settings either."""
        before = self.tools(body)
        if unchanged(before, tools):
            return body
        entries = [_written(tool) for tool in tools]
        if all("cachePoint" in entry for entry in entries):
            return without(body, "toolConfig")
        if converse_settings.chosen(body) in removed_names(before, tools):
            body = converse_settings.without_choice(body)  # services refuse it
        return {**body, "toolConfig": {**(body.get("toolConfig") or {}), "tools": entries}}

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with renamed tools in the conversation and the tool choice."""
        fresh: Body = renamed(body, converse_blocks.names(body, _REQUEST_NAMES), rename)
        return fresh

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting changed; the model is part of the path."""
        if name != "name":
            return call.path, converse_settings.with_setting(body, name, value)
        return (_with_model(call.path, value) if value else call.path), body

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the conversation's list, and the role of each item."""
        return block_conversation.roles(body, "messages", converse_blocks.read)

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the request body that continues after a reply, with its reasoning and signatures."""
        answers = [converse_blocks.result(*found) for found in results.items()]
        return block_conversation.continued(body, _content(_plain_form(reply)), answers)

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a response, or the event that starts a call, with renamed tools."""
        return renamed(value, converse_blocks.names(value, _REPLY_NAMES), rename)


def _with_model(path: str, model: str) -> str:
    place, mark, query = path.partition("?")
    found = _PATH.fullmatch(place)
    if found is None or unquote(found["model"]) == model:
        return path
    return f"{found['before']}{quote(model, safe='')}{place[found.end('model') :]}{mark}{query}"


def _written_usage(usage: Usage) -> Body:
    """Return token counts in the dialect's form, where uncached input is counted apart."""
    plain = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
    told: Body = {"inputTokens": plain, "outputTokens": usage.output_tokens, "totalTokens": usage.total}
    if usage.cached_tokens or usage.cache_written_tokens:
        told["cacheReadInputTokens"] = usage.cached_tokens
        told["cacheWriteInputTokens"] = usage.cache_written_tokens
    return told


def _plain_form(reply: bytes) -> Body:
    """Return a reply in the service's plain form."""
    if is_event_stream(reply):
        return converse_stream.read(reply)
    found = bodies.read_object(reply)
    if "output" not in found:
        raise ValueError(f"the service answered with an error: {found.get('message')!r:.200}")
    return found


def _content(reply: Body) -> list[Any]:
    message = bodies.mapping(bodies.mapping(reply["output"], "output").get("message"), "output.message")
    return bodies.listing(message.get("content"), "output.message.content")


def _chosen_model(reply: Body) -> str:
    found = next(places(reply, "trace.promptRouter.invokedModelId"), None)
    return "" if found is None else bodies.text(reply["trace"]["promptRouter"]["invokedModelId"], "trace")


def _spec(entry: Mapping[str, Any], index: int) -> ToolSpec | None:
    if "toolSpec" not in entry:
        return None
    where = f"toolConfig.tools[{index}].toolSpec"
    tool = bodies.mapping(entry["toolSpec"], where)
    schema = bodies.mapping(tool.get("inputSchema") or {}, f"{where}.inputSchema").get("json")
    plain = {key: value for key, value in tool.items() if key != "inputSchema"}
    return read_spec({**plain, "parameters": schema}, where)


def _entry(spec: ToolSpec) -> Body:
    described = {"description": spec.description} if spec.description else {}
    return {"toolSpec": {"name": spec.name, **described, "inputSchema": {"json": spec.parameters}}}


def _written(tool: OfferedTool) -> Any:
    if tool.spec is None:
        return tool.raw
    if tool.raw is None:
        return _entry(tool.spec)
    was = _spec(tool.raw, 0)
    fresh = with_spec(tool.raw["toolSpec"], tool.spec, None)
    if was is None or not same(was.parameters, tool.spec.parameters):
        fresh["inputSchema"] = {"json": tool.spec.parameters}
    return {**tool.raw, "toolSpec": fresh}
