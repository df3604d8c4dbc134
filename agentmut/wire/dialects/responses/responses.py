"""The OpenAI Responses dialect: requests and replies, plain and streamed.

What the service keeps for itself (earlier turns behind `previous_response_id`, stored prompts) is not in a
request, so it is neither read nor rewritten.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns import Body, HttpCall, ModelReply, ModelRequest, OfferedTool, Path, Rename, Role, Text
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.edits import with_value
from agentmut.wire.dialects.offers import is_among, removed_names, with_spec
from agentmut.wire.dialects.openai_codec import OpenAICodec, content_texts
from agentmut.wire.dialects.places import at, places, renamed, without
from agentmut.wire.dialects.responses import (
    responses_replies,
    responses_requests,
    responses_stream,
)
from agentmut.wire.dialects.responses.responses_replies import output_items
from agentmut.wire.dialects.responses.responses_requests import (
    CALLS,
    KINDS,
    RESULTS,
    choice_from_chat,
    format_from_chat,
    items,
    kind_of,
    offers,
    read_call,
    result_item,
    role_of,
    tool_entry,
)

_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "max_tokens": ("max_output_tokens",),
    "tool_choice": ("tool_choice",),
    "reasoning_effort": ("reasoning", "effort"),
    "response_format": ("text", "format"),
}
_WITH_TOOLS = ("tools", "tool_choice", "parallel_tool_calls", "max_tool_calls")
_ARGUMENTS_DONE = "response.function_call_arguments.done"


class Responses(OpenAICodec):
    """Codec of `POST .../responses`. The dialect has no words for a seed and stop sequences.

    >>> Responses().matches("/t/42/v1/responses?x=1"), Responses().matches("/v1/responses/resp_1")
    (True, False)
    """

    name: ClassVar[str] = "responses"
    endpoint: ClassVar[str] = "/responses"

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request body. Raises `ValueError` naming the field that cannot be read."""
        return responses_requests.decode(bodies.read_call(call))

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a reply body, plain or a complete event stream.

        Raises `ValueError` for errors, streams that were cut off, and anything else unreadable.
        """
        return responses_replies.decode(self._plain(body))

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Write a request; what the dialect has no words for is left out."""
        return HttpCall(f"/v1{self.endpoint}", bodies.write_json(responses_requests.encode(request)))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Write a reply body; with `stream`, the whole event stream."""
        if stream:
            return sse.write_named_events(responses_stream.events(reply, reply_id))
        return bodies.write_json(responses_replies.encode(reply, reply_id))

    def texts(self, body: Body) -> Sequence[Text]:
        """List the instructions and every text of messages and of results of tools."""
        return list(_texts(body))

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """List the tools on offer."""
        return responses_requests.offers(body)

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body with these tools on offer; the service's own tools stay unchanged."""
        before = offers(body)
        if before and not tools:
            return without(body, *_WITH_TOOLS)
        entries = [_entry(tool) for tool in tools]
        body = {**body, "tools": entries} if entries or body.get("tools") else body
        choice = body.get("tool_choice")
        gone = removed_names(before, tools)
        refused = (
            isinstance(choice, dict) and choice.get("type") in KINDS and is_among(choice.get("name"), gone)
        )
        return without(body, "tool_choice") if refused else body

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body with other names in calls and in the tool choice."""
        names = [
            *_names(body, "input.*.name", CALLS),
            *_names(body, "tool_choice.name", KINDS),
            *_names(body, "tool_choice.tools.*.name", KINDS),
        ]
        rewritten: Body = renamed(body, names, rename)
        return rewritten

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting of the model changed."""
        return call.path, _with_setting(body, name, value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return the role of each item of the input; no roles if the input is one text."""
        found = enumerate(responses_requests.items(body))
        roles = [responses_requests.role_of(item, f"input[{index}]") for index, item in found]
        return ("input", roles) if isinstance(body.get("input"), list) else ("", ())

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the body with the reply's items as they came, and the results of its calls."""
        whole = self._plain(reply)
        said = [item for item in output_items(whole) if not _is_lost(item, body)]
        calls = [(read_call(item, "output[]").id, kind_of(item)) for item in said if kind_of(item) in CALLS]
        answers = [result_item(id_, results[id_], f"{kind}_output") for id_, kind in calls if id_ in results]
        asked = body.get("input")
        before = [{"role": "user", "content": asked}] if isinstance(asked, str) else items(body)
        return {**body, "input": [*before, *said, *answers]}

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return a plain reply or an event with renamed tools, also in the parts of the request that it repeats."""
        if not isinstance(value, dict):
            return value
        names = [*_names(value, "item.name", CALLS), *_reply_names(value, "")]
        if isinstance(value.get("response"), dict):
            names += _reply_names(value, "response.")
        if value.get("type") == _ARGUMENTS_DONE:
            names += places(value, "name")
        return renamed(value, names, rename)

    def _plain(self, body: bytes) -> Mapping[str, Any]:
        """Return a reply in the service's plain form."""
        return responses_stream.assembled(body) if sse.is_event_stream(body) else bodies.read_object(body)


def _texts(body: Body) -> Iterator[Text]:
    """Yield the instructions, and the texts of messages and of tools' results; other items have no text."""
    if isinstance(body.get("instructions"), str):
        yield Text(("instructions",), Role.SYSTEM, body["instructions"])
    if isinstance(body.get("input"), str):
        yield Text(("input",), Role.USER, body["input"])
    called: dict[str, str] = {}
    for index, item in enumerate(items(body)):
        where, kind = f"input[{index}]", kind_of(item)
        role = role_of(item, where)
        if kind in CALLS:
            call = read_call(item, where)
            called[call.id] = call.name
        elif kind == "message":
            for path, text in content_texts(item.get("content"), ("input", index, "content")):
                yield Text(path, role, text)
        elif kind in RESULTS:
            call_id = bodies.text(item.get("call_id"), f"{where}.call_id")
            for path, text in content_texts(item.get("output"), ("input", index, "output")):
                yield Text(path, role, text, call_id, called.get(call_id))


def _with_setting(body: Body, name: str, value: Any) -> Body:
    """Return the body with a setting; the dialect has no seed and no stop sequences."""
    if name == "name":
        return {**body, "model": value} if value else body
    if name not in _SETTINGS:
        return body
    value = {"tool_choice": choice_from_chat, "response_format": format_from_chat}.get(name, _as_is)(value)
    return with_value(body, _SETTINGS[name], value)


def _reply_names(value: Any, prefix: str) -> Iterator[Path]:
    yield from _names(value, f"{prefix}output.*.name", CALLS)
    for repeated in ("tools.*.name", "tool_choice.name", "tool_choice.tools.*.name"):
        yield from _names(value, prefix + repeated, KINDS)


def _names(value: Any, pattern: str, kinds: Sequence[str]) -> Iterator[Path]:
    """Yield the places of names in objects of some types; names that the service gives are left out."""
    return (path for path in places(value, pattern) if at(value, path[:-1]).get("type") in kinds)


def _entry(tool: OfferedTool) -> Any:
    if tool.spec is None:
        return tool.raw
    if tool.raw is None:
        return tool_entry(tool.spec)
    return with_spec(tool.raw, tool.spec, "parameters" if tool.raw.get("type") == "function" else None)


def _is_lost(item: Mapping[str, Any], body: Body) -> bool:
    """Return whether the service would look for a thought that the request told it not to store."""
    stored = body.get("store") is not False
    return not stored and kind_of(item) == "reasoning" and not item.get("encrypted_content")


def _as_is(value: Any) -> Any:
    return value
