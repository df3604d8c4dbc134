"""Plain replies of OpenAI Responses: an object with its output items."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentmut.nouns import Body, ModelReply, Usage
from agentmut.wire import bodies
from agentmut.wire.dialects.openai_codec import CREATED
from agentmut.wire.dialects.reading import TokenKeys, tokens
from agentmut.wire.dialects.responses.responses_requests import CALLS, kind_of, read_call

INCOMPLETE: Mapping[str, str] = {"max_output_tokens": "length"}
"""Why a reply ended early, and what Chat Completions calls that."""

_TOKENS = TokenKeys(
    read=("input_tokens",),
    written=("output_tokens",),
    cached=("input_tokens_details.cached_tokens",),
    cache_written=("input_tokens_details.cache_write_tokens",),
)


def decode(reply: Mapping[str, Any]) -> ModelReply:
    """Return a parsed reply in the normal form. Raises `ValueError` for errors and for replies that are not done."""
    if reply.get("error") is not None:
        raise ValueError(f"the service answered with an error: {reply['error']!r:.200}")
    output = output_items(reply)
    calls = [
        read_call(item, f"output[{place}]") for place, item in enumerate(output) if kind_of(item) in CALLS
    ]
    return ModelReply(
        model=bodies.text(reply.get("model"), "model"),
        text="".join(_text(item, f"output[{place}]") for place, item in enumerate(output)),
        tool_calls=tuple(calls),
        finish_reason=_finish_reason(reply, called=bool(calls)),
        usage=tokens(reply.get("usage"), _TOKENS),
    )


def encode(reply: ModelReply, reply_id: str, *, status: str | None = None) -> Body:
    """Return a reply in the dialect's form; with `status`, as it is before there is any output."""
    done = status is None
    reasons = {said: reason for reason, said in INCOMPLETE.items()}
    reason = reply.finish_reason if reply.finish_reason not in ("stop", "tool_calls") else None
    return {
        "id": reply_id,
        "object": "response",
        "created_at": CREATED,
        "status": status or ("incomplete" if reason else "completed"),
        "error": None,
        "incomplete_details": {"reason": reasons.get(reason, reason)} if reason and done else None,
        "instructions": None,
        "metadata": {},
        "model": reply.model,
        "output": written_items(reply, reply_id) if done else [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _write_usage(reply.usage) if done else None,
    }


def written_items(reply: ModelReply, reply_id: str) -> list[Body]:
    """Return the output items of a reply: its text, then its calls."""
    message = {
        "id": f"msg_{reply_id}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [text_part(reply.text)],
    }
    calls: list[Body] = [
        {
            "id": f"fc_{reply_id}_{place}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for place, call in enumerate(reply.tool_calls)
    ]
    return [message, *calls] if reply.text else calls


def text_part(text: str) -> Body:
    """Return a text of an output message."""
    return {"type": "output_text", "text": text, "annotations": []}


def output_items(reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the raw output items."""
    if "output" not in reply:
        raise ValueError("output: expected a list, found none")
    listed = bodies.listing(reply["output"], "output")
    return [bodies.mapping(item, f"output[{place}]") for place, item in enumerate(listed)]


def _text(item: Mapping[str, Any], where: str) -> str:
    if kind_of(item) != "message":
        return ""
    parts = bodies.listing(item.get("content"), f"{where}.content")
    found = [bodies.mapping(part, f"{where}.content[]") for part in parts]
    return "".join(bodies.text(part.get("text", part.get("refusal")), f"{where}.content[]") for part in found)


def _finish_reason(reply: Mapping[str, Any], *, called: bool) -> str:
    status = bodies.text(reply.get("status"), "status") or "completed"
    if status == "incomplete":
        details = bodies.mapping(reply.get("incomplete_details") or {}, "incomplete_details")
        reason = bodies.text(details.get("reason"), "incomplete_details.reason") or status
        return INCOMPLETE.get(reason, reason)
    if status != "completed":
        raise ValueError(f"status: the reply is not there, it is {status!r:.80}")
    return "tool_calls" if called else "stop"


def _write_usage(usage: Usage) -> Body:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_written_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.total,
    }
