"""Compare an export with what Phoenix's own client reads of it: `python phoenix_reader.py traces.jsonl URL`.

    python3.11 -m venv /tmp/phoenix && /tmp/phoenix/bin/pip install arize-phoenix arize-phoenix-client
    PHOENIX_TELEMETRY_ENABLED=false PHOENIX_HOST=127.0.0.1 /tmp/phoenix/bin/phoenix serve &
    agentmut export traces.jsonl && agentmut export --endpoint http://127.0.0.1:6006
    /tmp/phoenix/bin/python tests/report/phoenix_reader.py traces.jsonl http://127.0.0.1:6006

Each span must be there with its name, parent, attributes and events. Phoenix adds attributes of OpenInference, which it
makes of the GenAI ones. Exit code 1 if anything is missing or differs.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def main(file: str, url: str) -> int:
    """Print how many spans are as they were exported; return 0 if all are."""
    from phoenix.client import Client

    exported = list(_spans(Path(file)))
    found = Client(base_url=url).spans.get_spans(project_identifier="default", limit=10 * len(exported))
    known = {span["context"]["span_id"]: span for span in found}
    wrong = [fault for span in exported for fault in _faults(span, known.get(span["spanId"]))]
    print("\n".join(wrong[:20]))
    kinds = sorted({known[span["spanId"]]["span_kind"] for span in exported if span["spanId"] in known})
    print(f"{len(exported)} spans, {len(wrong)} differences; Phoenix shows them as {', '.join(kinds)}")
    return 1 if wrong or not exported else 0


def _spans(file: Path) -> Iterator[Json]:
    for line in file.read_text().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def _faults(span: Json, read: Json | None) -> Iterator[str]:
    """Yield what of a span Phoenix lacks or has otherwise."""
    if read is None:
        yield f"{span['spanId']}: missing"
        return
    pairs = [
        ("name", span["name"], read["name"]),
        ("traceId", span["traceId"], read["context"]["trace_id"]),
        ("parentSpanId", span.get("parentSpanId") or None, read["parent_id"] or None),
        ("events", [one["name"] for one in span.get("events", ())], [one["name"] for one in read["events"]]),
    ]
    told = _read(span["attributes"])
    pairs += [(name, value, read["attributes"].get(name)) for name, value in told.items()]
    for event, again in zip(span.get("events", ()), read["events"], strict=False):
        has = again.get("attributes") or {}
        pairs += [(name, value, has.get(name)) for name, value in _read(event["attributes"]).items()]
    yield from (f"{span['spanId']} {name}: {was!r} is {now!r}" for name, was, now in pairs if was != now)


def _read(attributes: list[Json]) -> Json:
    return {one["key"]: _value(one["value"]) for one in attributes}


def _value(value: Json) -> Any:
    """Return a value of OTLP/JSON, which has whole numbers as text."""
    ((kind, plain),) = value.items()
    if kind == "arrayValue":
        return [_value(one) for one in plain.get("values", ())]
    return int(plain) if kind == "intValue" else plain


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
