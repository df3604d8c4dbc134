"""The dialect of Ollama's own API: `POST /api/chat`, with replies as JSON or as JSON lines."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

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
)
from agentmut.wire import bodies
from agentmut.wire.dialects import edits
from agentmut.wire.dialects.offers import read_spec, unchanged, with_spec
from agentmut.wire.dialects.ollama import ndjson, ollama_messages, ollama_settings, ollama_stream
from agentmut.wire.dialects.places import at, places, renamed, with_values, without
from agentmut.wire.dialects.reading import TokenKeys, tokens

CREATED = "1970-01-01T00:00:00Z"  # a reply is a function of its request, so it carries no clock
_TOKENS = TokenKeys(read=("prompt_eval_count",), written=("eval_count",))
_REQUEST_NAMES = ("messages.*.tool_calls.*.function.name", "messages.*.tool_name")
_REPLY_NAMES = "message.tool_calls.*.function.name"


class OllamaChat:
    """Codec of `POST .../api/chat`."""

    name: ClassVar[str] = "ollama_chat"

    def matches(self, path: str) -> bool:
        """Return whether a URL path is this dialect's.

        >>> OllamaChat().matches("/t/42/ollama/api/chat"), OllamaChat().matches("/api/generate")
        (True, False)
        """
        return path.partition("?")[0].rstrip("/").endswith("/api/chat")

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Return the request; the service streams unless `stream` is false. Raise `ValueError` naming the field."""
        body = bodies.read_call(call)
        return ModelRequest(
            model=bodies.name(body.get("model"), "model"),
            messages=tuple(ollama_messages.read(body)),
            tools=tuple(tool.spec for tool in self.tools(body) if tool.spec),
            stream=body.get("stream") is not False,
            **ollama_settings.read(body),
        )

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply, plain or a complete stream. Raises `ValueError` for errors and what was cut off."""
        reply = ollama_stream.whole(body)
        message = bodies.mapping(reply["message"], "message")
        calls = ollama_messages.Calls().of(message, "message")
        reason = bodies.text(reply.get("done_reason"), "done_reason") or "stop"
        return ModelReply(
            model=bodies.text(reply.get("model"), "model"),
            text=bodies.text(message.get("content"), "message.content"),
            tool_calls=calls,
            finish_reason="tool_calls" if calls and reason == "stop" else reason,
            usage=tokens(reply, _TOKENS, "the reply"),
        )

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request; what the dialect has no words for is left out."""
        body: Body = {"model": request.model, "messages": [*ollama_messages.written(request.messages)]}
        if request.tools:
            body["tools"] = [tool.to_openai() for tool in request.tools]
        settings = edits.settings_of(request, ollama_settings.with_setting)
        return HttpCall("/api/chat", bodies.write_json({**body, "stream": request.stream, **settings}))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Return a reply; with `stream`, all its lines. The dialect has no reply id."""
        response: Body = {
            "model": reply.model,
            "created_at": CREATED,
            "message": ollama_messages.assistant_message(reply.text, reply.tool_calls),
            "done": True,
            "done_reason": "stop" if reply.finish_reason == "tool_calls" else reply.finish_reason,
            "prompt_eval_count": reply.usage.input_tokens,
            "eval_count": reply.usage.output_tokens,
        }
        return ollama_stream.write(response) if stream else bodies.write_json(response)

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body in the service's form; only the HTTP head has the status."""
        return bodies.write_json({"error": message})

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return ndjson.MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        return ndjson.LineFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """List the instructions and every text of messages and of results of tools."""
        return list(ollama_messages.texts(body))

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with these texts; the service accepts empty texts."""
        changed = {path: text for path, text in texts.items() if at(body, path) != text}
        fresh: Body = with_values(body, changed)
        return fresh

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return the tools on offer."""
        bodies.name(body.get("model"), "model")  # other programs have this path too
        found = bodies.listing(body.get("tools"), "tools")
        return [_offered(entry, f"tools[{index}]") for index, entry in enumerate(found)]

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer."""
        if unchanged(self.tools(body), tools):
            return body
        return {**body, "tools": [_entry(tool) for tool in tools]} if tools else without(body, "tools")

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with other names in calls and in results."""
        names = [path for pattern in _REQUEST_NAMES for path in places(body, pattern)]
        names += [p for p in places(body, "messages.*.name") if at(body, p[:-1]).get("role") == "tool"]
        fresh: Body = renamed(body, names, rename)
        return fresh

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting of the model changed."""
        return call.path, ollama_settings.with_setting(body, name, value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the role of each message."""
        return "messages", [role for _, role, _ in ollama_messages.each(body)]

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the body with the reply's message as it came, and the results of its calls."""
        message = ollama_stream.whole(reply)["message"]
        calls = ollama_messages.Calls().of(message, "message")
        own_ids = [call.get("id") for call in message.get("tool_calls") or ()]
        answers = [
            ollama_messages.result(results[call.id], call.name, own_id)
            for call, own_id in zip(calls, own_ids, strict=True)
            if call.id in results
        ]
        return {**body, "messages": [*ollama_messages.conversation(body), message, *answers]}

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a plain reply or a line of a stream with other names of the tools it calls."""
        return renamed(value, places(value, _REPLY_NAMES), rename)


def _offered(entry: Any, where: str) -> OfferedTool:
    tool = bodies.mapping(entry, where)
    if tool.get("type", "function") != "function":
        return OfferedTool(None, entry)
    return OfferedTool(read_spec(bodies.mapping(tool.get("function"), f"{where}.function"), where), entry)


def _entry(tool: OfferedTool) -> Any:
    if tool.spec is None:
        return tool.raw
    if tool.raw is None:
        return tool.spec.to_openai()
    return {**tool.raw, "function": with_spec(tool.raw["function"], tool.spec, "parameters")}
