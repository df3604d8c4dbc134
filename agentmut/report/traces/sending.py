"""Sending traces to a collector: OTLP over HTTP, as JSON, or as protobuf to a collector that takes no JSON."""

import base64
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, NamedTuple

from agentmut._base import RunError, UsageError

PATH = "/v1/traces"
HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""The standard variable: `name=value` pairs with commas between them, values percent-encoded."""
PATIENCE = 30.0
"""Seconds in which the collector must answer a request."""


def send_lines(lines: Iterable[str], endpoint: str) -> int:
    """Send each line as one request, and return how many there were.

    `endpoint` is the collector's base address, or a whole one that ends in `/v1/traces`. Where it takes no JSON, as
    Phoenix, protobuf is sent. Raises `UsageError` for what is no http address, and where the package for protobuf is
    missing; `RunError` where the collector does not take a line.
    """
    address = _address(endpoint)
    sent, form = 0, _JSON
    for line in lines:
        try:
            _send(line, address, form)
        except OSError as error:
            if form is not _JSON or not _takes_no_json(error):
                raise _not_taken(error, address, sent) from error
            form = _PROTOBUF
            _send_again(line, address, sent)
        sent += 1
    return sent


def as_protobuf(line: str) -> bytes:
    """Return a line of OTLP/JSON as the same request in protobuf.

    Raises `UsageError` where the package `opentelemetry-proto` is missing.
    """
    try:
        from google.protobuf.json_format import ParseDict
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError as error:
        raise UsageError(
            "the collector takes no JSON, and protobuf needs a package. Install it: pip install 'agentmut[otlp]'"
        ) from error
    request = json.loads(line, object_hook=_with_bytes)
    return bytes(ParseDict(request, ExportTraceServiceRequest()).SerializeToString())


class _Form(NamedTuple):
    """How a request is written."""

    media_type: str
    written: Callable[[str], bytes]


_JSON = _Form("application/json", str.encode)
_PROTOBUF = _Form("application/x-protobuf", as_protobuf)


def _with_bytes(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a request with its ids as the general form of protobuf has bytes: OTLP's own has hex."""
    ids = {
        name: part[name] for name in ("traceId", "spanId", "parentSpanId") if isinstance(part.get(name), str)
    }
    return part | {name: base64.b64encode(bytes.fromhex(value)).decode() for name, value in ids.items()}


def _address(endpoint: str) -> str:
    parts = urllib.parse.urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"--endpoint {endpoint}: write an address such as http://127.0.0.1:4318")
    return endpoint if parts.path.endswith(PATH) else endpoint.rstrip("/") + PATH


def _send(line: str, address: str, form: _Form) -> None:
    request = urllib.request.Request(
        address, form.written(line), {"Content-Type": form.media_type, **_headers()}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        reply.read()


def _send_again(line: str, address: str, sent: int) -> None:
    """Send the first line that was refused as JSON."""
    try:
        _send(line, address, _PROTOBUF)
    except OSError as error:
        raise _not_taken(error, address, sent) from error


def _takes_no_json(error: OSError) -> bool:
    refused = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    return isinstance(error, urllib.error.HTTPError) and error.code == refused


def _not_taken(error: OSError, address: str, sent: int) -> RunError:
    """Return the fault of a collector that refused, timed out, or answered with a status that is no success."""
    body = error.read(300).decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else ""
    cause = getattr(error, "reason", error) if type(error) is urllib.error.URLError else error
    return RunError(
        f"{address} did not take trace {sent + 1}: {cause}{f': {body}' if body else ''}. {sent} traces were sent "
        "before it. Give the command again: a collector that knows span ids keeps each trace once."
    )


def _headers() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in os.environ.get(HEADERS, "").split(",") if "=" in pair)
    return {name.strip(): urllib.parse.unquote(value.strip()) for name, _, value in pairs}
