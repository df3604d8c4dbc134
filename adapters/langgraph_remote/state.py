"""The state of a thread, as a LangGraph server writes it in JSON: its messages, calls of tools and questions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import Action, Step


def messages(state: Any) -> Sequence[Mapping[str, Any]]:
    """Return the messages of a state."""
    found = state.get("messages") if isinstance(state, dict) else None
    return [message for message in found if isinstance(message, dict)] if isinstance(found, list) else []


def text(message: Mapping[str, Any]) -> str:
    """Return what a message says."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in content)
    return str(content or "")


def questions(state: Any) -> Sequence[Mapping[str, Any]]:
    """Return the questions (`interrupt()`) that a run stopped for; empty if it has ended."""
    found = state.get("__interrupt__") if isinstance(state, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def asked(found: Sequence[Mapping[str, Any]]) -> JsonValue:
    """Return the graph's question; a list if it asked several at once.

    >>> asked([{"id": "q", "value": "Pay?"}])
    'Pay?'
    """
    values: list[JsonValue] = [question.get("value") for question in found]
    return values[0] if len(values) == 1 else values


def reply(found: Sequence[Mapping[str, Any]], turn: JsonValue) -> JsonValue:
    """Return the reply to each question by its id: a list of as many replies answers them one by one.

    A server of LangGraph before 0.6 gives its one question no id, and gets the bare reply.

    >>> two = [{"id": "a", "value": "Colour?"}, {"id": "b", "value": "Size?"}]
    >>> reply(two, ["red", 2]), reply(two, "both")
    ({'a': 'red', 'b': 2}, {'a': 'both', 'b': 'both'})
    """
    if not all(question.get("id") for question in found):
        return turn
    each = isinstance(turn, list) and len(found) > 1 and len(turn) == len(found)
    replies = turn if isinstance(turn, list) and each else [turn] * len(found)
    return {str(question["id"]): said for question, said in zip(found, replies, strict=True)}


def is_unfinished(state: Any) -> bool:
    """Return whether a state ends with words of the user or with calls that no tool has answered."""
    last: Mapping[str, Any] = next(reversed(messages(state)), {})
    return last.get("type") in ("human", "system") or bool(last.get("tool_calls"))


def calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    """Yield the calls of tools that messages tell of, with their results; when they were made is not told."""
    results = {one.get("tool_call_id"): one for one in messages if one.get("type") == "tool"}
    turn = -1
    for message in messages:
        turn += message.get("type") == "human"
        for call in message.get("tool_calls") or () if message.get("type") == "ai" else ():
            result = results.get(call.get("id"), {})
            told = text(result)
            failed = told if result.get("status") == "error" else None
            yield Step(
                action=Action.CALL_TOOL,
                turn=max(turn, 0),
                tool=str(call.get("name")),
                arguments=call.get("args") or {},
                output=None if failed else told,
                error=failed,
                call_id=call.get("id"),
            )
