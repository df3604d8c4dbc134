"""The Gemini dialect: `generateContent` and `streamGenerateContent`, of Google AI and Vertex."""

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
    ToolCall,
    Usage,
)
from agentmut.wire import bodies
from agentmut.wire.dialects import block_conversation, edits
from agentmut.wire.dialects.gemini import gemini_contents, gemini_settings, gemini_stream, gemini_tools
from agentmut.wire.dialects.gemini.spelling import get, spelled
from agentmut.wire.dialects.offers import removed_names, unchanged
from agentmut.wire.dialects.places import places, renamed, without
from agentmut.wire.dialects.sse import MEDIA_TYPE

PLAIN, STREAMED = "generateContent", "streamGenerateContent"
FINISH: Mapping[str, str] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}
"""Why a reply ended, in the terms of Chat Completions; other reasons keep their name, in lower case."""
FINISH_REASONS: Mapping[str, str] = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}
ERROR_STATUS: Mapping[int, str] = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_REQUEST_NAMES = (
    *spelled("contents.*.parts.*.functionCall.name"),
    *spelled("contents.*.parts.*.functionResponse.name"),
    *spelled("toolConfig.functionCallingConfig.allowedFunctionNames.*"),
)
_REPLY_NAMES = tuple(spelled("candidates.*.content.parts.*.functionCall.name"))


class Gemini:
    """Codec of `POST .../models/<model>:generateContent` and its stream."""

    name: ClassVar[str] = "gemini"

    def matches(self, path: str) -> bool:
        """Return whether a URL path is this dialect's.

        >>> Gemini().matches("/v1beta/models/gemini-x:streamGenerateContent?alt=sse")
        True
        >>> Gemini().matches("/v1beta/models/gemini-x:countTokens")
        False
        """
        return _last(path)[2] in (PLAIN, STREAMED)

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request. Raises `ValueError` naming the field that cannot be read."""
        body = bodies.read_call(call)
        if not isinstance(body.get("contents"), list | dict):
            raise ValueError("contents: expected a list, the conversation so far")
        _, model, verb = _last(call.path)
        return ModelRequest(
            model=bodies.name(model, "the model in the path"),
            messages=tuple(block_conversation.messages(gemini_contents.read(body))),
            tools=tuple(tool.spec for tool in self.tools(body) if tool.spec),
            stream=verb == STREAMED,
            **gemini_settings.read(body),
        )

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply, plain or a complete stream. Raises `ValueError` for errors and what was cut off."""
        reply = _plain_form(body)
        texts, calls = _texts_and_calls(reply)
        reason = bodies.text(get(gemini_stream.candidate_of(reply), "finishReason"), "finishReason")
        finish = FINISH.get(reason, reason.lower()) or "stop"
        return ModelReply(
            model=bodies.text(get(reply, "modelVersion"), "modelVersion"),
            text="".join(texts),
            tool_calls=tuple(calls),
            finish_reason="tool_calls" if calls and finish == "stop" else finish,
            usage=_usage(get(reply, "usageMetadata")),
        )

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request."""
        verb = f"{STREAMED}?alt=sse" if request.stream else PLAIN
        body = {
            **gemini_contents.written(request.messages),
            **edits.settings_of(request, gemini_settings.with_setting),
        }
        if request.tools:
            body = gemini_tools.with_tools(body, [OfferedTool(spec) for spec in request.tools])
        return HttpCall(f"/v1beta/models/{quote(request.model, safe='')}:{verb}", bodies.write_json(body))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Return a reply; with `stream`, all its events."""
        content = {"parts": list(gemini_contents.answer_parts(reply.text, reply.tool_calls)), "role": "model"}
        reason = FINISH_REASONS.get(reply.finish_reason, reply.finish_reason.upper())
        response: Body = {
            "candidates": [{"content": content, "finishReason": reason, "index": 0}],
            "usageMetadata": {
                "promptTokenCount": reply.usage.input_tokens,
                "candidatesTokenCount": reply.usage.output_tokens,
                "totalTokenCount": reply.usage.total,
                **({"cachedContentTokenCount": cached} if (cached := reply.usage.cached_tokens) else {}),
            },
            "modelVersion": reply.model,
            "responseId": reply_id,
        }
        return gemini_stream.write(response) if stream else bodies.write_json(response)

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body in the service's form, whose code is the status."""
        said = ERROR_STATUS.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
        return bodies.write_json({"error": {"code": status, "message": message, "status": said}})

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply: events, or an array if the request asked for no events."""
        return gemini_stream.GeminiFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """List instructions, messages and results of tools as text or JSON; thoughts are left out."""
        return block_conversation.texts(gemini_contents.read(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts; empty parts go, but results stay."""
        results = {path for path in texts if "functionResponse" in path or "function_response" in path}
        answered = gemini_contents.with_results(body, {p: t for p, t in texts.items() if p in results})
        return edits.with_texts(
            answered, {p: t for p, t in texts.items() if p not in results}, (), "contents"
        )

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return the tools on offer; a group of declarations counts as its declarations."""
        return list(gemini_tools.offered(body))

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer; without tools, it has no tool choice either."""
        before = self.tools(body)
        if unchanged(before, tools):
            return body
        if not tools:
            return gemini_settings.without_choice(without(body, "tools"))
        gone = removed_names(before, tools)
        return gemini_settings.without_names(gemini_tools.with_tools(body, tools), gone)

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with renamed tools in the conversation and the tool choice."""
        fresh: Body = renamed(
            body, [path for names in _REQUEST_NAMES for path in places(body, names)], rename
        )
        return fresh

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting changed; the model is part of the path."""
        if name != "name":
            return call.path, gemini_settings.with_setting(body, name, value)
        return (_with_model(call.path, value) if value else call.path), body

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the conversation's list, and the role of each item."""
        return block_conversation.roles(body, "contents", gemini_contents.read)

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the request body that continues after a reply, with its thoughts and signatures."""
        found = _plain_form(reply)
        content = gemini_stream.candidate_of(found).get("content") or {"parts": []}
        before = body.get("contents")
        before = [before] if isinstance(before, dict) else bodies.listing(before, "contents")
        answers = [
            gemini_contents.result(call.name, results[call.id], call.id if own_id else None)
            for call, own_id in _calls(found)
            if call.id in results
        ]
        items = [{"role": "user", "parts": answers}] if answers else []
        return {**body, "contents": [*before, {**content, "role": "model"}, *items]}

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a response, a chunk, or a list of chunks, with renamed tools."""
        if isinstance(value, list):
            return [self.reply_with_tool_names(chunk, rename) for chunk in value]
        return renamed(value, [path for names in _REPLY_NAMES for path in places(value, names)], rename)


