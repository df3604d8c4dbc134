"""Runs of LangSmith as its SDK gives them (`list_runs`), a run a line or a list of runs.

The fields are those of docs.langchain.com/langsmith/run-data-format; messages are LangChain's or OpenAI's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentmut._base import jsonable
from agentmut.nouns import BrokenRecord, ForeignTrial, ModelConfig, RecordedScore, Usage
from agentmut.seams import TraceFile
from agentmut.trace_formats.benchmark_fields import seconds_of
from agentmut.trace_formats.chat_messages import listed, replies_of, spoken
from agentmut.trace_formats.otlp.messages import heard, inside, mapping, reply, tools_of, whole
from agentmut.trace_formats.recorded_spans import Traces, gather, trials_of
from agentmut.trace_formats.records import Record, records
from agentmut.trace_formats.span_tree import Kind, SpanFacts

_KEYS = (b'"run_type"', b'"trace_id"')
_KINDS = {"llm": Kind.MODEL, "tool": Kind.TOOL}


class LangSmithRuns:
    """A trial is a trace; its scenario is what the user says first."""

    name: ClassVar[str] = "langsmith"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with a run of a trace."""
        return all(key in head for key in _KEYS)

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the broken records, then a trial for each trace with a model call or a tool."""
        by_trace: Traces = {}
        for file in files:
            yield from gather(records(file), _take, by_trace)
        yield from trials_of(by_trace)


def _take(record: Record, by_trace: Traces) -> None:
    by_trace.setdefault(str(record.value["trace_id"]), []).append(_facts(record))


def _facts(record: Record) -> SpanFacts:
    run = record.value
    kind = _KINDS.get(str(run["run_type"]), Kind.OTHER)
    started = seconds_of(run["start_time"])
    if started is None:
        raise ValueError(f"its start_time {run['start_time']!r} is no time")
    metadata = mapping(mapping(run.get("extra")).get("metadata"))
    content = _model(run, metadata) if kind is Kind.MODEL else _tool(run) if kind is Kind.TOOL else {}
    node = metadata.get("langgraph_node")
    return SpanFacts(
        id=str(run["id"]),
        parent=str(run.get("parent_run_id") or ""),
        name=str(run.get("name") or ""),
        kind=kind,
        started=started,
        ended=seconds_of(run.get("end_time")) or started,
        unended=not run.get("end_time"),
        place=record.place,
        error=str(run["error"]).strip().splitlines()[0] if run.get("error") else None,
        node=str(node) if node else None,
        scores=dict(_scores(run)),
        fields={} if run.get("parent_run_id") else _fields(run, metadata),
        **content,
    )


def _model(run: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    asked = heard(map(spoken, listed(mapping(run.get("inputs")).get("messages"))))
    replies = list(replies_of(mapping(run.get("outputs"))))
    answer, calls = reply([spoken(one) for one in replies])
    settings = mapping(mapping(run.get("extra")).get("invocation_params"))
    cost = run.get("total_cost")
    return {
        "prompt": asked.prompt,
        "users": asked.users,
        "results": asked.results,
        "answer": answer,
        "calls": calls,
        "model": ModelConfig(
            provider=metadata.get("ls_provider"),
            name=str(
                metadata.get("ls_model_name") or settings.get("model") or settings.get("model_name") or ""
            ),
            temperature=settings.get("temperature", metadata.get("ls_temperature")),
        ),
        "usage": _usage(run, replies),
        "usd": float(cost) if cost is not None else None,
        "tools": tools_of(settings.get("tools") or mapping(run.get("inputs")).get("tools")),
    }


def _usage(run: Mapping[str, Any], replies: Iterable[Mapping[str, Any]]) -> Usage:
    given = next((mapping(inside(one).get("usage_metadata")) for one in replies), {})
    return Usage(
        input_tokens=whole(run.get("prompt_tokens") or given.get("input_tokens")),
        output_tokens=whole(run.get("completion_tokens") or given.get("output_tokens")),
    )


def _tool(run: Mapping[str, Any]) -> dict[str, Any]:
    returned = mapping(run.get("outputs")).get("output", run.get("outputs"))
    message = inside(returned) if isinstance(returned, Mapping) else {}
    call_id = mapping(run.get("extra")).get("tool_call_id") or message.get("tool_call_id")
    return {
        "tool": str(run.get("name") or ""),
        "arguments": run.get("inputs"),
        "answer": jsonable(message.get("content", returned)),
        "call_id": str(call_id) if call_id else None,
    }


def _scores(run: Mapping[str, Any]) -> Iterator[tuple[str, RecordedScore]]:
    for name, given in mapping(run.get("feedback_stats")).items():
        average = mapping(given).get("avg")
        if isinstance(average, int | float):
            value = bool(average) if average in (0, 1) else float(average)
            yield name, RecordedScore(value=value, reason=f"feedback {name} is {average:g}")


def _fields(run: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "trace_id", "session_name", "session_id", "reference_example_id", "tags")
    return {name: jsonable(run.get(name)) for name in names} | {"metadata": jsonable(metadata)}
