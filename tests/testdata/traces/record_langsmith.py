"""Record a LangGraph agent as LangSmith's own SDK sends it, at a loopback server in LangSmith's place.

    agentmut simulate -- /tmp/record/bin/python tests/testdata/traces/record_langsmith.py

writes `langsmith.jsonl`, in the environment of requirements.txt: each run once, with what was added when it ended.
"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from record import PROMPT, QUESTIONS, kind_track_order

PLAIN_JSON = {
    "use_multipart_endpoint": False,
    "size_limit": 100,
    "size_limit_bytes": 20_971_520,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 16,
    "scale_down_nempty_trigger": 4,
}
RUNS: dict[str, dict[str, Any]] = {}


class LangSmith(BaseHTTPRequestHandler):
    """Takes batches of runs."""

    def do_GET(self) -> None:
        """Tell the SDK to send plain JSON."""
        self.answer(200, {"version": "0.9", "batch_ingest_config": PLAIN_JSON})

    def do_POST(self) -> None:
        """Keep runs, and what is added to them."""
        batch = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for run in (*batch.get("post", ()), *batch.get("patch", ())):
            told = {name: value for name, value in run.items() if value is not None}
            RUNS.setdefault(run["id"], {}).update(told)
        self.answer(202, {})

    def answer(self, status: int, body: Any) -> None:
        """Send JSON."""
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Run the agent, and write what the SDK has sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), LangSmith)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = {"LANGSMITH_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "LANGSMITH_API_KEY": "none"}
    os.environ.update(endpoint, LANGSMITH_TRACING="true", LANGSMITH_PROJECT="desk")
    from langchain.agents import create_agent
    from langchain_core.tracers.langchain import wait_for_all_tracers
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(model="sim-large"), tools=[kind_track_order], system_prompt=PROMPT)
    for question in QUESTIONS:
        agent.invoke({"messages": [{"role": "user", "content": question}]})
    wait_for_all_tracers()
    lines = [json.dumps(run) for run in sorted(RUNS.values(), key=lambda run: run["dotted_order"])]
    (Path(__file__).parent / "langsmith.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
