"""`agentmut export`: stored trials as files and to a collector on loopback."""

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typer.testing import CliRunner

from agentmut._base.errors import RunError, UsageError
from agentmut.cli.entry import app
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import AgentTrace
from agentmut.store.rows import StoredTrial
from agentmut.store.store import Store


class QuietHandler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(handler: type[QuietHandler]) -> Iterator[str]:
    """Serve on loopback during the block; yield the URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "export_agent.py").write_text("def run(config, input):\n    return config.prompt\n")
    agent = {"adapter": "python", "run": "export_agent:run", "config": {"prompt": "Say hello."}}
    (folder / "agentmut.yaml").write_text(
        yaml.safe_dump({"version": 1, "agent": agent, "suite": {"scenarios": "s.yaml"}})
    )
    suite = [{"name": "greets", "input": "hi", "evaluators": [{"contains": "hello"}]}]
    (folder / "s.yaml").write_text(yaml.safe_dump(suite))
    store = Store(folder / ".agentmut" / "store.db")
    for number, (mutant, said) in enumerate([("", "hello"), ("abc1", "no"), ("", "spoiled")]):
        execution = Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=(said,), seconds=1.0))
        store.save("r", [StoredTrial(f"k{number}", mutant, "greets", number, execution, 1000.0 + number)])
    store.quarantine.add("r", ["k2"], "the service was in trouble")
    store.close()
    return folder


@pytest.fixture
def collector() -> Iterator[Any]:
    taken: list[tuple[str, str, Any]] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            taken.append((self.path, self.headers.get("x-token", ""), body))
            self.send_response(200 if len(taken) < 3 else 503)
            self.end_headers()

    with serving(Handler) as url:
        yield url, taken


def exported(project: Path, *arguments: str) -> str:
    found = CliRunner().invoke(app, ["export", *arguments, "--project", str(project)], catch_exceptions=False)
    assert found.exit_code == 0
    return found.output


def outcomes(path: Path) -> list[str]:
    spans = [
        json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        for line in path.read_text().splitlines()
    ]
    told = [{one["key"]: one["value"] for one in span["attributes"]} for span in spans]
    return [one["agentmut.outcome"]["stringValue"] for one in told]


def test_trials_that_count_are_written_with_their_verdict_a_line_each(project: Path) -> None:
    target = project / "out" / "traces.jsonl"
    assert "2 traces written to" in exported(project, str(target), "--mutants")
    assert outcomes(target) == ["pass", "fail"]
    exported(project, str(target), "--mutants", "--failed")
    assert outcomes(target) == ["fail"]
    exported(project, str(target), "--mutant", "original")
    assert outcomes(target) == ["pass"]
    assert [path.name for path in target.parent.iterdir()] == ["traces.jsonl"]


def test_trials_of_mutants_are_left_out_unless_they_are_asked_for(project: Path) -> None:
    target = project / "traces.jsonl"
    said = exported(project, str(target))
    assert said.startswith("1 trace written to")
    assert said.endswith("They are of the unchanged agent: --mutants adds the trials of mutants.\n")
    assert outcomes(target) == ["pass"]
    assert "--mutants" not in exported(project, str(target), "--mutants")
    exported(project, str(target), "--mutant", "abc")
    assert outcomes(target) == ["fail"]
    with pytest.raises(UsageError, match="leave --mutant out"):
        exported(project, str(target), "--mutants", "--mutant", "abc")


def test_the_target_may_be_an_option_as_in_other_verbs(project: Path, tmp_path: Path) -> None:
    exported(project, "--output", str(tmp_path / "named.jsonl"))
    assert (tmp_path / "named.jsonl").read_text().count("\n") > 0
    with pytest.raises(UsageError, match="give one file or folder"):
        exported(project, "a.jsonl", "--output", "b.jsonl")


def test_trajectories_are_a_folder_of_files(project: Path) -> None:
    folder = project / "trajectories"
    assert "2 trajectories" in exported(project, str(folder), "--format", "atif", "--mutants")
    assert sorted(path.name for path in folder.iterdir()) == ["trial-000001.json", "trial-000002.json"]
    assert json.loads((folder / "trial-000002.json").read_text())["agent"]["extra"] == {"mutant": "abc1"}


def test_a_collector_is_sent_each_trace_with_the_headers_of_the_environment(
    project: Path, collector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, taken = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-token=a%20b")
    assert f"2 traces sent to {url}." in exported(project, "--mutants", "--endpoint", url)
    assert [(path, token) for path, token, _ in taken] == [("/v1/traces", "a b")] * 2
    with pytest.raises(RunError, match=r"did not take trace 1: HTTP Error 503"):
        exported(project, "--endpoint", f"{url}/v1/traces")


@pytest.fixture
def phoenix() -> Iterator[Any]:
    """A collector that takes protobuf alone, as Phoenix does; its last request fails."""
    taken: list[Any] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            plain = self.headers["Content-Type"] != "application/x-protobuf"
            if not plain:
                taken.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(415 if plain else 200 if len(taken) < 3 else 500)
            self.end_headers()

    with serving(Handler) as url:
        yield url, taken


def test_a_collector_that_takes_no_json_is_sent_protobuf(
    project: Path, phoenix: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, taken = phoenix
    exported(project, str(project / "traces.jsonl"), "--mutants")
    written = [json.loads(line) for line in (project / "traces.jsonl").read_text().splitlines()]
    assert "2 traces sent" in exported(project, "--mutants", "--endpoint", url)
    spans = [request["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for request in written]
    sent = [request.resource_spans[0].scope_spans[0].spans[0] for request in taken]
    assert [span.trace_id.hex() for span in sent] == [span["traceId"] for span in spans]
    assert [span.span_id.hex() for span in sent] == [span["spanId"] for span in spans]
    assert [span.name for span in sent] == [span["name"] for span in spans]
    with pytest.raises(RunError, match="did not take trace 1: HTTP Error 500"):
        exported(project, "--endpoint", url)
    monkeypatch.setitem(sys.modules, "google.protobuf.json_format", None)
    with pytest.raises(UsageError, match=r"Install it: pip install 'agentmut\[otlp\]'"):
        exported(project, "--endpoint", url)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name either a file to write"),
        (("x.jsonl", "--endpoint", "http://127.0.0.1:1"), "name either a file to write"),
        (("--endpoint", "localhost:4318"), "write an address such as"),
        (("--endpoint", "http://127.0.0.1:1", "--format", "atif"), "takes otlp only"),
        (("/", "--format", "otlp"), "/ is a folder"),
        (("/proc/nowhere/x.jsonl",), "cannot write /proc/nowhere"),
    ],
)
def test_bad_targets_are_refused_before_anything_is_written(
    project: Path, arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        exported(project, *arguments)


def test_a_project_without_trials_and_a_collector_that_is_away_are_named(project: Path) -> None:
    with pytest.raises(RunError, match="did not take trace 1"):
        exported(project, "--endpoint", "http://127.0.0.1:1")
    (project / ".agentmut" / "store.db").unlink()
    with pytest.raises(UsageError, match="holds no trials"):
        exported(project, "x.jsonl")
