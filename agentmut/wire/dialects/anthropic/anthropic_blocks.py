"""Content blocks of Anthropic Messages."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut.nouns import Body, Message, Path, Role, ToolCall
from agentmut.wire import bodies
from agentmut.wire.dialects.block_conversation import ROLES, SpokenBlock, turns
from agentmut.wire.dialects.places import at, places
from agentmut.wire.dialects.reading import (
    arguments_text,
    read_arguments,
)


def read(body: Body) -> list[SpokenBlock]:
    """Return all blocks of a request in order. Raises `ValueError` naming what cannot be read."""
    return [*_instructions(body.get("system")), *_conversation(body)]


def call_of(block: Mapping[str, Any], path: Path) -> ToolCall:
    """Return the call of a `tool_use` block."""
    return ToolCall(
        id=bodies.text(block.get("id"), (*path, "id")),
        name=bodies.name(block.get("name"), (*path, "name")),
        arguments=arguments_text(block.get("input")),
    )


def answer_blocks(text: str, calls: Iterable[ToolCall]) -> Iterator[Body]:
    """Yield the blocks of a model's answer: its text, unless empty, and its calls."""
    if text:
        yield {"type": "text", "text": text}
    for call in calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": read_arguments(call)}


def result(call_id: str, text: str) -> Body:
    """Return the block of a tool's result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def is_result(body: Body, path: Path) -> bool:
    """Return whether a text is of a tool's result."""
    return len(path) > 4 and at(body, path[:4]).get("type") == "tool_result"


def names(value: Any, patterns: Iterable[str]) -> list[Path]:
    """Yield the places where the agent's tools are named; tools of the service and of toolsets are left out."""
    found = (path for pattern in patterns for path in places(value, pattern))
    return [path for path in found if _is_named(at(value, path[:-1]), path[-1])]


def _is_named(block: Mapping[str, Any], key: str | int) -> bool:
    kind = "tool_reference" if key == "tool_name" else "tool_use"
    return block.get("type") == kind and not block.get("toolset_name")


def written(messages: Iterable[Message]) -> Body:
    """Return `system` and `messages` of a request."""
    messages = list(messages)
    instructions = [message.text for message in messages if message.role is Role.SYSTEM]
    blocks = [{"type": "text", "text": text} for text in instructions]
    system = {"system": instructions[0] if len(instructions) == 1 else blocks} if instructions else {}
    return {**system, "messages": [_item(turn) for turn in turns(messages)]}


def _item(turn: list[Message]) -> Body:
    if turn[0].role is Role.ASSISTANT:
        return {"role": "assistant", "content": list(answer_blocks(turn[0].text, turn[0].tool_calls))}
    if turn[0].role is Role.USER:
        return {"role": "user", "content": turn[0].text}
    results = [result(m.tool_call_id or "", m.text) for m in turn if m.role is Role.TOOL]
    words = [{"type": "text", "text": m.text} for m in turn if m.role is Role.USER]
    return {"role": "user", "content": [*results, *words]}


def _instructions(system: Any) -> Iterator[SpokenBlock]:
    if not isinstance(system, list):
        if bodies.text(system, "system"):
            yield SpokenBlock(Role.SYSTEM, ("system",), [(("system",), system)])
        return
    for index, block in enumerate(system):
        path: Path = ("system", index)
        yield SpokenBlock(Role.SYSTEM, path, list(_pieces(bodies.mapping(block, path), path)))


def _conversation(body: Body) -> Iterator[SpokenBlock]:
    names: dict[str, str] = {}
    for index, message in enumerate(bodies.listing(body.get("messages"), "messages")):
        item: Path = ("messages", index)
        found = bodies.mapping(message, item)
        role = bodies.one_of(found.get("role"), ROLES, (*item, "role"))
        yield from _blocks(found.get("content"), role, item, names)


def _blocks(content: Any, role: Role, item: Path, names: dict[str, str]) -> Iterator[SpokenBlock]:
    """Yield the blocks of a message; `names` maps the id of a call to its tool, for the call's result."""
    path: Path = (*item, "content")
    if not isinstance(content, list):
        yield SpokenBlock(role, item, [(path, bodies.text(content, path))] if content is not None else ())
        return
    if not content:
        yield SpokenBlock(role, item)
    for index, found in enumerate(content):
        here: Path = (*path, index)
        block = bodies.mapping(found, here)
        if block.get("type") == "tool_use":
            call = call_of(block, here)
            names[call.id] = call.name
            yield SpokenBlock(role, item, call=call)
        elif block.get("type") == "tool_result":
            call_id = bodies.text(block.get("tool_use_id"), (*here, "tool_use_id"))
            pieces = list(_contents(block.get("content"), (*here, "content")))
            yield SpokenBlock(Role.TOOL, item, pieces, call_id=call_id, tool=names.get(call_id))
        else:
            yield SpokenBlock(role, item, list(_pieces(block, here)))


def _pieces(block: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a block: its own text, those of a search result, and a plain-text document."""
    kind = block.get("type")
    if kind == "text" and block.get("text") is not None:
        yield (*path, "text"), bodies.text(block.get("text"), (*path, "text"))
    elif kind == "search_result":
        yield from _contents(block.get("content"), (*path, "content"))
    elif kind == "document":
        source = bodies.mapping(block.get("source"), (*path, "source"))
        if source.get("type") == "text" and source.get("data") is not None:
            here: Path = (*path, "source", "data")
            yield here, bodies.text(source.get("data"), here)


def _contents(content: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(content, str):
        yield path, content
        return
    for index, block in enumerate(bodies.listing(content, path)):
        yield from _pieces(bodies.mapping(block, (*path, index)), (*path, index))
