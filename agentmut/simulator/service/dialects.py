"""The differences between dialects that their codecs do not cover."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

from pydantic import JsonValue

from agentmut.nouns import Codec, Frame, Framing, HttpCall
from agentmut.simulator.service.sending import Reply
from agentmut.wire.bodies import read_json, write_json
from agentmut.wire.dialects import bedrock_agent
from agentmut.wire.dialects.aws_event_stream import EventStreamFraming
from agentmut.wire.dialects.bedrock_agent import AgentCall

CHAT = "chat_completions"
RESPONSES = "responses"
GEMINI = "gemini"
_ID_PREFIXES: Mapping[str, str] = MappingProxyType(
    {CHAT: "chatcmpl-", RESPONSES: "resp_", "anthropic_messages": "msg_"}
)
_SINGLE_CALLS = re.compile(
    rb'"(?:parallel_tool_calls"\s*:\s*false|disable_parallel_tool_use"\s*:\s*true)\s*[,}]'
)


def reply_id(codec: Codec, trial: str, body: bytes) -> str:
    """Return the id of a reply, which is the same for the same request of the same trial."""
    return _ID_PREFIXES.get(codec.name, "") + digest(trial, body)


def digest(trial: str, *parts: bytes) -> str:
    """Return the 24 hex digits that identify a request of a trial."""
    hashed = hashlib.blake2b(trial.encode("utf-8", "surrogateescape"), digest_size=12)
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()


def wants_single_calls(body: bytes) -> bool:
    """Return whether a request wants one tool call at a time.

    >>> wants_single_calls(b'{"parallel_tool_calls": false}'), wants_single_calls(b'{"a": "parallel_tool_calls"}')
    (True, False)
    """
    if _SINGLE_CALLS.search(body) is None:  # hardly any request says so: the rest need not be read again
        return False
    request = read_json(body)
    choice = request.get("tool_choice")
    alone = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True
    return alone or request.get("parallel_tool_calls") is False


def stream(codec: Codec, call: HttpCall, encoded: bytes) -> Reply:
    """Return an encoded stream as the events to be sent one by one, in the manner that the request asks for."""
    framing = codec.framing()
    frames = framing.feed(encoded)
    if codec.name == CHAT:
        asked = b'"include_usage"' in call.body and _wants_usage(call.body)
        chunks = [chunk for frame in frames for chunk in _chat_chunks(framing, frame, asked)]
        return Reply(codec.content_type(stream=True), chunks, streamed=True)
    if codec.name == GEMINI and "sse" not in parse_qs(urlsplit(call.path).query).get("alt", []):
        return Reply("application/json", list(_array(frame.value for frame in frames)), streamed=True)
    chunks = [frame.raw for frame in frames]
    return Reply(codec.content_type(stream=True), [*chunks, *filter(None, [framing.rest()])], streamed=True)


def agent_stream(call: AgentCall, encoded: bytes) -> Reply:
    """Return the encoded answer of an agent of Bedrock as the events to be sent one by one."""
    chunks = [frame.raw for frame in EventStreamFraming().feed(encoded)]
    headers = dict(bedrock_agent.headers(call))
    return Reply(headers.pop("Content-Type"), chunks, streamed=True, headers=headers)


def _array(values: Iterable[JsonValue]) -> Iterator[bytes]:
    """Yield the events as one JSON array that grows."""
    for number, value in enumerate(values):
        yield (b",\r\n" if number else b"[") + write_json(value)
    yield b"]"


def _wants_usage(body: bytes) -> bool:
    options = read_json(body).get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _chat_chunks(framing: Framing, frame: Frame, usage_wanted: bool) -> Iterator[bytes]:
    """Write the events of a frame; usage gets a separate event without choices, if the request asks for it."""
    if not isinstance(frame.value, dict) or "usage" not in frame.value:
        yield frame.raw
        return
    yield framing.written(frame, {key: value for key, value in frame.value.items() if key != "usage"})
    if usage_wanted:
        yield framing.written(frame, {**frame.value, "choices": []})
