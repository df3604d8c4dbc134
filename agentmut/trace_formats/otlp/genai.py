"""OpenTelemetry's GenAI conventions: the current names, the names up to 1.36, and Traceloop's.

https://github.com/open-telemetry/semantic-conventions-genai, which is "Development" throughout.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut._base import jsonable
from agentmut.nouns import RecordedScore, Usage
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
from agentmut.trace_formats.otlp.spans import Attributes, Event, Span, decoded, nested
from agentmut.trace_formats.span_tree import Kind

_KINDS = {
    "chat": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "text_completion": Kind.MODEL,
    "execute_tool": Kind.TOOL,
    "invoke_agent": Kind.AGENT,
    "create_agent": Kind.OTHER,
    "invoke_workflow": Kind.AGENT,
}
_TRACELOOP = {"tool": Kind.TOOL, "agent": Kind.AGENT, "workflow": Kind.AGENT}
_EVENT_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


def kind_of(attributes: Attributes) -> Kind | None:
    """Return the kind of a span; None for a span without attributes of these conventions."""
    operation = attributes.get("gen_ai.operation.name")
    if operation is not None:
        return _KINDS.get(str(operation), Kind.OTHER)
    if "traceloop.span.kind" in attributes:
        return _TRACELOOP.get(str(attributes["traceloop.span.kind"]), Kind.OTHER)
    return Kind.MODEL if "gen_ai.request.model" in attributes else None


def facts_of(span: Span, kind: Kind) -> dict[str, Any]:
    """Return the facts of a span, as fields of `SpanFacts`."""
    found: dict[str, Any] = {"scores": dict(_scores(span.events)), "node": langchain.node_of(span.attributes)}
    if kind is Kind.TOOL:
        return found | _tool(span.attributes, span.name)
    asked = heard(_input_messages(span))
    answer, calls = reply(list(_answered(span)))
    found |= {"prompt": asked.prompt, "users": asked.users, "results": asked.results}
    found |= {"answer": answer or jsonable(span.attributes.get("final_result")), "calls": calls}
    if kind is Kind.AGENT:
        name = span.attributes.get("gen_ai.agent.name") or span.attributes.get("traceloop.entity.name")
        return found | {"node": str(name) if name else found["node"]}
    return found | _model(span.attributes)


def _tool(attributes: Attributes, name: str) -> dict[str, Any]:
    given = attributes.get("gen_ai.tool.call.arguments", attributes.get("traceloop.entity.input"))
    returned = attributes.get("gen_ai.tool.call.result", attributes.get("traceloop.entity.output"))
    return {
        "tool": str(attributes.get("gen_ai.tool.name") or attributes.get("traceloop.entity.name") or name),
        "arguments": langchain.arguments(decoded(given)),
        "answer": jsonable(returned),
        "call_id": attributes.get("gen_ai.tool.call.id"),
    } | langchain.returned(returned)


def _model(attributes: Attributes) -> dict[str, Any]:
    def of(*names: str) -> Any:
        return next((attributes[name] for name in names if name in attributes), None)

    definitions = of("gen_ai.tool.definitions")
    functions = [
        {
            "name": one.get("name"),
            "description": one.get("description", ""),
            "parameters": decoded(one.get("parameters")),
        }
        for one in nested(attributes, "llm.request.functions")
    ]
    return {
        "model": model_of(
            provider=of("gen_ai.provider.name", "gen_ai.system"),
            name=str(of("gen_ai.response.model", "gen_ai.request.model") or ""),
            temperature=of("gen_ai.request.temperature"),
            top_p=of("gen_ai.request.top_p"),
            max_tokens=of("gen_ai.request.max_tokens"),
            seed=of("gen_ai.request.seed", "gen_ai.openai.request.seed"),
        ),
        "usage": Usage(
            input_tokens=whole(of("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")),
            output_tokens=whole(of("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")),
            cached_tokens=whole(of(*_names_of_cache("read"))),
            cache_written_tokens=whole(of(*_names_of_cache("creation"))),
        ),
        "tools": tools_of(definitions or functions),
    }


def _names_of_cache(use: str) -> tuple[str, str]:
    """Return the names of the input tokens that a cache held or took: today's, and Traceloop's of before."""
    return f"gen_ai.usage.cache_{use}.input_tokens", f"gen_ai.usage.cache_{use}_input_tokens"


def _input_messages(span: Span) -> Iterator[AnyMessage]:
    for source in _sources(span):
        yield from _spoken(decoded(source.get("gen_ai.system_instructions")), role="system")
        yield from _spoken(decoded(source.get("gen_ai.input.messages")))
        yield from (_chat(one) for one in _maps(decoded(source.get("gen_ai.prompt"))))
    yield from (_numbered(one) for one in nested(span.attributes, "gen_ai.prompt"))
    for event in span.events:
        if event.name in _EVENT_ROLES:
            yield _chat({"role": _EVENT_ROLES[event.name], **_flat(event.attributes)})


def _answered(span: Span) -> Iterator[AnyMessage]:
    for source in _sources(span):
        yield from _spoken(decoded(source.get("gen_ai.output.messages")))
        yield from (_chat(one) for one in _maps(decoded(source.get("gen_ai.completion"))))
    yield from (_numbered(one) for one in nested(span.attributes, "gen_ai.completion"))
    for event in span.events:
        if event.name == "gen_ai.choice":
            message = decoded(event.attributes.get("message"))
            yield _chat({"role": "assistant", **_flat(event.attributes), **mapping(message)})


def _sources(span: Span) -> Iterator[Attributes]:
    """Yield the attributes that may hold content: the attributes of the span, then those of its events."""
    yield span.attributes
    wanted = (
        "gen_ai.client.inference.operation.details",
        "gen_ai.content.prompt",
        "gen_ai.content.completion",
    )
    yield from (event.attributes for event in span.events if event.name in wanted)


def _spoken(messages: Any, role: str = "") -> Iterator[AnyMessage]:
    """Yield messages with parts; a list of parts without a message becomes one message of `role`."""
    if role:
        parts = _maps(messages)
        if parts:
            yield _of_parts(role, parts)
        return
    for one in _maps(messages):
        yield _of_parts(str(one.get("role", "")), _maps(one.get("parts")))


def _of_parts(role: str, parts: Iterable[Mapping[str, Any]]) -> AnyMessage:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for part in parts:
        kinds.setdefault(str(part.get("type", "")), []).append(part)
    return AnyMessage(
        role=role,
        text=texts(part.get("content") for part in kinds.get("text", ())),
        calls=tuple(
            Call(str(part.get("name", "")), part.get("arguments"), part.get("id"))
            for part in kinds.get("tool_call", ())
        ),
        results=tuple(
            one
            for part in kinds.get("tool_call_response", ())
            for one in result(part.get("id"), part.get("response", part.get("result")))
        ),
    )


def _numbered(message: Mapping[str, Any]) -> AnyMessage:
    """Read Traceloop's `gen_ai.prompt.0.content`, `.tool_calls.0.name` and so on."""
    calls = tuple(
        Call(str(one.get("name", "")), one.get("arguments"), one.get("id"))
        for one in nested(message, "tool_calls")
    )
    role, text = str(message.get("role", "")), message.get("content")
    if role == "tool":
        return AnyMessage(role, results=result(message.get("tool_call_id"), text))
    return AnyMessage(role, texts([_text(decoded(text))]), calls)


