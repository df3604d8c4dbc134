"""Contents and parts of Gemini: texts, calls and results."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agentmut.nouns import Body, Message, Path, Role, ToolCall
from agentmut.wire import bodies
from agentmut.wire.dialects.block_conversation import SpokenBlock, turns
from agentmut.wire.dialects.gemini.spelling import get, used
from agentmut.wire.dialects.places import at, with_values
from agentmut.wire.dialects.reading import MadeUpIds, arguments_text, read_arguments

ROLES: Mapping[str, Role] = {
    "user": Role.USER,
    "function": Role.USER,
    "model": Role.ASSISTANT,
}
_WRAPPERS = ("result", "output")
"""Keys under which SDKs put what a tool returned."""


class Calls:
    """The calls of a conversation or a reply, so far. A call without an id gets one made of its name, its arguments
    and how often it was made before, so that it has the same one in a reply and in the requests that repeat it.

    An exact repetition in a later reply cannot be told from the first by that reply alone.
    """

    def __init__(self) -> None:
        self._ids = MadeUpIds()
        self._open: list[ToolCall] = []

    def made(self, found: Any, path: Path) -> ToolCall:
        """Return the call of a `functionCall`."""
        call = bodies.mapping(found, path)
        if get(call, "partialArgs") is not None:
            raise ValueError(
                f"{bodies.shown(path)}: arguments that are streamed piece by piece cannot be read"
            )
        name = bodies.name(call.get("name"), (*path, "name"))
        arguments = arguments_text(call.get("args"))
        call_id = bodies.text(call.get("id"), (*path, "id")) or self._ids.new(name, call.get("args"))
        self._open.append(ToolCall(id=call_id, name=name, arguments=arguments))
        return self._open[-1]

    def answered(self, call_id: str, name: str) -> ToolCall | None:
        """Return the first open call with that id, or with that name if there is no id."""
        same = (call for call in self._open if (call.id == call_id if call_id else call.name == name))
        call = next(same, None)
        if call is not None:
            self._open.remove(call)
        return call


class Part(NamedTuple):
    """A part and its place."""

    path: Path
    value: Mapping[str, Any]


def read(body: Body) -> list[SpokenBlock]:
    """Return all parts of a request in order. Raises `ValueError` naming what cannot be read."""
    return [*_instructions(body), *_conversation(body)]


def parts_of(content: Any, path: Path) -> Iterator[Part]:
    """Yield the parts of a content, which may be a single part instead of a list."""
    found = bodies.mapping(content, path).get("parts")
    if isinstance(found, dict):
        yield Part((*path, "parts"), found)
        return
    for index, part in enumerate(bodies.listing(found, (*path, "parts"))):
        here: Path = (*path, "parts", index)
        yield Part(here, bodies.mapping(part, here))


def answer_parts(text: str, calls: Iterable[ToolCall]) -> Iterator[Body]:
    """Yield the parts of a model's answer: its text, unless empty, and its calls."""
    if text:
        yield {"text": text}
    for call in calls:
        named = {"id": call.id} if call.id else {}
        yield {"functionCall": {**named, "name": call.name, "args": read_arguments(call)}}


def result(name: str, text: str, call_id: str | None) -> Body:
    """Return the part of a tool's result, without an id if its call had none."""
    named = {"id": call_id} if call_id else {}
    return {"functionResponse": {**named, "name": name, "response": {"result": text}}}


def with_results(body: Body, texts: Mapping[Path, str]) -> Body:
    """Return the body with other results of tools; a JSON result stays JSON if the new text is JSON."""
    return dict(
        with_values(body, {path: _as_before(at(body, path), path, text) for path, text in texts.items()})
    )


def written(messages: Iterable[Message]) -> Body:
    """Return `systemInstruction` and `contents` of a request."""
    messages = list(messages)
    instructions = [{"text": message.text} for message in messages if message.role is Role.SYSTEM]
    system = {"systemInstruction": {"parts": instructions}} if instructions else {}
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    return {**system, "contents": [_item(turn, names) for turn in turns(messages)]}


def _item(turn: list[Message], names: Mapping[str, str]) -> Body:
    if turn[0].role is Role.ASSISTANT:
        return {"role": "model", "parts": list(answer_parts(turn[0].text, turn[0].tool_calls))}
    parts = [
        result(names.get(m.tool_call_id or "", "unknown"), m.text, m.tool_call_id)
        if m.role is Role.TOOL
        else {"text": m.text}
        for m in turn
    ]
    return {"role": "user", "parts": parts}


def _instructions(body: Body) -> Iterator[SpokenBlock]:
    key = used(body, "systemInstruction")
    if body.get(key) is None:
        return
    for path, part in parts_of(body[key], (key,)):
        yield SpokenBlock(Role.SYSTEM, path, list(_pieces(part, path)))


def _conversation(body: Body) -> Iterator[SpokenBlock]:
    calls = Calls()
    contents = body.get("contents")
    if isinstance(contents, dict):
        yield from _content(contents, ("contents",), calls)
        return
    for index, content in enumerate(bodies.listing(contents, "contents")):
        yield from _content(content, ("contents", index), calls)


def _content(content: Any, path: Path, calls: Calls) -> Iterator[SpokenBlock]:
    said_by = bodies.mapping(content, path).get("role")
    role = Role.USER if said_by is None else bodies.one_of(said_by, ROLES, (*path, "role"))
    heard = False
    for here, part in parts_of(content, path):
        heard = True
        yield _spoken(part, here, role, path, calls)
    if not heard:
        yield SpokenBlock(role, path)


def _spoken(part: Mapping[str, Any], here: Path, role: Role, item: Path, calls: Calls) -> SpokenBlock:
    if get(part, "functionCall") is not None:
        key = used(part, "functionCall")
        return SpokenBlock(role, item, call=calls.made(part[key], (*here, key)))
    if get(part, "functionResponse") is not None:
        return _result(part, here, item, calls)
    return SpokenBlock(role, item, list(_pieces(part, here)))


def _result(part: Mapping[str, Any], here: Path, item: Path, calls: Calls) -> SpokenBlock:
    key = used(part, "functionResponse")
    place: Path = (*here, key)
    found = bodies.mapping(part[key], place)
    name = bodies.name(found.get("name"), (*place, "name"))
    call_id = bodies.text(found.get("id"), (*place, "id"))
    call = calls.answered(call_id, name)
    pieces = list(_returned(found.get("response"), (*place, "response")))
    return SpokenBlock(Role.TOOL, item, pieces, call_id=call.id if call else call_id or name, tool=name)


def _returned(response: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a tool's result as text: the whole response, or the only value in it under one of the usual keys."""
    if response is None:
        return
    found = bodies.mapping(response, path)
    key = next((key for key in _WRAPPERS if list(found) == [key]), None)
    value: Any = found if key is None else found[key]
    place = path if key is None else (*path, key)
    yield place, value if isinstance(value, str) else bodies.write_json(value).decode("ascii")


def _as_before(value: Any, path: Path, text: str) -> Any:
    if isinstance(value, str):
        return text
    if text == bodies.write_json(value).decode("ascii"):
        return value
    try:
        found = bodies.read_json(text)
    except ValueError:
        found = text
    whole = path[-1] == "response"  # which the service wants to be an object
    return {"result": found} if whole and not isinstance(found, dict) else found


def _pieces(part: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the text of a part; a summary of thoughts does not count as text."""
    if part.get("text") is not None and not part.get("thought"):
        yield (*path, "text"), bodies.text(part["text"], (*path, "text"))
