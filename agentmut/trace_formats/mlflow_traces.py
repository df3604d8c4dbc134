"""Traces of MLflow as `Trace.to_json` and `mlflow traces get` write them, a trace a line, a list, or one document."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentmut._base import jsonable
from agentmut.nouns import BrokenRecord, ForeignTrial, ModelConfig, RecordedScore, Usage
from agentmut.seams import TraceFile
from agentmut.trace_formats.benchmark_fields import not_negative
from agentmut.trace_formats.chat_messages import listed, replies_of, spoken
from agentmut.trace_formats.otlp.messages import heard, mapping, reply, tools_of, whole
from agentmut.trace_formats.recorded_spans import Traces, cost, gather, trials_of
from agentmut.trace_formats.records import Record, records
from agentmut.trace_formats.span_tree import Kind, SpanFacts

_KEY = b"mlflow.spanType"
_KINDS = {"CHAT_MODEL": Kind.MODEL, "LLM": Kind.MODEL, "TOOL": Kind.TOOL, "AGENT": Kind.AGENT}
_NANO = 1e9


class MlflowTraces:
    """A trial is a trace; its scenario is what the user says first, and its assessments are scores."""

    name: ClassVar[str] = "mlflow"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with a trace of MLflow."""
        return _KEY in head and b'"spans"' in head

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the broken records, then a trial for each trace."""
        by_trace: Traces = {}
        for file in files:
            yield from gather(records(file), _take, by_trace)
        yield from trials_of(by_trace)


def _take(record: Record, by_trace: Traces) -> None:
    info, spans = record.value["info"], record.value["data"]["spans"]
    by_trace.setdefault(str(info["trace_id"]), []).extend([_facts(span, info, record) for span in spans])


def _facts(span: Mapping[str, Any], info: Mapping[str, Any], record: Record) -> SpanFacts:
    attributes = {name: _decoded(value) for name, value in mapping(span.get("attributes")).items()}
    kind = _KINDS.get(str(attributes.get("mlflow.spanType")), Kind.OTHER)
    is_root = not span.get("parent_span_id")
    name = str(span.get("name") or "")
    started = not_negative("start_time_unix_nano", span["start_time_unix_nano"])
    return SpanFacts(
        id=str(span["span_id"]),
        parent=str(span.get("parent_span_id") or ""),
        name=name,
        kind=kind,
        started=started / _NANO,
        ended=max(float(span.get("end_time_unix_nano") or started), started) / _NANO,
        unended=not span.get("end_time_unix_nano"),
        place=record.place,
        error=_error(span),
        node=name if kind is Kind.AGENT else None,
        scores=dict(_scores(info)) if is_root else {},
        fields=_fields(info, name) if is_root else {},
        **_content(kind, name, attributes),
    )


def _decoded(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _content(kind: Kind, name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    asked, answered = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    if kind is Kind.MODEL:
        return _model(attributes, mapping(asked), answered)
    if kind is Kind.TOOL:
        return {"tool": name, "arguments": asked, "answer": jsonable(answered)}
    given = list(mapping(asked).values())
    users = tuple(one for one in given if isinstance(one, str)) if kind is Kind.AGENT else ()
    return {"users": users, "answer": jsonable(answered)} if kind is Kind.AGENT else {}


def _model(attributes: Mapping[str, Any], asked: Mapping[str, Any], answered: Any) -> dict[str, Any]:
    said = heard(map(spoken, listed(asked.get("messages") or attributes.get("mlflow.chat.messages"))))
    answer, calls = reply([spoken(one) for one in replies_of(mapping(answered))])
    used, price = (
        mapping(attributes.get("mlflow.chat.tokenUsage")),
        mapping(attributes.get("mlflow.llm.cost")),
    )
    return {
        "prompt": said.prompt,
        "users": said.users,
        "results": said.results,
        "answer": answer,
        "calls": calls,
        "model": ModelConfig(
            name=str(asked.get("model") or attributes.get("mlflow.llm.model") or ""),
            temperature=asked.get("temperature"),
        ),
        "usage": Usage(
            input_tokens=whole(used.get("input_tokens")), output_tokens=whole(used.get("output_tokens"))
        ),
        "usd": cost(price.get("total_cost")),
        "tools": tools_of(asked.get("tools") or attributes.get("mlflow.chat.tools")),
    }


def _error(span: Mapping[str, Any]) -> str | None:
    status = mapping(span.get("status"))
    if str(status.get("code")) not in ("STATUS_CODE_ERROR", "ERROR"):
        return None
    raised = next(
        (mapping(e.get("attributes")) for e in listed(span.get("events")) if e.get("name") == "exception"), {}
    )
    kind, said = raised.get("exception.type"), raised.get("exception.message") or status.get("message")
    return f"{kind}: {said}" if kind else str(said or "error")


def _scores(info: Mapping[str, Any]) -> Iterator[tuple[str, RecordedScore]]:
    """Yield feedback that is yes, no or a number, without expectations, which judge no run."""
    for one in listed(info.get("assessments")):
        value = mapping(one.get("feedback")).get("value")
        if isinstance(value, bool | int | float):
            name = str(one.get("assessment_name"))
            yield name, RecordedScore(value=value, reason=str(one.get("rationale") or f"{name} is {value}"))


def _fields(info: Mapping[str, Any], name: str) -> dict[str, Any]:
    kept = {each: jsonable(info.get(each)) for each in ("trace_id", "state", "client_request_id")}
    return kept | {"name": name, "tags": jsonable(mapping(info.get("tags")))}
