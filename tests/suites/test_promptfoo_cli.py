"""The real promptfoo on real projects: `make test-promptfoo` installs it and runs this, `make test` does not."""

import asyncio
import importlib.util
import json
import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.execution import Ending, Execution
from agentmut.project.loading import load_project
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings, command_of
from agentmut.trial.executor import TrialRequest
from agentmut.usecases.campaigns import measure

ROOT = Path(__file__).parents[2]


def _there() -> bool:
    try:
        return bool(command_of(PromptfooSettings(path=""), str(ROOT)))
    except UsageError:
        return False


WITHOUT = "promptfoo is not installed here; `make test-promptfoo` installs it"
pytestmark = pytest.mark.skipif(not _there(), reason=WITHOUT)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from _copied("promptfoo_desk", "desk", tmp_path, monkeypatch)


@pytest.fixture
def families(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from _copied("promptfoo_families", "echoing", tmp_path, monkeypatch)


@pytest.fixture
def providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulator_url: str) -> Iterator[Path]:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    yield from _copied("promptfoo_providers", "asking", tmp_path, monkeypatch)


def _copied(name: str, module: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("AGENTMUT_PROMPTFOO", " ".join(command_of(PromptfooSettings(path=""), str(ROOT))))
    monkeypatch.setenv("HOME", str(place / "home"))
    before = list(sys.path)
    folder = place / "desk"
    data = ROOT / "tests" / "testdata" / name
    shutil.copytree(data, folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    yield folder
    sys.path[:] = before
    sys.modules.pop(module, None)


def test_promptfoo_finds_the_rule_that_no_assertion_checks_and_calls_no_noisy_test_a_gap(
    project: Path,
) -> None:
    result = measure(project)
    status = {row.description: row.status for row in result.mutants}
    found = {text: next(s for d, s in status.items() if text in d) for text in ("Greet", "refund", "Never")}
    assert found == {"Greet": "killed", "refund": "killed", "Never": "survived"}
    given = {path.name for path in (ROOT / "tests" / "testdata" / "promptfoo_desk").iterdir()}
    assert {path.name for path in project.iterdir()} - given <= {".agentmut", "__pycache__"}
    assert not (project.parent / "home").exists()  # the user's own promptfoo is left alone


def test_a_provider_of_promptfoo_is_measured_on_the_wire_and_its_blind_spot_found(
    project: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    result = measure(project / "wire.yaml")
    status = {row.description: row.status for row in result.mutants}
    found = {text: next(s for d, s in status.items() if text in d) for text in ("anything else", "guarantee")}
    assert found == {"anything else": "killed", "guarantee": "survived"}
    assert result.cost.tokens > 0


@contextmanager
def _desk_behind_http(asking: Path, port: int) -> Iterator[str]:
    """A service that sends its model requests to agentmut's port, with the header that names the trial."""
    spec = importlib.util.spec_from_file_location("asking_service", asking)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Desk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["content-length"])))["said"]
            trial = {"x-agentmut-trial": self.headers["x-agentmut-trial"] or ""}
            text = module.answer(said, "sim-large", f"http://127.0.0.1:{port}/openai/v1", trial)
            told = json.dumps({"reply": {"text": text}}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("kind", ["python", "exec", "http"])
def test_a_python_an_exec_and_an_http_provider_are_the_agent_itself(
    kind: str, providers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reads the test's variables as promptfoo gives them, and the mutants reach its model requests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = providers / f"{kind}.yaml"
    file.write_text(file.read_text().replace("${PROXY}", str(port)))
    with _desk_behind_http(providers / "asking.py", port) as url:
        monkeypatch.setenv("DESK_URL", url)
        result = measure(file)
    status = {row.description: row.status for row in result.mutants}
    found = {text: next(s for d, s in status.items() if text in d) for text in ("anything else", "guarantee")}
    assert found == {"anything else": "killed", "guarantee": "survived"}
    assert result.cost.tokens > 0


def test_the_agents_own_error_is_told_from_an_assertions(project: Path) -> None:
    (project / "promptfooconfig.yaml").write_text(
        """
prompts: ["{{question}}"]
tests:
  - {description: crash, vars: {question: crash}, assert: [{type: contains, value: a}]}
  - {description: thrown, vars: {question: Hi}, assert: [{type: javascript, value: "JSON.parse(output)"}]}
  - description: failed
    vars: {question: Hi}
    assert: [{type: contains, value: "no such word"}, {type: icontains, value: i}]  # some answers shout
  - {description: unknown, vars: {question: Hi}, assert: [{type: "no-such-assertion"}]}
"""
    )
    endings = asyncio.run(_once_each(project, ("crash", "thrown", "failed", "unknown")))
    assert endings["crash"].ending is Ending.RAISED and "the agent cannot do that" in endings["crash"].reason
    assert endings["thrown"].ending is Ending.CASE_ERROR and "JSON" in endings["thrown"].reason
    assert endings["unknown"].ending is Ending.CASE_ERROR and "no-such-assertion" in endings["unknown"].reason
    assert endings["failed"].ending is Ending.ANSWERED
    assert [check.passed for check in endings["failed"].trace.checks] == [False, True]


async def _once_each(project: Path, names: Sequence[str]) -> dict[str, Execution]:
    executor = make_executor(open_session(load_project(project)))
    async with executor.session():
        ended = await asyncio.gather(
            *(executor.execute(TrialRequest(None, name, f"{name}-1")) for name in names)
        )
    return dict(zip(names, ended, strict=True))


def test_every_family_of_assertions_is_a_check_of_its_own_and_one_that_cannot_judge_is_no_evidence(
    families: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMPTFOO_REQUEST_BACKOFF_MS", "1")
    names = [case.name for case in open_session(load_project(families)).scenarios]
    ended = asyncio.run(_once_each(families, names))
    kinds = {name: len(end.trace.checks) for name, end in ended.items() if end.ending is Ending.ANSWERED}
    held = {name: [check.passed for check in ended[name].trace.checks] for name in kinds}
    counts = {"text": 25, "json": 4, "markup": 5, "graded": 12, "weighed": 1}
    assert held == {
        f"{family}, {kind}": [kind == "good"] * count
        for family, count in counts.items()
        for kind in ("good", "bad")
    }
    graded = ended["graded, bad"].trace.checks
    assert [check.evaluator for check in graded[:2]] == [
        "llm-rubric: says how long it takes", "g-eval: says how long it takes",
    ]  # fmt: skip
    broken = {name: end for name, end in ended.items() if name not in kinds}
    assert {end.ending for end in broken.values()} == {Ending.CASE_ERROR} and len(broken) == 21
    down = [end.reason for name, end in broken.items() if name.startswith("said=down")]
    assert len(down) == 12 and all("grader failed" in reason for reason in down)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            "prompts: [a\n",
            r"promptfooconfig\.yaml cannot be read\. .* code 1 .* deficient indentation",
        ),
        ("prompts: [hello]\n", "has no test"),
    ],
)
def test_a_config_that_cannot_be_used_is_told(project: Path, config: str, said: str) -> None:
    (project / "promptfooconfig.yaml").write_text(config)
    with pytest.raises(UsageError, match=said):
        open_session(load_project(project))
