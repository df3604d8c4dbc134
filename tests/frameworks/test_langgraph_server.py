"""A graph on the real server of `langgraph dev`, in the environment of libraries."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentmut.adapters.langgraph_remote import LangGraphRemoteAdapter, RemoteGraphError
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import AgentSpec
from tests.frameworks.kit import Case, check

pytestmark = [pytest.mark.framework, pytest.mark.process]
pytest.importorskip("langgraph_api", reason="langgraph-cli[inmem] is not installed in this environment")
ROOT = Path(__file__).parents[2]
PATIENCE = 600.0
CONFIG = AgentConfig(
    prompt="Be kind.\n\n- Always say hello.\n- Never promise a date.", model=ModelConfig(name="sim-large")
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    file = f"{ROOT}/tests/frameworks/remote_graph.py"
    graphs = {"desk": f"{file}:graph", "asking": f"{file}:asking", "stopping": f"{file}:stopping"}
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": graphs}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "langgraph_cli",
        "dev",
        "--no-browser",
        "--no-reload",
        "--port",
        str(port),
    ]
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [*command, "--n-jobs-per-worker", "8"],
            cwd=folder,
            env=os.environ | quiet,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/ok", running, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _wait_for(url: str, running: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and running.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"the server did not start: {log.read_text()[-2_000:]}")


def test_a_graph_on_a_server_is_run_as_the_kit_demands(server: str) -> None:
    options: Any = {
        "graph": "desk",
        "config": {"configurable": {"prompt": "{prompt}", "openai_base_url": "{openai_base_url}"}},
    }
    others = {"url": server}
    turns = ["Good morning", "And again"]
    check(
        Case(
            "langgraph_remote",
            "one node",
            "",
            turns,
            [],
            options=options,
            config=CONFIG,
            at_once=8,
            others=others,
        )
    )


def ran(url: str, graph: str, *turns: Any) -> AgentTrace:
    spec = AgentSpec(adapter="langgraph_remote", url=url, options={"graph": graph})
    return asyncio.run(LangGraphRemoteAdapter.create(spec, CONFIG).run(turns, Trial("one")))


def test_questions_of_a_graph_on_a_server_are_answered_by_the_next_turn(server: str) -> None:
    trace = ran(server, "asking", "A tent, please.", ["red", 2], "Another.", "both")
    first, second, third, fourth = trace.outputs
    assert first == third == [{"what": "colour"}, {"what": "size"}]
    assert (second, fourth) == ("size: 2", "size: both")


def test_a_graph_on_a_server_that_stops_at_a_breakpoint_is_named(server: str) -> None:
    with pytest.raises(RemoteGraphError, match="at a breakpoint before answer, and no turn makes it go on"):
        ran(server, "stopping", "Hello")
