"""The conversation in Ollama's dialect: messages, calls with object arguments, results that name their tool."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut.nouns import Body, Message, Role, Text, ToolCall
from agentmut.wire import bodies
from agentmut.wire.dialects.reading import MadeUpIds, arguments_text, read_arguments

ROLES: Mapping[str, Role] = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}


class Calls:
    """The calls of a conversation or a reply, so far. Servers before 0.13 and some clients leave ids out."""

    def __init__(self) -> None:
        self._ids = MadeUpIds()
        self._open: list[ToolCall] = []

    def of(self, message: Mapping[str, Any], where: str) -> tuple[ToolCall, ...]:
        """Return the calls of a message."""
        where = f"{where}.tool_calls"
        found = bodies.listing(message.get("tool_calls"), where)
        calls = tuple(self._call(bodies.mapping(call, where), where) for call in found)
        self._open += calls
        return calls

    def answered(self, message: Mapping[str, Any], where: str) -> tuple[str | None, str | None]:
        """Return the id and the tool's name of the call that a result answers.

        A result has the id, or the name alone, or neither: then it answers the first call without a result.
        """
        call_id = bodies.text(message.get("tool_call_id"), f"{where}.tool_call_id")
        name = bodies.text(message.get("tool_name", message.get("name")), f"{where}.tool_name")
        same = (c for c in self._open if (c.id == call_id if call_id else name in ("", c.name)))
        call = next(same, None)
        if call is None:
            return call_id or None, name or None
        self._open.remove(call)
        return call.id, call.name

    def _call(self, call: Mapping[str, Any], where: str) -> ToolCall:
        function = bodies.mapping(call.get("function"), f"{where}.function")
        name = bodies.name(function.get("name"), f"{where}.function.name")
        arguments = function.get("arguments")
        call_id = bodies.text(call.get("id"), f"{where}.id") or self._ids.new(name, arguments)
        return ToolCall(id=call_id, name=name, arguments=arguments_text(arguments))


def conversation(body: Body) -> list[Any]:
    """Return the raw messages. Raises `ValueError` for a body that is not Ollama's own.

    Other programs have a path `/api/chat` too, and name no model there.
    """
    bodies.name(body.get("model"), "model")
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise ValueError("messages: expected a list, the conversation so far")
    return messages


def each(body: Body) -> Iterator[tuple[str, Role, Mapping[str, Any]]]:
    """Yield each message with its place and its role."""
    for index, found in enumerate(conversation(body)):
        where = f"messages[{index}]"
        message = bodies.mapping(found, where)
        yield where, bodies.one_of(message.get("role"), ROLES, f"{where}.role"), message


def read(body: Body) -> Iterator[Message]:
    """Yield the messages in the normal form."""
    calls = Calls()
    for where, role, message in each(body):
        yield Message(
            role=role,
            text=bodies.text(message.get("content"), f"{where}.content"),
            tool_calls=calls.of(message, where),
            tool_call_id=calls.answered(message, where)[0] if role is Role.TOOL else None,
        )


def texts(body: Body) -> Iterator[Text]:
    """Yield the texts of all messages; images and thoughts do not count as text."""
    calls = Calls()
    for index, (where, role, message) in enumerate(each(body)):
        calls.of(message, where)
        call_id, tool = calls.answered(message, where) if role is Role.TOOL else (None, None)
        if isinstance(message.get("content"), str):
            yield Text(("messages", index, "content"), role, message["content"], call_id, tool)


def written(messages: Iterable[Message]) -> Iterator[Body]:
    """Yield messages in the dialect's form."""
    names: dict[str, str] = {}
    for message in messages:
        names |= {call.id: call.name for call in message.tool_calls}
        if message.role is Role.TOOL:
            yield result(message.text, names.get(message.tool_call_id or ""), message.tool_call_id)
        elif message.role is Role.ASSISTANT:
            yield assistant_message(message.text, message.tool_calls)
        else:
            yield {"role": message.role.value, "content": message.text}


def assistant_message(text: str, calls: Iterable[ToolCall]) -> Body:
    """Return the message of a model."""
    made = [
        {"id": call.id, "function": {"index": i, "name": call.name, "arguments": read_arguments(call)}}
        for i, call in enumerate(calls)
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}


def result(text: str, tool: str | None, call_id: str | None) -> Body:
    """Return the message with the result of a call."""
    named = {"tool_name": tool, "tool_call_id": call_id}
    return {"role": "tool", "content": text, **{key: value for key, value in named.items() if value}}