def _last(path: str) -> tuple[str, str, str]:
    """Return a path up to its last segment, and the two parts of that segment: model and verb."""
    before, _, segment = path.partition("?")[0].rstrip("/").rpartition("/")
    model, _, verb = segment.rpartition(":") if ":" in segment else unquote(segment).rpartition(":")
    return before, unquote(model), verb


def _with_model(path: str, model: str) -> str:
    before, now, verb = _last(path)
    _, mark, query = path.partition("?")
    return path if now == model else f"{before}/{quote(model, safe='')}:{verb}{mark}{query}"


def _plain_form(reply: bytes) -> Body:
    """Return a reply in the service's plain form."""
    if gemini_stream.is_stream(reply):
        return gemini_stream.read(reply)
    return bodies.read_object(reply)


def _parts(reply: Body) -> list[gemini_contents.Part]:
    content = gemini_stream.candidate_of(reply).get("content") or {}
    return list(gemini_contents.parts_of(content, ("candidates", 0, "content")))


def _calls(reply: Body) -> list[tuple[ToolCall, bool]]:
    """Return the calls of a reply, and whether each had an id."""
    calls = gemini_contents.Calls()
    found = [get(part.value, "functionCall") for part in _parts(reply)]
    return [(calls.made(call, ("functionCall",)), bool(call.get("id"))) for call in found if call is not None]


def _texts_and_calls(reply: Body) -> tuple[list[str], list[ToolCall]]:
    texts = [
        bodies.text(part.value.get("text"), "parts[].text")
        for part in _parts(reply)
        if not part.value.get("thought")
    ]
    return texts, [call for call, _ in _calls(reply)]


def _usage(usage: Any) -> Usage:
    """Return token counts: prompt tokens that the service's tools add count as input, thoughts as output."""
    found = {} if usage is None else bodies.mapping(usage, "usageMetadata")

    def total(*keys: str) -> int:
        return sum(bodies.count(get(found, key), f"usageMetadata.{key}") for key in keys)

    read = total("promptTokenCount", "toolUsePromptTokenCount")
    return Usage(
        input_tokens=read,
        output_tokens=total("candidatesTokenCount", "thoughtsTokenCount"),
        cached_tokens=min(read, total("cachedContentTokenCount")),
    )
