"""Spans that stand one by one in a file: group them by trace, report broken records, and make trials of them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentmut.nouns import BrokenRecord, ForeignTrial
from agentmut.trace_formats.benchmark_fields import wrong_field
from agentmut.trace_formats.records import Record
from agentmut.trace_formats.span_tree import SpanFacts, trial_of_spans

Traces = dict[str, list[SpanFacts]]


def gather(
    found: Iterable[Record | BrokenRecord], take: Callable[[Record, Traces], None], by_trace: Traces
) -> Iterator[BrokenRecord]:
    """Put each record's spans with those of its trace, and yield each record that cannot be read."""
    for record in found:
        if isinstance(record, BrokenRecord):
            yield record
            continue
        try:
            take(record, by_trace)
        except KeyError as error:
            yield BrokenRecord(place=record.place, reason=f"it has no {error}")
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            own = type(error) is ValueError  # says in our own words what is wrong
            yield BrokenRecord(place=record.place, reason=str(error) if own else wrong_field(error))


def trials_of(by_trace: Traces) -> Iterator[ForeignTrial | BrokenRecord]:
    """Yield the trial of each trace with a model call, a tool or an agent."""
    for spans in filter(None, by_trace.values()):  # a trace of which no span could be read has none
        try:
            found = trial_of_spans(spans)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            yield BrokenRecord(place=spans[0].place, reason=f"its spans make no trial: {wrong_field(error)}")
        else:
            if found is not None:
                yield found


def cost(value: Any) -> float | None:
    """Return an amount of US dollars; None for any value that is not a number."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
