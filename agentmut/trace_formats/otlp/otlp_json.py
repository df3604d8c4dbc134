"""The format of OpenTelemetry's file exporters: an export request a line, or one document."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from agentmut._base import jsonable
from agentmut.nouns import BrokenRecord, ForeignTrial
from agentmut.seams import TraceFile
from agentmut.trace_formats.benchmark_fields import wrong_field
from agentmut.trace_formats.otlp import genai, openinference
from agentmut.trace_formats.otlp.own_export import own_trial
from agentmut.trace_formats.otlp.spans import Span, spans_of
from agentmut.trace_formats.records import Record, records
from agentmut.trace_formats.span_tree import Kind, SpanFacts, trial_of_spans


class OtlpJson:
    """A trial is a trace, whatever lines and files its spans are in; its scenario is what the user says first."""

    name: ClassVar[str] = "otlp"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with an export request of spans."""
        return b'"resourceSpans"' in head

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the broken records, then a trial for each trace with a model call, a tool or an agent."""
        by_trace: dict[str, list[SpanFacts]] = {}
        for file in files:
            for record in records(file):
                if isinstance(record, BrokenRecord):
                    yield record
                elif own := _own(record):
                    yield own
                else:
                    yield from _taken_in(record, by_trace)
        while by_trace:  # what a trial is made of is needed no longer
            yield from _trials(by_trace.pop(next(iter(by_trace))))


def _own(record: Record) -> ForeignTrial | None:
    """Return the trial of a trace that `agentmut export` wrote and nobody has changed since."""
    try:
        return own_trial(record)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def _taken_in(record: Record, by_trace: dict[str, list[SpanFacts]]) -> Iterator[BrokenRecord]:
    try:
        found = [(span.trace, _facts(span)) for span in spans_of(record.value, record.place)]
    except KeyError as error:
        yield BrokenRecord(place=record.place, reason=f"it has no {error}")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        yield BrokenRecord(place=record.place, reason=wrong_field(error))
    else:
        for trace, facts in found:
            by_trace.setdefault(trace, []).append(facts)


def _trials(spans: Sequence[SpanFacts]) -> Iterator[ForeignTrial | BrokenRecord]:
    try:
        found = trial_of_spans(spans)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        yield BrokenRecord(place=spans[0].place, reason=f"its spans make no trial: {wrong_field(error)}")
    else:
        if found is not None:
            yield found


def _facts(span: Span) -> SpanFacts:
    """Return the facts of a span by the first convention that it follows; no other content is kept."""
    content: dict[str, Any] = {}
    kind = Kind.OTHER
    for convention in (openinference, genai):
        if (found := convention.kind_of(span.attributes)) is not None:
            kind, content = found, convention.facts_of(span, found)
            break
    error = content.pop("error", None)
    return SpanFacts(
        id=span.id,
        parent=span.parent,
        name=span.name,
        kind=kind,
        started=span.started,
        ended=span.ended,
        place=span.place,
        error=span.error or error,
        fields={} if span.parent else _fields(span),
        **content,
    )


def _fields(span: Span) -> dict[str, Any]:
    """Return the fields that distinguish a root span from other root spans."""
    named = {"trace_id": span.trace, "name": span.name}
    return {name: jsonable(value) for name, value in {**span.resource, **span.attributes, **named}.items()}
