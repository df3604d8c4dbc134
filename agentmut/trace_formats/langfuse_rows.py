"""Observations of Langfuse: rows of its blob storage export (`observations_v2/`) or of its API, with rows of `scores/`.

The fields are those of langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields; the API writes
them in camel case.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentmut._base import jsonable
from agentmut.nouns import BrokenRecord, ForeignTrial, ModelConfig, RecordedScore, Usage
from agentmut.seams import TraceFile
from agentmut.trace_formats.benchmark_fields import seconds_of
from agentmut.trace_formats.chat_messages import listed, replies_of, spoken
from agentmut.trace_formats.otlp.messages import heard, mapping, reply, tools_of, whole
from agentmut.trace_formats.recorded_spans import Traces, cost, gather, trials_of
from agentmut.trace_formats.records import Record, records
from agentmut.trace_formats.span_tree import Kind, SpanFacts

_OBSERVATION = re.compile(rb'"(?:usageDetails|usage_details)"')
_SCORE = re.compile(rb'"(?:dataType|data_type)"\s*:\s*"(?:NUMERIC|BOOLEAN|CATEGORICAL)"')
_TRACE = re.compile(rb'"(?:traceId|trace_id)"')
_CAMEL = re.compile(r"(?<=[a-z])([A-Z])")
_KINDS = {"GENERATION": Kind.MODEL, "TOOL": Kind.TOOL, "AGENT": Kind.AGENT}
_NAMED = (
    "trace_id",
    "name",
    "session_id",
    "user_id",
    "version",
    "release",
    "environment",
    "trace_name",
    "tags",
)


class LangfuseRows:
    """A trial is a trace; its scenario is what the user says first."""

    name: ClassVar[str] = "langfuse"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with an observation or a score of a trace."""
        return bool(_TRACE.search(head) and (_OBSERVATION.search(head) or _SCORE.search(head)))

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the broken records, then a trial for each trace."""
        by_trace: Traces = {}
        scores: dict[str, dict[str, RecordedScore]] = {}

        def take(record: Record, found: Traces) -> None:
            row = {_CAMEL.sub(r"_\1", name).lower(): value for name, value in record.value.items()}
            if "data_type" in row:
                scores.setdefault(str(row["trace_id"]), {}).update(_score(row))
            else:
                found.setdefault(str(row["trace_id"]), []).append(_facts(row, record))

        for file in files:
            yield from gather(records(file), take, by_trace)
        for found in trials_of(by_trace):
            yield found if isinstance(found, BrokenRecord) else _scored(found, scores)


def _scored(found: ForeignTrial, scores: Mapping[str, Mapping[str, RecordedScore]]) -> ForeignTrial:
    own = scores.get(str(found.fields.get("trace_id")), {})
    return found.model_copy(update={"scores": {**found.scores, **own}}) if own else found


def _score(row: Mapping[str, Any]) -> dict[str, RecordedScore]:
    """Return a score that is yes, no or a number; a score that is a word is left out."""
    value, name = row.get("value"), str(row["name"])
    if not isinstance(value, int | float) or row["data_type"] == "CATEGORICAL":
        return {}
    made = bool(value) if row["data_type"] == "BOOLEAN" else float(value)
    return {name: RecordedScore(value=made, reason=str(row.get("comment") or f"{name} is {made}"))}


def _facts(row: Mapping[str, Any], record: Record) -> SpanFacts:
    kind = _KINDS.get(str(row["type"]).upper(), Kind.OTHER)
    started = seconds_of(row["start_time"])
    if started is None:
        raise ValueError(f"its start time {row['start_time']!r} is no time")
    name = str(row.get("name") or "")
    return SpanFacts(
        id=str(row["id"]),
        parent=str(row.get("parent_observation_id") or ""),
        name=name,
        kind=kind,
        started=started,
        ended=seconds_of(row.get("end_time")) or started,
        unended=not row.get("end_time"),
        place=record.place,
        error=str(row.get("status_message") or "error") if row.get("level") == "ERROR" else None,
        node=name if kind is Kind.AGENT else None,
        fields={} if row.get("parent_observation_id") else {each: jsonable(row.get(each)) for each in _NAMED},
        **_content(kind, name, row),
    )


def _content(kind: Kind, name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    asked, answered = _decoded(row.get("input")), _decoded(row.get("output"))
    if kind is Kind.MODEL:
        return _model(row, asked, answered)
    if kind is Kind.TOOL:
        return {"tool": name, "arguments": _arguments(asked), "answer": jsonable(answered)}
    return {"answer": jsonable(answered)} if kind is Kind.AGENT else {}


def _decoded(value: Any) -> Any:
    """Return the value of JSON text; a plain text stays a text, also where it says `42` or `true`."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


_READ = ("input_cached_tokens", "input_cache_read", "cache_read_input_tokens")
_WRITTEN = ("input_cache_creation", "cache_creation_input_tokens")
"""Kinds of input tokens that a prompt cache held, or took, as integrations of Langfuse name them."""


def _usage(row: Mapping[str, Any]) -> Usage:
    """Return the tokens of a model call. Langfuse counts each kind apart: `input` lacks the cached ones."""
    used = mapping(_decoded(row.get("usage_details")))

    def of(side: str, *more: str) -> int:
        return sum(
            whole(count)
            for kind, count in used.items()
            if kind.startswith(f"{side}_") or kind in (side, *more)
        )

    return Usage(
        input_tokens=whole(used.get("prompt_tokens")) or of("input", *_READ, *_WRITTEN),
        output_tokens=whole(used.get("completion_tokens")) or of("output"),
        cached_tokens=sum(whole(used.get(kind)) for kind in _READ),
        cache_written_tokens=sum(whole(used.get(kind)) for kind in _WRITTEN),
    )


def _arguments(value: Any) -> Any:
    """Return the arguments of a tool call, as the SDK records a call of a function."""
    if isinstance(value, Mapping) and set(value) == {"args", "kwargs"}:
        return {
            **{f"argument {at}": one for at, one in enumerate(value["args"], 1)},
            **mapping(value["kwargs"]),
        }
    return value


def _model(row: Mapping[str, Any], asked: Any, answered: Any) -> dict[str, Any]:
    said = heard(map(spoken, listed(mapping(asked).get("messages") or asked)))
    answer, calls = reply([spoken(one) for one in replies_of(mapping(answered))])
    price = mapping(_decoded(row.get("cost_details")))
    settings = mapping(_decoded(row.get("model_parameters")))
    temperature = settings.get("temperature")
    return {
        "prompt": said.prompt,
        "users": said.users,
        "results": said.results,
        "answer": answered if isinstance(answered, str) else answer,
        "calls": calls,
        "model": ModelConfig(
            name=str(row.get("model") or ""),
            temperature=temperature if isinstance(temperature, int | float) else None,
        ),
        "usage": _usage(row),
        "usd": cost(row.get("total_cost", price.get("total"))),
        "tools": tools_of(mapping(asked).get("tools") or settings.get("tools")),
    }
