"""Raw bodies of OpenAI Responses, rewritten in place of the parts that a mutation names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentmut.nouns import Body, OfferedTool, Path, Rename, Role, Text
from agentmut.wire import bodies
from agentmut.wire.dialects.edits import with_value
from agentmut.wire.dialects.offers import removed_names, with_spec
from agentmut.wire.dialects.openai_common import content_texts
from agentmut.wire.dialects.places import at, places, renamed, without
from agentmut.wire.dialects.responses.responses_replies import output_items
from agentmut.wire.dialects.responses.responses_requests import (
    CALLS,
    RESULTS,
    items,
    kind_of,
    offers,
    read_call,
    result_item,
    role_of,
    tool_entry,
)
from agentmut.wire.dialects.responses.responses_terms import KINDS, choice_from_chat, format_from_chat

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


def texts(body: Body) -> Iterator[Text]:
    """The instructions, and the texts of messages and of tools' results; other items have none."""
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


def with_tools(body: Body, tools: Sequence[OfferedTool]) -> Body:
    """Return the body with these tools on offer; the service's own tools stay unchanged."""
    before = offers(body)
    if before and not tools:
        return without(body, *_WITH_TOOLS)
    entries = [_entry(tool) for tool in tools]
    body = {**body, "tools": entries} if entries or body.get("tools") else body
    choice = body.get("tool_choice")
    gone = removed_names(before, tools)
    refused = isinstance(choice, dict) and choice.get("type") in KINDS and choice.get("name") in gone
    return without(body, "tool_choice") if refused else body


def with_tool_names(body: Body, rename: Rename) -> Body:
    """The body with other names in calls and in the tool choice."""
    names = [
        *_names(body, "input.*.name", CALLS),
        *_names(body, "tool_choice.name", KINDS),
        *_names(body, "tool_choice.tools.*.name", KINDS),
    ]
    rewritten: Body = renamed(body, names, rename)
    return rewritten


def with_setting(body: Body, name: str, value: Any) -> Body:
    """The body with a setting; the dialect has no seed and no stop sequences."""
    if name == "name":
        return {**body, "model": value} if value else body
    if name not in _SETTINGS:
        return body
    value = {"tool_choice": choice_from_chat, "response_format": format_from_chat}.get(name, _as_is)(value)
    return with_value(body, _SETTINGS[name], value)


def continued(body: Body, reply: Mapping[str, Any], results: Mapping[str, str]) -> Body:
    """The body with the reply's items as they came, and the results of its calls."""
    said = [item for item in output_items(reply) if not _is_lost(item, body)]
    calls = [(read_call(item, "output[]").id, kind_of(item)) for item in said if kind_of(item) in CALLS]
    answers = [result_item(id_, results[id_], f"{kind}_output") for id_, kind in calls if id_ in results]
    asked = body.get("input")
    before = [{"role": "user", "content": asked}] if isinstance(asked, str) else items(body)
    return {**body, "input": [*before, *said, *answers]}


def reply_with_tool_names(value: Any, rename: Rename) -> Any:
    """A plain reply or an event with other names of the tools it calls, and of those it repeats from the request."""
    if not isinstance(value, dict):
        return value
    names = [*_names(value, "item.name", CALLS), *_reply_names(value, "")]
    if isinstance(value.get("response"), dict):
        names += _reply_names(value, "response.")
    if value.get("type") == _ARGUMENTS_DONE:
        names += places(value, "name")
    return renamed(value, names, rename)


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
    """Whether the service would look for a thought that it was told not to store."""
    stored = body.get("store") is not False
    return not stored and kind_of(item) == "reasoning" and not item.get("encrypted_content")


def _as_is(value: Any) -> Any:
    return value
