"""The OpenAI Chat Completions dialect: requests and replies, plain and streamed.

Only the parts that `agentmut.nouns.messages` names are read; a request's other fields pass unseen.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns import Body, HttpCall, ModelReply, ModelRequest, OfferedTool, Rename, Role, Text
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.chat import chat_replies, chat_requests, chat_stream
from agentmut.wire.dialects.chat.chat_replies import read_calls
from agentmut.wire.dialects.chat.chat_requests import AS_GIVEN, KINDS, conversation, offers, role_of
from agentmut.wire.dialects.edits import with_value
from agentmut.wire.dialects.offers import is_among, removed_names, with_spec
from agentmut.wire.dialects.openai_codec import OpenAICodec, content_texts
from agentmut.wire.dialects.places import at, places, renamed, without

_REQUEST_NAMES = (
    "messages.*.tool_calls.*.function.name",
    "messages.*.tool_calls.*.custom.name",
    "messages.*.function_call.name",
    "tool_choice.function.name",
    "tool_choice.custom.name",
    "tool_choice.allowed_tools.tools.*.function.name",
    "tool_choice.allowed_tools.tools.*.custom.name",
    "function_call.name",
)
_REPLY_NAMES = tuple(
    f"choices.*.{part}.{call}.name"
    for part in ("message", "delta")
    for call in ("tool_calls.*.function", "tool_calls.*.custom", "function_call")
)
_WITH_TOOLS = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")


class ChatCompletions(OpenAICodec):
    """Codec of `POST .../chat/completions`, for OpenAI and every service with the same API.

    >>> ChatCompletions().matches("/t/42/v1/chat/completions?api-version=1")
    True
    >>> ChatCompletions().matches("/v1/completions")
    False
    """

    name: ClassVar[str] = "chat_completions"
    endpoint: ClassVar[str] = "/chat/completions"

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        return chat_requests.decode(bodies.read_call(call))

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream.

        Raises `ValueError` for errors, streams that were cut off, and anything else unreadable.
        """
        return chat_replies.decode(self._plain(body))

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request; what the dialect has no words for is left out."""
        return HttpCall(f"/v1{self.endpoint}", bodies.write_json(chat_requests.encode(request)))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        if stream:
            return sse.write_events(chat_stream.chunks(reply, reply_id))
        return bodies.write_json(chat_replies.encode(reply, reply_id))

    def texts(self, body: Body) -> Sequence[Text]:
        """List the instructions and every text of messages and of results of tools."""
        return list(_texts(body))

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """List the tools on offer, also those in the older list `functions`."""
        return [tool for _, tool in chat_requests.offers(body)]

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer, each in the list (`tools`, or the older `functions`)
        it came from.
        """
        before = [tool for _, tool in offers(body)]
        if before and not tools:
            return without(body, *_WITH_TOOLS)
        only_older = bool(body.get("functions")) and not body.get("tools")
        entries: dict[str, list[Any]] = {"tools": [], "functions": []}
        for tool in tools:
            older = only_older if tool.raw is None else _is_older(tool.raw)
            entries["functions" if older else "tools"].append(_entry(tool, older=older))
        body = {**body, **{key: found for key, found in entries.items() if found or body.get(key)}}
        return _without_choice_of(body, removed_names(before, tools))

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with other names in calls, results that name their tool, and tool choices."""
        names = [path for pattern in _REQUEST_NAMES for path in places(body, pattern)]
        names += [path for path in places(body, "messages.*.name") if _is_result(at(body, path[:-1]))]
        rewritten: Body = renamed(body, names, rename)
        return rewritten

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting of the model changed."""
        return call.path, _with_setting(body, name, value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return who speaks in each message."""
        found = [(f"messages[{i}]", message) for i, message in enumerate(chat_requests.conversation(body))]
        roles = [chat_requests.role_of(bodies.mapping(message, where), where) for where, message in found]
        return "messages", roles

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the body with the reply's message as it came, and the results of its calls."""
        whole = self._plain(reply)
        found = next(places(whole, "choices.*.message"), None)
        if found is None:
            raise ValueError("choices: expected one with a message, found none")
        message = bodies.mapping(at(whole, found), "choices[0].message")
        calls = read_calls(message, "choices[0].message")
        answers: list[Body] = [
            {"role": "tool", "tool_call_id": call.id, "content": results[call.id]}
            if call.id
            else {"role": "function", "name": call.name, "content": results[call.id]}
            for call in calls
            if call.id in results
        ]
        return {**body, "messages": [*conversation(body), message, *answers]}

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a plain reply or a chunk with other names of the tools it calls."""
        return renamed(value, [path for pattern in _REPLY_NAMES for path in places(value, pattern)], rename)

    def _plain(self, body: bytes) -> Mapping[str, Any]:
        """Return a reply as the service writes it plain."""
        return chat_stream.assembled(body) if sse.is_event_stream(body) else bodies.read_object(body)


def _texts(body: Body) -> Iterator[Text]:
    """Yield the texts of all messages; other blocks (images, audio, files, refusals) have no text."""
    called: dict[str, str] = {}
    for index, found in enumerate(conversation(body)):
        where = f"messages[{index}]"
        message = bodies.mapping(found, where)
        role = role_of(message, where)
        called |= {call.id: call.name for call in read_calls(message, where)}
        call_id, tool = _answers(message, called) if role is Role.TOOL else (None, None)
        for path, text in content_texts(message.get("content"), ("messages", index, "content")):
            yield Text(path, role, text, call_id, tool)


def _with_setting(body: Body, name: str, value: Any) -> Body:
    """Return the body with one setting changed; unchanged if the dialect has no such setting."""
    if name == "name":
        return {**body, "model": value} if value else body
    if name == "max_tokens":
        used = [key for key in ("max_tokens", "max_completion_tokens") if body.get(key) is not None]
        for key in used or ["max_completion_tokens"]:
            body = with_value(body, (key,), value)
        return body
    if name == "stop":
        single = isinstance(body.get("stop"), str) and len(value or ()) == 1
        return with_value(body, ("stop",), value[0] if single else list(value or ()) or None)
    return with_value(body, (name,), value) if name in AS_GIVEN else body


def _answers(message: Mapping[str, Any], called: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the call that a tool's message answers and the tool's name, as far as the request tells."""
    call_id, name = message.get("tool_call_id"), message.get("name")
    if not isinstance(call_id, str):
        return None, name if isinstance(name, str) else None
    return call_id, called.get(call_id, name if isinstance(name, str) else None)


def _is_result(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("tool", "function")  # the name of a user is a person's


def _is_older(entry: Any) -> bool:
    return isinstance(entry, dict) and "name" in entry and not any(key in entry for key in ("type", *KINDS))


def _entry(tool: OfferedTool, *, older: bool) -> Any:
    if tool.spec is None:
        return tool.raw
    if tool.raw is None:
        return tool.spec.to_openai()["function"] if older else tool.spec.to_openai()
    if older:
        return with_spec(tool.raw, tool.spec, "parameters")
    kind = tool.raw.get("type", "function")
    part = with_spec(tool.raw[kind], tool.spec, "parameters" if kind == "function" else None)
    return {**tool.raw, kind: part}


def _without_choice_of(body: Body, gone: set[str]) -> Body:
    """Return the body without a choice of a removed tool, since services refuse such a choice."""
    for pattern in ("tool_choice.function.name", "tool_choice.custom.name", "function_call.name"):
        if any(is_among(at(body, path), gone) for path in places(body, pattern)):
            body = without(body, pattern.partition(".")[0])
    return body
