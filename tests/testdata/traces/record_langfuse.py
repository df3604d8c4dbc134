"""Record an agent as Langfuse's own SDK observes it, in rows of its own model (`langfuse.api.ObservationV2`).

    python3.11 -m venv /tmp/langfuse && /tmp/langfuse/bin/pip install langfuse==5.0.4 openai
    agentmut simulate -- /tmp/langfuse/bin/python tests/testdata/traces/record_langfuse.py

writes `langfuse.jsonl`, an observation a line, as the blob storage export has it.
The SDK sends spans, and Langfuse's server makes rows of them: here `row` does that, from the SDK's attributes.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langfuse import Langfuse, observe
from langfuse.api import ObservationV2
from langfuse.openai import OpenAI
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from record import PROMPT, QUESTIONS, TOOL, track_order

SPANS = InMemorySpanExporter()
track = observe(track_order, as_type="tool")


@observe(as_type="agent")
def desk(question: str) -> str:
    """A tool loop on the OpenAI SDK."""
    client = OpenAI()
    said: list[Any] = [{"role": "system", "content": PROMPT}, {"role": "user", "content": question}]
    for _ in range(4):
        reply = client.chat.completions.create(model="sim-large", messages=said, tools=[TOOL])
        message = reply.choices[0].message
        said.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            try:
                result = track(**json.loads(call.function.arguments))
            except LookupError as error:
                result = f"error: {error}"
            said.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return ""


def row(span: Any) -> ObservationV2:
    """Return the row of a span, as the server makes it."""
    told = {name.removeprefix("langfuse.observation."): value for name, value in span.attributes.items()}
    start, end = (datetime.fromtimestamp(at / 1e9, UTC) for at in (span.start_time, span.end_time))
    return ObservationV2(
        id=f"{span.context.span_id:016x}",
        trace_id=f"{span.context.trace_id:032x}",
        parent_observation_id=f"{span.parent.span_id:016x}" if span.parent else None,
        project_id="desk",
        type=str(told.get("type", "span")).upper(),
        name=span.name,
        start_time=start,
        end_time=end,
        level=told.get("level", "DEFAULT"),
        status_message=told.get("status_message"),
        input=told.get("input"),
        output=told.get("output"),
        model=told.get("model.name"),
        model_parameters=json.loads(told.get("model.parameters", "{}")),
        usage_details={k: v for k, v in json.loads(told.get("usage_details", "{}")).items() if v is not None},
        version="1.4.0",
    )


def main() -> None:
    """Run the agent, and write rows of what the SDK has observed."""
    client = Langfuse(
        public_key="none", secret_key="none", base_url="http://127.0.0.1:9", span_exporter=SPANS
    )
    for question in QUESTIONS:
        desk(question)
    client.flush()
    rows = [row(span) for span in sorted(SPANS.get_finished_spans(), key=lambda span: span.start_time)]
    lines = [one.model_dump_json(exclude_none=True) for one in rows]
    (Path(__file__).parent / "langfuse.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
