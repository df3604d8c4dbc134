"""Sending traces to a collector: OTLP over HTTP, as JSON."""

import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable

from agentmut._base import RunError, UsageError

PATH = "/v1/traces"
HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""The standard variable: `name=value` pairs with commas between them, values percent-encoded."""
PATIENCE = 30.0
"""Seconds in which the collector must answer a request."""


def send_lines(lines: Iterable[str], endpoint: str) -> int:
    """Send each line as one request, and return how many there were.

    `endpoint` is the collector's base address, or a whole one that ends in `/v1/traces`. Raises `UsageError` for what
    is no http address, `RunError` where the collector does not take a line.
    """
    address = _address(endpoint)
    sent = 0
    for line in lines:
        _send(line, address, sent)
        sent += 1
    return sent


def _address(endpoint: str) -> str:
    parts = urllib.parse.urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"--endpoint {endpoint}: write an address such as http://127.0.0.1:4318")
    return endpoint if parts.path.endswith(PATH) else endpoint.rstrip("/") + PATH


def _send(line: str, address: str, sent: int) -> None:
    request = urllib.request.Request(
        address, line.encode(), {"Content-Type": "application/json", **_headers()}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            reply.read()
    except OSError as error:  # refused, timed out, or an HTTP status that is no success
        body = error.read(300).decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else ""
        raise RunError(
            f"{address} did not take trace {sent + 1}: {error}{f': {body}' if body else ''}. {sent} traces were sent "
            "before it. Sending a trace again does not double it where the collector goes by span ids."
        ) from error


def _headers() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in os.environ.get(HEADERS, "").split(",") if "=" in pair)
    return {name.strip(): urllib.parse.unquote(value.strip()) for name, _, value in pairs}
