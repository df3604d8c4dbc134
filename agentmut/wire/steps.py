"""Trace steps from model exchanges, for agents that have no better source."""

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from agentmut.plain import jsonable, storable
from agentmut.trace import Action, Step, Usage
from agentmut.wire.messages import Exchange, Role, ToolCall


def steps_from_exchanges(exchanges: Sequence[Exchange], *, with_tools: bool) -> list[Step]:
    """One reasoning step per answered exchange; with tools, also one step per tool call in a reply.

    A tool's output is taken from the next request that carries it. The wire cannot see how long a tool
    took, nor the result of a call after which no request followed.
    """
    steps = [_reasoning(exchange) for exchange in exchanges if exchange.answered]
    return [*steps, *_tool_steps(exchanges)] if with_tools else steps


def _reasoning(exchange: Exchange) -> Step:
    reply = exchange.reply
    return Step(
        action=Action.REASON,
        output=storable(reply.text) if reply else None,
        model=(reply.model if reply else "") or exchange.request.model,  # some services do not say
        usage=reply.usage if reply else Usage(),
        started=exchange.started,
        seconds=exchange.seconds,
    )


def _tool_steps(exchanges: Sequence[Exchange]) -> Iterator[Step]:
    results = {
        message.tool_call_id: message.text
        for exchange in exchanges
        for message in exchange.request.messages
        if message.role is Role.TOOL
    }
    seen: set[str] = set()
    for exchange in exchanges:
        for call in exchange.reply.tool_calls if exchange.reply else ():
            if call.id not in seen:
                seen.add(call.id)
                yield _tool_step(call, exchange, results.get(call.id))


def _tool_step(call: ToolCall, exchange: Exchange, output: str | None) -> Step:
    return Step(
        action=Action.CALL_TOOL,
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
