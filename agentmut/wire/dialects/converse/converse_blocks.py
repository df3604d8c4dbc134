"""Content blocks of Bedrock Converse."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut.nouns import Body, Message, Path, Role, ToolCall
from agentmut.wire import bodies
from agentmut.wire.dialects.block_conversation import ROLES, SpokenBlock, turns
from agentmut.wire.dialects.places import at, places, with_values
from agentmut.wire.dialects.reading import (
    arguments_text,
    read_arguments,
)


def read(body: Body) -> list[SpokenBlock]:
    """Return all blocks of a request in order. Raises `ValueError` naming what cannot be read."""
    return [*_instructions(body.get("system")), *_conversation(body)]


def calls_of(content: Iterable[Any], path: Path) -> Iterator[ToolCall]:
    """Return the calls among blocks, without calls of the service's own tools."""
    for found in content:
        use = bodies.mapping(found, path).get("toolUse")
        if use is not None and "type" not in bodies.mapping(use, (*path, "toolUse")):
            yield _call(use, (*path, "toolUse"))


def reply_text(content: Iterable[Any], path: Path) -> str:
    """Return the text among the blocks of a reply."""
    return "".join(text for block in content for _, text in _pieces(bodies.mapping(block, path), path))


def answer_blocks(text: str, calls: Iterable[ToolCall]) -> Iterator[Body]:
    """Yield the blocks of a model's answer: its text, unless empty, and its calls."""
    if text:
        yield {"text": text}
    for call in calls:
        yield {"toolUse": {"toolUseId": call.id, "name": call.name, "input": read_arguments(call)}}


def result(call_id: str, text: str) -> Body:
    """Return the block of a tool's result; the service refuses an empty text."""
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": text}] if text else []}}


def names(value: Any, patterns: Iterable[str]) -> list[Path]:
    """Return where the agent's tools are named; calls of tools of the service are left alone."""
    found = (path for pattern in patterns for path in places(value, pattern))
    return [path for path in found if "type" not in at(value, path[:-1])]


def with_json(body: Body, texts: Mapping[Path, str]) -> Body:
    """Return the body with other JSON results of tools; a text that is not JSON becomes a text block."""
    changes: dict[Path, Any] = {}
    for path, text in texts.items():
        if text == bodies.write_json(at(body, path)).decode("ascii"):
            continue
        try:
            changes[path] = bodies.read_json(text)
        except ValueError:
            changes[path[:-1]] = {"text": text}
    return dict(with_values(body, changes))


def without_lone_marks(body: Body) -> Body:
    """Return the body without cache points that have no content before them."""
    if body.get("system") and _only_marks(body["system"]):
        body = {key: value for key, value in body.items() if key != "system"}
    items = [
        item
        for item in bodies.listing(body.get("messages"), "messages")
        if not (item.get("content") and _only_marks(item["content"]))
    ]
    return {**body, "messages": items}


def written(messages: Iterable[Message]) -> Body:
    """Return `system` and `messages` of a request."""
    messages = list(messages)
    instructions = [{"text": message.text} for message in messages if message.role is Role.SYSTEM]
    system = {"system": instructions} if instructions else {}
    return {**system, "messages": [_item(turn) for turn in turns(messages)]}


def _only_marks(blocks: Any) -> bool:
    return isinstance(blocks, list) and all(isinstance(b, dict) and "cachePoint" in b for b in blocks)


def _item(turn: list[Message]) -> Body:
    if turn[0].role is Role.ASSISTANT:
        return {"role": "assistant", "content": list(answer_blocks(turn[0].text, turn[0].tool_calls))}
    blocks = [result(m.tool_call_id or "", m.text) if m.role is Role.TOOL else {"text": m.text} for m in turn]
    return {"role": "user", "content": blocks}


def _instructions(system: Any) -> Iterator[SpokenBlock]:
    for index, block in enumerate(bodies.listing(system, "system")):
        path: Path = ("system", index)
        yield SpokenBlock(Role.SYSTEM, path, list(_pieces(bodies.mapping(block, path), path)))


def _conversation(body: Body) -> Iterator[SpokenBlock]:
    called: dict[str, str] = {}
    for index, message in enumerate(bodies.listing(body.get("messages"), "messages")):
        item: Path = ("messages", index)
        found = bodies.mapping(message, item)
        role = bodies.one_of(found.get("role"), ROLES, (*item, "role"))
        content = bodies.listing(found.get("content"), (*item, "content"))
        if _only_marks(content):
            yield SpokenBlock(role, item)
        for number, block in enumerate(content):
            here: Path = (*item, "content", number)
            if "cachePoint" not in bodies.mapping(block, here):
                yield _spoken(block, here, role, item, called)


def _spoken(
    block: Mapping[str, Any], here: Path, role: Role, item: Path, called: dict[str, str]
) -> SpokenBlock:
    """Return a block; `called` maps the id of a call to its tool, for the call's result."""
    if block.get("toolResult") is not None:
        place: Path = (*here, "toolResult")
        found = bodies.mapping(block["toolResult"], place)
        call_id = bodies.text(found.get("toolUseId"), (*place, "toolUseId"))
        pieces = list(_contents(found.get("content"), (*place, "content")))
        return SpokenBlock(Role.TOOL, item, pieces, call_id=call_id, tool=called.get(call_id))
    call = next(calls_of([block], here), None)
    if call is not None:
        called[call.id] = call.name
        return SpokenBlock(role, item, call=call)
    return SpokenBlock(role, item, list(_pieces(block, here)))


def _call(use: Mapping[str, Any], path: Path) -> ToolCall:
    return ToolCall(
        id=bodies.text(use.get("toolUseId"), (*path, "toolUseId")),
        name=bodies.name(use.get("name"), (*path, "name")),
        arguments=arguments_text(use.get("input")),
    )


def _pieces(block: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a block: its own, guarded or cited text, the texts of a search result, and JSON."""
    if block.get("text") is not None:
        yield (*path, "text"), bodies.text(block["text"], (*path, "text"))
    if block.get("json") is not None:
        yield (*path, "json"), bodies.write_json(block["json"]).decode("ascii")
    guarded = block.get("guardContent")
    if isinstance(guarded, dict) and isinstance(guarded.get("text"), dict):
        yield from _pieces(guarded["text"], (*path, "guardContent", "text"))
    for key in ("citationsContent", "searchResult"):
        if isinstance(block.get(key), dict):
            yield from _contents(block[key].get("content"), (*path, key, "content"))


def _contents(content: Any, path: Path) -> Iterator[tuple[Path, str]]:
    for index, block in enumerate(bodies.listing(content, path)):
        yield from _pieces(bodies.mapping(block, (*path, index)), (*path, index))
