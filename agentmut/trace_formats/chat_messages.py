"""Messages of LangChain and OpenAI, as tools that record runs write them down."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentmut.trace_formats.conversation import Call
from agentmut.trace_formats.otlp.messages import AnyMessage, inside, mapping, result, texts

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def replies_of(outputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what a model answered: LangChain's first generation, OpenAI's first choice, or a message alone."""
    for one in listed(outputs.get("generations"))[:1]:
        yield mapping(one.get("message")) or {"role": "assistant", "content": one.get("text")}
    for one in listed(outputs.get("choices"))[:1]:
        yield mapping(one.get("message"))
    if "role" in outputs:
        yield outputs


def listed(value: Any) -> list[Mapping[str, Any]]:
    """Return a list of mappings; of LangChain's nested lists, one for each input of a batch, all items."""
    every = value[0] if isinstance(value, list) and value and isinstance(value[0], list) else value
    return [one for one in every if isinstance(one, Mapping)] if isinstance(every, list) else []


def spoken(message: Mapping[str, Any]) -> AnyMessage:
    """Return a message of LangChain or OpenAI in one form."""
    of = inside(message)
    role = str(of.get("role") or of.get("type") or message.get("type") or "")
    content = of.get("content")
    text = texts(mapping(one).get("text") for one in content) if isinstance(content, list) else content
    if role == "tool":
        return AnyMessage(role, results=result(of.get("tool_call_id"), text))
    return AnyMessage(_ROLES.get(role, role), texts([text]), tuple(_calls(of.get("tool_calls"))))


def _calls(value: Any) -> Iterator[Call]:
    for one in listed(value):
        of = mapping(one.get("function")) or one
        yield Call(str(of.get("name") or ""), of.get("args", of.get("arguments")), one.get("id"))
