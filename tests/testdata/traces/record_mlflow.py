"""Record an agent on the OpenAI SDK as MLflow's own tracing keeps it (`Trace.to_json`).

    python3.11 -m venv /tmp/mlflow
    /tmp/mlflow/bin/pip install mlflow-skinny==3.17.2 numpy pandas sqlalchemy alembic openai
    MLFLOW_TRACKING_URI=sqlite:////tmp/mlflow.db agentmut simulate -- /tmp/mlflow/bin/python \
        tests/testdata/traces/record_mlflow.py

writes `mlflow.jsonl`, a trace a line, each with a feedback.
"""

import json
import sys
from pathlib import Path
from typing import Any

import mlflow
from mlflow.entities import SpanType
from openai import OpenAI
from record import PROMPT, QUESTIONS, TOOL, track_order

track = mlflow.trace(track_order, span_type=SpanType.TOOL)


@mlflow.trace(span_type=SpanType.AGENT)
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


def main() -> None:
    """Run the agent, and write what MLflow has kept."""
    mlflow.openai.autolog()
    lines = []
    for question in QUESTIONS:
        desk(question)
        mlflow.flush_trace_async_logging()
        trace = mlflow.get_last_active_trace_id()
        mlflow.log_feedback(trace_id=trace, name="found", value="W1" in question, rationale="W1 is there")
        written = mlflow.get_trace(trace).to_json()
        lines.append(written.replace(sys.prefix, "/environment").replace(str(Path.cwd()), "/project"))
    (Path(__file__).parent / "mlflow.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
