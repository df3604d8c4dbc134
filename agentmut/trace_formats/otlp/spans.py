"""Spans of OTLP/JSON: values of attributes in plain Python, times in seconds."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentmut.nouns import RecordPlace

Attributes = Mapping[str, Any]
_FAILED = (2, "STATUS_CODE_ERROR", "2")


class Event(NamedTuple):
    """Something that happened in a span."""

    name: str
    attributes: Attributes


_LAST = 253_402_300_799 * 10**9
"""The last second of the year 9999, in nanoseconds: no later time is a date."""
_SHOWN = 24
"""Digits of a wrong time that a message shows."""


class Span(NamedTuple):
    """A span of OTLP/JSON. Times are in seconds since the epoch."""

    trace: str
    id: str
    parent: str
    name: str
    started: float
    ended: float
    attributes: Attributes
    resource: Attributes
    events: tuple[Event, ...]
    error: str | None
    place: RecordPlace


def spans_of(request: Any, place: RecordPlace) -> Iterator[Span]:
    """Yield the spans of an export request. Raises `LookupError`, `TypeError` or `ValueError` for others."""
    for group in request["resourceSpans"]:
        resource = attributes_of(group.get("resource", {}).get("attributes"))
        for scope in group.get("scopeSpans") or group.get("instrumentationLibrarySpans") or ():
            for span in scope["spans"]:
                yield _span(span, resource, place)


def _span(span: Mapping[str, Any], resource: Attributes, place: RecordPlace) -> Span:
    attributes = attributes_of(span.get("attributes"))
    started = _seconds(span, "startTimeUnixNano")
    return Span(
        trace=str(span["traceId"]),
        id=str(span["spanId"]),
        parent=str(span.get("parentSpanId") or "").strip("0") and str(span["parentSpanId"]),
        name=str(span.get("name", "")),
        started=started,
        ended=max(_seconds(span, "endTimeUnixNano") if span.get("endTimeUnixNano") else 0.0, started),
        attributes=attributes,
        resource=resource,
        events=tuple(
            Event(str(event.get("name", "")), attributes_of(event.get("attributes")))
            for event in span.get("events") or ()
        ),
        error=_error(span.get("status") or {}, attributes),
        place=place,
    )


def _seconds(span: Mapping[str, Any], name: str) -> float:
    """Return a time of a span in seconds since the epoch. Raise `ValueError` for one of no calendar."""
    written = str(span[name])
    nanoseconds = int(written)
    if nanoseconds < 0:
        raise ValueError(f"{name} is {written[:_SHOWN]}: a time before 1970 is no time of a run")
    if nanoseconds > _LAST:
        raise ValueError(f"{name} is {written[:_SHOWN]}: a time after the year 9999 is no time of a run")
    return nanoseconds / 1e9


def _error(status: Mapping[str, Any], attributes: Attributes) -> str | None:
    kind = attributes.get("error.type")
    if status.get("code") not in _FAILED and kind is None:
        return None
    return str(status.get("message") or kind or "error")


def attributes_of(value: Any) -> dict[str, Any]:
    """Return OTLP's list of keys and values as a mapping."""
    return {str(one["key"]): plain(one.get("value") or {}) for one in value or ()}


def plain(value: Mapping[str, Any]) -> Any:
    """Convert an `AnyValue` of OTLP to a value of Python.

    >>> plain({"arrayValue": {"values": [{"intValue": "3"}, {"stringValue": "a"}]}})
    [3, 'a']
    """
    for kind, given in value.items():
        if kind == "intValue":
            return int(given)
        if kind == "arrayValue":
            return [plain(one) for one in given.get("values") or ()]
        if kind == "kvlistValue":
            return attributes_of(given.get("values"))
        return given
    return None


def decoded(value: Any) -> Any:
    """Return the value of JSON text; any other text or value is returned unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def nested(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """Return numbered attributes, such as `prefix.0.role`, as a list of mappings, here `[{"role": ...}]`.

    >>> nested({"p.0.role": "user", "p.1.role": "tool", "p.1.id": "c"}, "p")
    [{'role': 'user'}, {'role': 'tool', 'id': 'c'}]
    """
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            number, _, rest = name[len(prefix) + 1 :].partition(".")
            if number.isdigit():
                found.setdefault(int(number), {})[rest] = value
    return [found[number] for number in sorted(found)]
