"""A trace from a conversation: the messages of the user, the agent and its tools, in their order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base import jsonable
from agentmut.nouns import Action, AgentTrace, Role, Step, Usage


class Call(NamedTuple):
    """A call of a tool that a message asks for."""

    tool: str
    arguments: Any
    """A mapping, or JSON text of one."""
    id: str | None = None


class ConversationMessage(NamedTuple):
    """One message of a conversation, with what is known of it."""

    role: Role
    text: JsonValue = None
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    """The call that a tool's result answers."""
    error: str | None = None
    model: str | None = None
    usage: Usage = Usage()
    usd: float | None = None
    started: float = 0.0
    """Seconds since the run began."""
    seconds: float = 0.0
    node: str | None = None


def conversation_trace(messages: Sequence[ConversationMessage], seconds: float = 0.0) -> AgentTrace:
    """Return the trace of a conversation: each reply is a model call, then its tool calls, or the turn's answer.

    What an agent says before the user says anything belongs to the first turn.
    """
    steps: list[Step] = []
    answers: dict[int, JsonValue] = {}
    turn = -1
    for place, one in enumerate(messages):
        turn += one.role is Role.USER
        if one.role is Role.ASSISTANT:
            steps += _steps(one, messages[place + 1 :], max(turn, 0))
            if not one.calls and one.text not in (None, ""):
                answers[max(turn, 0)] = one.text
    return AgentTrace(steps=tuple(steps), outputs=tuple(answers[n] for n in sorted(answers)), seconds=seconds)


def turns_of(messages: Sequence[ConversationMessage]) -> tuple[JsonValue, ...]:
    """Return what the user said."""
    return tuple(one.text for one in messages if one.role is Role.USER)


def prompt_of(messages: Sequence[ConversationMessage]) -> str:
    """Return the system messages that come before the user's first one, joined by blank lines."""
    first = takewhile(lambda one: one.role is Role.SYSTEM, messages)
    return "\n\n".join(str(one.text) for one in first if one.text)


def _steps(reply: ConversationMessage, after: Sequence[ConversationMessage], turn: int) -> Iterator[Step]:
    common = {"turn": turn, "node": reply.node}
    yield Step(
        action=Action.REASON,
        output=reply.text,
        error=reply.error,
        model=reply.model,
        usage=reply.usage,
        usd=reply.usd,
        started=reply.started,
        seconds=reply.seconds,
        **common,
    )
    for call, result in zip(reply.calls, _results(reply.calls, after), strict=True):
        yield Step(
            action=Action.CALL_TOOL,
            tool=call.tool,
            arguments=arguments_of(call.arguments),
            call_id=call.id,
            output=result.text if result else None,
            error=result.error if result else None,
            started=(result and result.started) or reply.started + reply.seconds,
            seconds=result.seconds if result else 0.0,
            **common,
        )
    if not reply.calls and reply.text not in (None, ""):
        yield Step(action=Action.RESPOND, output=reply.text, started=reply.started + reply.seconds, **common)


def _results(calls: Sequence[Call], after: Sequence[ConversationMessage]) -> list[ConversationMessage | None]:
    """Return the result of each call: by its id, or in their order where ids are missing or come twice."""
    block = list(takewhile(lambda one: one.role is not Role.ASSISTANT, after))
    found = [one for one in block if one.role is Role.TOOL]
    ids = [call.id for call in calls]
    by_id = {one.call_id: one for one in found}
    if (
        None not in ids
        and len(set(ids)) == len(ids)
        and len(by_id) == len(found)
        and by_id.keys() <= set(ids)
    ):
        return [by_id.get(one) for one in ids]
    return [*found, *[None] * len(calls)][: len(calls)]


def arguments_of(arguments: Any) -> dict[str, JsonValue] | None:
    """Return a call's arguments as a mapping; None where they are no mapping, and no JSON of one."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            return None
    return (
        {str(name): jsonable(value) for name, value in arguments.items()}
        if isinstance(arguments, Mapping)
        else None
    )


def chat_message(message: Mapping[str, Any]) -> ConversationMessage:
    """Read a message in the dialect of OpenAI's Chat Completions. Raises `ValueError` for one without a known role."""
    calls = tuple(
        Call(str(call["function"]["name"]), call["function"].get("arguments"), call.get("id"))
        for call in message.get("tool_calls") or ()
    )
    role = Role("system" if message["role"] == "developer" else message["role"])
    return ConversationMessage(
        role, jsonable(message.get("content")), calls, call_id=message.get("tool_call_id")
    )
