"""OpenInference's conventions, as Phoenix and Arize read them: github.com/Arize-ai/openinference, `spec`."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentmut._base import jsonable
from agentmut.nouns import Usage
from agentmut.trace_formats.conversation import Call
from agentmut.trace_formats.otlp import langchain
from agentmut.trace_formats.otlp.messages import (
    AnyMessage,
    heard,
    mapping,
    model_of,
    reply,
    result,
    texts,
    tools_of,
    whole,
)
from agentmut.trace_formats.otlp.spans import Attributes, Span, decoded, nested
from agentmut.trace_formats.span_tree import Kind

_KIND = "openinference.span.kind"
_KINDS = {"LLM": Kind.MODEL, "TOOL": Kind.TOOL, "AGENT": Kind.AGENT}


def kind_of(attributes: Attributes) -> Kind | None:
    """Return the kind of a span; None for a span without attributes of these conventions.

    A hand-off is a tool's span without a tool: the model's call of it is the step.
    """
    if _KIND not in attributes:
        return None
    kind = _KINDS.get(str(attributes[_KIND]), Kind.OTHER)
    return Kind.OTHER if kind is Kind.TOOL and "tool.name" not in attributes else kind


def facts_of(span: Span, kind: Kind) -> dict[str, Any]:
    """Return the facts of a span, as fields of `SpanFacts`."""
    of = span.attributes
    node = of.get("agent.name") or of.get("graph.node.name") or of.get("graph.node.id")
    node = node or mapping(decoded(of.get("metadata"))).get("langgraph_node")
    found: dict[str, Any] = {"node": str(node) if node else None}
    if kind is Kind.TOOL:
        return found | _tool(of)
    if kind is not Kind.MODEL:
        asked = of.get("input.value")
        plain = isinstance(asked, str) and decoded(asked) is asked
        answered = of.get("output.value")
        return found | {
            "users": (asked,) if plain and kind is Kind.AGENT else (),
            "answer": answered if kind is Kind.AGENT and decoded(answered) is answered else None,
        }
    told = heard(map(_spoken, nested(of, "llm.input_messages")))
    answer, calls = reply(list(map(_spoken, nested(of, "llm.output_messages"))))
    found |= {"prompt": told.prompt, "users": told.users, "results": told.results}
    return found | {"answer": answer, "calls": calls} | _model(of)


def _tool(attributes: Attributes) -> dict[str, Any]:
    given = decoded(attributes.get("input.value"))
    returned = attributes.get("output.value")
    named = {"call_id": attributes.get("tool.id") or attributes.get("tool_call.id")}
    return {
        "tool": str(attributes["tool.name"]),
        "arguments": given if isinstance(given, Mapping) else None,
        "answer": jsonable(returned),
        "tools": tools_of([_definition(attributes)]),
    } | {**named, **langchain.returned(returned)}


def _definition(attributes: Attributes) -> dict[str, Any] | None:
    """Return the tool that a span describes; None where the span has no schema of the parameters."""
    schema = decoded(attributes.get("tool.parameters") or attributes.get("tool.json_schema"))
    if not isinstance(schema, Mapping) or "properties" not in schema:
        return None
    about = str(attributes.get("tool.description") or "")
    return {"name": attributes["tool.name"], "description": about, "parameters": dict(schema)}


def _model(attributes: Attributes) -> dict[str, Any]:
    asked = mapping(decoded(attributes.get("llm.invocation_parameters")))
    schemas = [decoded(one.get("tool.json_schema")) for one in nested(attributes, "llm.tools")]
    settings = {name: asked.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")}
    cost = attributes.get("llm.cost.total")
    return {
        "model": model_of(
            provider=attributes.get("llm.provider"),
            name=str(attributes.get("llm.model_name") or ""),
            **settings,
        ),
        "usage": Usage(
            input_tokens=whole(attributes.get("llm.token_count.prompt")),
            output_tokens=whole(attributes.get("llm.token_count.completion")),
            cached_tokens=whole(attributes.get("llm.token_count.prompt_details.cache_read")),
            cache_written_tokens=whole(attributes.get("llm.token_count.prompt_details.cache_write")),
        ),
        "usd": float(cost) if isinstance(cost, int | float) else None,
        "tools": tools_of(schemas),
    }


def _spoken(message: Mapping[str, Any]) -> AnyMessage:
    calls = tuple(_calls(message))
    role, text = str(message.get("message.role", "")), message.get("message.content")
    if text is None:
        parts = nested(message, "message.contents")
        text = texts(part.get("message_content.text") for part in parts)
    if role == "tool":
        return AnyMessage(role, results=result(message.get("message.tool_call_id"), text))
    return AnyMessage(role, text, calls)


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    for one in nested(message, "message.tool_calls"):
        name = str(one.get("tool_call.function.name", ""))
        yield Call(name, one.get("tool_call.function.arguments"), one.get("tool_call.id"))