def _chat(message: Mapping[str, Any]) -> AnyMessage:
    """Read a message of Chat Completions, in events and in old attributes."""
    calls = tuple(
        Call(
            str(mapping(one.get("function")).get("name", "")),
            mapping(one.get("function")).get("arguments"),
            one.get("id"),
        )
        for one in _maps(decoded(message.get("tool_calls")))
    )
    role, text = str(message.get("role", "")), _text(message.get("content"))
    if role == "tool":
        return AnyMessage(role, results=result(message.get("id") or message.get("tool_call_id"), text))
    return AnyMessage(role, texts([text]), calls)


def _text(content: Any) -> Any:
    """Return the texts of a content with parts."""
    if not isinstance(content, list):
        return content
    return texts(mapping(part).get("text", mapping(part).get("content")) for part in content)


def _flat(attributes: Attributes) -> dict[str, Any]:
    return {name.removeprefix("gen_ai.event."): value for name, value in attributes.items()}


def _scores(events: Iterable[Event]) -> Iterator[tuple[str, RecordedScore]]:
    for event in events:
        of = event.attributes
        value, label = of.get("gen_ai.evaluation.score.value"), of.get("gen_ai.evaluation.score.label")
        if event.name == "gen_ai.evaluation.result" and isinstance(value, int | float):
            reason = str(of.get("gen_ai.evaluation.explanation") or label or "")
            yield (
                str(of.get("gen_ai.evaluation.name", "score")),
                RecordedScore(value=float(value), reason=reason),
            )


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
