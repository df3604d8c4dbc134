"""`.ci/supply-chain` with the real pip-audit, which asks a service on loopback that speaks the API of OSV."""

import json
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "supply-chain"
HOLE: dict[str, object] = {
    "id": "PYSEC-2026-1",
    "summary": "A planted hole.",
    "affected": [{"package": {"name": "idna", "ecosystem": "PyPI"}, "versions": ["3.10"]}],
}


class Service(NamedTuple):
    """A service of vulnerabilities: where it is, and which packages it was asked for."""

    address: str
    asked: list[str]


@contextmanager
def service(status: int, holes: dict[str, dict[str, object]]) -> Iterator[Service]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = query["package"]["name"]
            asked.append(f"{name} {query['version']}")
            body = json.dumps({"vulns": [holes[name]]} if name in holes else {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Service(f"http://127.0.0.1:{server.server_port}/v1/query", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment that has idna 3.10 and pip."""
    folder = tmp_path_factory.mktemp("audited") / "venv"
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "idna==3.10"], check=True)
    return folder


def audit(environment: Path, sbom: Path, service: Service) -> subprocess.CompletedProcess[str]:
    options = ["--vulnerability-service", "osv", "--osv-url", service.address]
    return subprocess.run([SCRIPT, environment, sbom, *options], capture_output=True, text=True, check=False)


def test_an_environment_without_a_known_hole_passes(environment: Path, tmp_path: Path) -> None:
    with service(200, {}) as quiet:
        done = audit(environment, tmp_path / "bill.json", quiet)
    assert done.returncode == 0, done.stderr
    assert "idna 3.10" in quiet.asked
    components = json.loads((tmp_path / "bill.json").read_text())["components"]
    assert {"name": "idna", "version": "3.10"} in [
        {"name": part["name"], "version": part["version"]} for part in components
    ]


def test_a_planted_hole_is_named(environment: Path, tmp_path: Path) -> None:
    with service(200, {"idna": HOLE}) as knowing:
        done = audit(environment, tmp_path / "bill.json", knowing)
    assert done.returncode == 1
    assert "idna" in done.stdout
    assert "PYSEC-2026-1" in done.stdout


def test_a_service_that_does_not_answer_is_no_pass(environment: Path, tmp_path: Path) -> None:
    with service(503, {}) as broken:
        done = audit(environment, tmp_path / "bill.json", broken)
    assert done.returncode == 1
