"""Faults of a reply: of its envelope, its text and its calls."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from agentmut.mutation import another, expanded
from agentmut.nouns import Codec, ModelReply, ReplyFault, ToolCall
from agentmut.wire.bodies import read_json

_REPLY_ID = "reply-changed-on-its-way"


def faulty_reply(codec: Codec, body: bytes, fault: ReplyFault) -> bytes:
    """Return a reply, plain or streamed, with the fault; the same bytes if the fault changes nothing.

    Raises `ValueError` for a body that the codec cannot read, such as an error, and for a reply that the dialect
    cannot say.
    """
    reply = codec.decode_reply(body)
    after = _CHANGES[fault](reply)
    if after == reply:
        return body
    return codec.encode_reply(after, reply_id=_REPLY_ID, stream=_is_stream(body))


def _is_stream(body: bytes) -> bool:
    try:
        read_json(body)
    except ValueError:
        return True
    return False


def _answer_cut(reply: ModelReply) -> ModelReply:
    if reply.tool_calls:
        return reply
    return reply.model_copy(update={"text": reply.text[: (len(reply.text) + 1) // 2]})


def _answer_empty(reply: ModelReply) -> ModelReply:
    return reply if reply.tool_calls else reply.model_copy(update={"text": ""})


def _call_cut(reply: ModelReply) -> ModelReply:
    if not reply.tool_calls:
        return reply
    *whole, last = reply.tool_calls
    cut = last.model_copy(update={"arguments": last.arguments[: len(last.arguments) // 2]})
    return reply.model_copy(update={"tool_calls": (*whole, cut)})


def _call_as_text(reply: ModelReply) -> ModelReply:
    if not reply.tool_calls:
        return reply
    text = "\n".join(filter(None, [reply.text, *map(_as_text, reply.tool_calls)]))
    return reply.model_copy(update={"text": text, "tool_calls": (), "finish_reason": "stop"})


def _as_text(call: ToolCall) -> str:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = call.arguments
    return f"<tool_call>{json.dumps({'name': call.name, 'arguments': arguments})}</tool_call>"


def _second_call_lost(reply: ModelReply) -> ModelReply:
    return reply.model_copy(update={"tool_calls": reply.tool_calls[:1]})


def _call_id_lost(reply: ModelReply) -> ModelReply:
    calls = tuple(call.model_copy(update={"id": ""}) for call in reply.tool_calls)
    return reply.model_copy(update={"tool_calls": calls})


def _arguments_other(reply: ModelReply) -> ModelReply:
    return _with_arguments(reply, another)


def _query_expanded(reply: ModelReply) -> ModelReply:
    return _with_arguments(reply, expanded)


def _with_arguments(reply: ModelReply, change: Callable[[Any], Any]) -> ModelReply:
    """Return the reply with changed arguments; arguments that are no JSON object stay."""
    calls = tuple(
        call.model_copy(update={"arguments": _changed(call.arguments, change)}) for call in reply.tool_calls
    )
    return reply.model_copy(update={"tool_calls": calls})


def _changed(arguments: str, change: Callable[[Any], Any]) -> str:
    try:
        made = json.loads(arguments)
    except ValueError:
        return arguments
    after = change(made) if isinstance(made, dict) else made
    return arguments if after == made else json.dumps(after, ensure_ascii=False)


def _wrong_finish(reply: ModelReply) -> ModelReply:
    return reply.model_copy(update={"finish_reason": "stop" if reply.tool_calls else "length"})


_CHANGES: Mapping[ReplyFault, Callable[[ModelReply], ModelReply]] = MappingProxyType(
    {
        ReplyFault.ANSWER_CUT: _answer_cut,
        ReplyFault.ANSWER_EMPTY: _answer_empty,
        ReplyFault.CALL_CUT: _call_cut,
        ReplyFault.CALL_AS_TEXT: _call_as_text,
        ReplyFault.SECOND_CALL_LOST: _second_call_lost,
        ReplyFault.CALL_ID_LOST: _call_id_lost,
        ReplyFault.WRONG_FINISH: _wrong_finish,
        ReplyFault.ARGUMENTS_OTHER: _arguments_other,
        ReplyFault.QUERY_EXPANDED: _query_expanded,
    }
)
