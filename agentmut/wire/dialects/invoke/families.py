"""The dialects of models inside InvokeModel: how to recognise each, and how it differs from the original dialect.

Claude speaks Anthropic Messages, Amazon Nova the bodies of Converse, and Mistral, OpenAI's open models, Qwen and others
Chat Completions. Llama and Titan take one text (`prompt`, `inputText`). All leave model and streaming to the path.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol
from urllib.parse import quote

from agentmut.nouns import Body, Codec, HttpCall
from agentmut.wire.bodies import read_object, write_json
from agentmut.wire.dialects import aws_event_stream, sse
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.dialects.converse.converse import Converse
from agentmut.wire.dialects.invoke.one_text import Llama, OneText, Titan

VERSION = "bedrock-2023-05-31"
"""What `anthropic_version` has to be."""


class Family(Protocol):
    """One dialect inside InvokeModel."""

    @property
    def codec(self) -> Codec:
        """Return what reads and changes its bodies."""

    def call(self, body: Body, model: str, *, stream: bool) -> HttpCall:
        """Return the request in the form of the dialect's own service."""

    def body(self, call: Body) -> Body:
        """Return the body of the dialect's own service in the form of InvokeModel."""

    def stream(self, values: Iterable[Any]) -> bytes:
        """Return events in the stream form of the dialect's own service."""

    def events(self, stream: bytes) -> list[Any]:
        """Return the events of what the dialect's own service streams."""


class Claude:
    """Anthropic Messages."""

    codec: ClassVar[Codec] = AnthropicMessages()

    def call(self, body: Body, model: str, *, stream: bool) -> HttpCall:
        """Return the request of `/v1/messages`."""
        return HttpCall("/v1/messages", write_json({**body, "model": model, "stream": stream}))

    def body(self, call: Body) -> Body:
        """Return the body with its version, and without model and streaming."""
        return {"anthropic_version": VERSION, **_without(call, "model", "stream")}

    def stream(self, values: Iterable[Any]) -> bytes:
        """Return server-sent events with their names."""
        return sse.write_named_events((str(value.get("type")), value) for value in _objects(values))

    def events(self, stream: bytes) -> list[Any]:
        """Return the data of server-sent events."""
        return _values(self.codec, stream)


class Nova:
    """The bodies of Converse."""

    codec: ClassVar[Codec] = Converse()

    def call(self, body: Body, model: str, *, stream: bool) -> HttpCall:
        """Return the Converse request, without the marks of Nova."""
        verb = "converse-stream" if stream else "converse"
        path = f"/model/{quote(model, safe='')}/{verb}"
        return HttpCall(path, write_json(_without(body, "schemaVersion")))

    def body(self, call: Body) -> Body:
        """Return the body with the version of its schema."""
        return {"schemaVersion": "messages-v1", **call}

    def stream(self, values: Iterable[Any]) -> bytes:
        """Return an event stream; the only key of each event is its kind."""
        kinds = (pair for value in _objects(values) for pair in value.items())
        return b"".join(aws_event_stream.event(kind, payload) for kind, payload in kinds)

    def events(self, stream: bytes) -> list[Any]:
        """Return the events, each below its kind."""
        framed = Converse().framing()
        kinds = [event.kind for event in aws_event_stream.events(stream)]
        return [{kind: frame.value} for kind, frame in zip(kinds, framed.feed(stream), strict=True)]


class Chat:
    """Chat Completions."""

    codec: ClassVar[Codec] = ChatCompletions()

    def call(self, body: Body, model: str, *, stream: bool) -> HttpCall:
        """Return the request of `/v1/chat/completions`."""
        return HttpCall("/v1/chat/completions", write_json({**body, "model": model, "stream": stream}))

    def body(self, call: Body) -> Body:
        """Return the body without model and streaming."""
        return _without(call, "model", "stream")

    def stream(self, values: Iterable[Any]) -> bytes:
        """Return server-sent events and their end mark."""
        return sse.write_events(map(_with_finish, _objects(values)))

    def events(self, stream: bytes) -> list[Any]:
        """Return the data of server-sent events, without the end mark."""
        return _values(self.codec, stream)


