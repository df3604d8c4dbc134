"""Trace steps from model exchanges, for agents without a better source of steps."""

import json
import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from agentmut._base import jsonable, storable
from agentmut.nouns import Action, Exchange, Message, Role, Step, ToolCall, Usage

Messages = tuple[Message, ...]
_MADE_UP = re.compile(r".+:[0-9a-f]{12}:[0-9]+", re.DOTALL)
"""Ids that codecs have made of calls that had none: a conversation counts otherwise than a reply, and some clients
of Ollama drop the ids of a reply."""


def steps_from_exchanges(exchanges: Sequence[Exchange], *, with_tools: bool) -> list[Step]:
    """Return one reasoning step per answered exchange; with tools, also one step per tool call in a reply.

    A tool's output is taken from the next request that carries it. The wire cannot see how long a tool
    took, nor the result of a call after which no request followed.
    """
    steps = [_reasoning(exchange) for exchange in exchanges if exchange.answered]
    return [*steps, *_tool_steps(exchanges)] if with_tools else steps


def _reasoning(exchange: Exchange) -> Step:
    reply = exchange.reply
    return Step(
        action=Action.REASON,
        turn=exchange.turn,
        node=exchange.node,
        output=storable(reply.text) if reply else None,
        model=(reply.model if reply else "") or exchange.request.model,  # some services do not say
        usage=reply.usage if reply else Usage(),
        started=exchange.started,
        seconds=exchange.seconds,
    )


def _tool_steps(exchanges: Sequence[Exchange]) -> Iterator[Step]:
    seen: set[tuple[str, Messages, tuple[ToolCall, ...]]] = set()
    for place, exchange in enumerate(exchanges):
        asked, calls = exchange.request.messages, exchange.reply.tool_calls if exchange.reply else ()
        question = (exchange.dialect, asked, calls)
        if not calls or question in seen:
            continue
        if all(call.id for call in calls):  # the same again is a client that asked twice
            seen.add(question)
        later = [other.request.messages for other in exchanges[place + 1 :]]
        for call, output in zip(calls, _outputs(asked, calls, later), strict=True):
            yield _tool_step(call, exchange, output)


def _outputs(asked: Messages, calls: Sequence[ToolCall], later: Sequence[Messages]) -> Sequence[str | None]:
    """Return the result of each call: from the request that continues there, else from the first with its id.

    An id alone tells nothing: some services give none, or begin anew in each reply.
    """
    ids = [call.id for call in calls]
    added = (messages[len(asked) :] for messages in later if messages[: len(asked)] == asked)
    for new in added:
        spelled = [call.id for message in new for call in message.tool_calls][: len(ids)]
        if spelled == ids or (len(spelled) == len(ids) and all(map(_MADE_UP.fullmatch, spelled))):
            return _answers(new, spelled)
    backwards = (_answers(messages[::-1], ids[::-1])[::-1] for messages in later)
    return next((found for found in backwards if any(text is not None for text in found)), [None] * len(ids))


def _answers(messages: Messages, ids: Sequence[str]) -> list[str | None]:
    """Return the result of each call; calls with the same id get results in the order of the calls."""
    results: dict[str, list[str]] = {}
    for message in messages:
        if message.role is Role.TOOL:
            results.setdefault(message.tool_call_id or "", []).append(message.text)
    waiting = {call_id: iter(texts) for call_id, texts in results.items()}
    return [next(waiting.get(call_id, iter(())), None) for call_id in ids]


def _tool_step(call: ToolCall, exchange: Exchange, output: str | None) -> Step:
    return Step(
        action=Action.CALL_TOOL,
        turn=exchange.turn,
        node=exchange.node,
        tool=call.name,
        arguments=_arguments(call.arguments),
        output=None if output is None else storable(output),
        call_id=call.id,
        started=exchange.started + exchange.seconds,
    )


def _arguments(text: str) -> dict[str, JsonValue] | None:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return None
    return {name: jsonable(item) for name, item in value.items()} if isinstance(value, dict) else None