class TakesOneText:
    """One text: Llama's or Titan's."""

    def __init__(self, codec: OneText) -> None:
        self.codec: Codec = codec

    def call(self, body: Body, model: str, *, stream: bool) -> HttpCall:
        """Return the request with its model and the choice to stream."""
        return HttpCall("", write_json({**body, "model": model, "stream": stream}))

    def body(self, call: Body) -> Body:
        """Return the body without model and streaming."""
        return _without(call, "model", "stream")

    def stream(self, values: Iterable[Any]) -> bytes:
        """Return the events, one a line."""
        return b"\n".join(map(write_json, _objects(values)))

    def events(self, stream: bytes) -> list[Any]:
        """Return the events of such lines."""
        return [read_object(line) for line in stream.splitlines()]


CLAUDE, NOVA, CHAT = Claude(), Nova(), Chat()
LLAMA, TITAN = TakesOneText(Llama()), TakesOneText(Titan())


def of_request(body: Mapping[str, Any]) -> Family:
    """Return the dialect of a request body. Raises `ValueError` for anything else."""
    if not isinstance(body.get("messages"), list):
        return _of_one_text(body)
    if "anthropic_version" in body:
        return CLAUDE
    if {"schemaVersion", "inferenceConfig", "toolConfig"} & body.keys() or _has_bare_blocks(body["messages"]):
        return NOVA
    return CHAT


def _of_one_text(body: Mapping[str, Any]) -> Family:
    for family, key in ((LLAMA, "prompt"), (TITAN, "inputText")):
        if isinstance(body.get(key), str):
            return family
    raise ValueError(
        "messages: expected a list, the conversation so far; or one text, `prompt` or `inputText`"
    )


def of_reply(value: Any) -> Family:
    """Return the dialect of a plain reply, or of one event of a stream."""
    keys = value.keys() if isinstance(value, dict) else set()
    if "choices" in keys:
        return CHAT
    if "generation" in keys:
        return LLAMA
    if keys & {"results", "outputText"}:
        return TITAN
    return CLAUDE if "type" in keys or "content" in keys else NOVA


def of_model(model: str) -> Family:
    """Return a model's dialect, by its id or by the ARN of an inference profile with that id.

    >>> type(of_model("eu.anthropic.claude-x")).__name__, type(of_model("amazon.nova-lite-v1:0")).__name__
    ('Claude', 'Nova')
    """
    if "claude" in model or "anthropic" in model:
        return CLAUDE
    known: dict[str, Family] = {"nova": NOVA, "llama": LLAMA, "titan": TITAN}
    return next((family for word, family in known.items() if word in model), CHAT)


def plain_reply(reply: Body) -> Body:
    """Return a reply in the form of the dialect's own service: Mistral's has `stop_reason` for `finish_reason`."""
    return _with_finish(reply) if "choices" in reply else reply


def _with_finish(value: Body) -> Body:
    choices = value.get("choices")
    if not isinstance(choices, list) or not any(isinstance(c, dict) and "stop_reason" in c for c in choices):
        return value
    return {
        **value,
        "choices": [
            {"finish_reason": choice["stop_reason"], **choice}
            if isinstance(choice, dict) and "stop_reason" in choice
            else choice
            for choice in choices
        ],
    }


def _has_bare_blocks(messages: list[Any]) -> bool:
    """Return whether contents are blocks without a `type`, whose only key names their kind."""
    contents = [m["content"] for m in messages if isinstance(m, dict) and isinstance(m.get("content"), list)]
    blocks = [block for content in contents for block in content]
    return bool(blocks) and all(isinstance(block, dict) and "type" not in block for block in blocks)


def _objects(values: Iterable[Any]) -> Iterable[Body]:
    return (value for value in values if isinstance(value, dict))


def _values(codec: Codec, stream: bytes) -> list[Any]:
    return [frame.value for frame in codec.framing().feed(stream) if frame.value is not None]


def _without(body: Body, *keys: str) -> Body:
    return {key: value for key, value in body.items() if key not in keys}
