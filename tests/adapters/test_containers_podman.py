"""Trials in real containers of Podman. `make test-podman` runs it. An image is built of one program; none is pulled."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base import UsageError
from agentmut.nouns import Ending, Execution, Status
from agentmut.usecases import measure

from .test_containers import made, ran

pytestmark = pytest.mark.process
WANTED = "AGENTMUT_TEST_PODMAN"
BUSYBOX = Path("/usr/bin/busybox")
"""Debian's package `busybox-static` brings it: one program without libraries is a whole image."""
PROGRAMS = ("sh", "cat", "sleep", "ls", "grep", "sed", "tail", "touch", "wget")
ENGINE = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=2048:2048"]
[engine]
runtime = "{runtime}"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
"""A root without the right to raise its own limits, as CI often has, needs the first line."""
STORAGE = '[storage]\ndriver = "{driver}"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/running"\n'
DOCKERFILE = "FROM scratch\n" + "".join(f"COPY busybox /bin/{name}\n" for name in PROGRAMS)


def podman(*words: str) -> str:
    done = subprocess.run(("podman", *words), capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An engine with images, containers and settings of its own; return the folder of its settings."""
    if not os.environ.get(WANTED):
        pytest.skip("make test-podman")
    folder = tmp_path_factory.mktemp("podman")
    runtime = next(name for name in ("runc", "crun") if shutil.which(name))
    (folder / "containers.conf").write_text(ENGINE.format(runtime=runtime))
    (folder / "storage.conf").write_text(STORAGE.format(driver="vfs", folder=folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTAINERS_CONF", str(folder / "containers.conf"))
        patch.setenv("CONTAINERS_STORAGE_CONF", str(folder / "storage.conf"))
        patch.setenv("TMPDIR", str(folder))
        if fault := why_no_container_runs(folder):
            pytest.skip(f"Podman runs no container here: {fault}")
        yield folder
        podman("system", "reset", "--force")


def why_no_container_runs(folder: Path) -> str:
    """Return the engine's last message where it cannot run the smallest container with a limit; empty where it can."""
    image = folder / "smallest"
    image.mkdir()
    shutil.copy2(BUSYBOX, image / "busybox")
    (image / "Dockerfile").write_text(DOCKERFILE)
    for words in (
        ("build", "--quiet", "--tag", "smallest", str(image)),
        ("run", "--rm", "--memory", "64m", "--network", "none", "smallest", "sh", "-c", ":"),
    ):
        done = subprocess.run(("podman", *words), capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}"
    return ""


@pytest.fixture
def project(engine: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "image").mkdir(parents=True)
    shutil.copy2(BUSYBOX, folder / "image" / "busybox")
    (folder / "image" / "Dockerfile").write_text(DOCKERFILE)
    (folder / "AGENTS.md").write_text("Be kind.")
    return folder


def in_container(project: Path, line: str, *, files: bool = False, **container: Any) -> Execution:
    """Run one line of shell as a trial, in an image that is built from the project's folder `image`."""
    return ran(made(project, "sh", "-c", line, files=files, build="image", **container))


def ours() -> list[str]:
    return podman("ps", "-a", "--format", "{{.Names}}").split()


def builds() -> int:
    listed = podman("events", "--stream=false", "--filter", "event=build", "--format", "json")
    return len([line for line in listed.splitlines() if json.loads(line)["Status"] == "build"])


class Model(BaseHTTPRequestHandler):
    """A model service on loopback that greets as far as its instructions say so."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        said = "hello" if "Always greet" in asked else "what?"
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        body = json.dumps(
            {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    yield
    server.shutdown()
    server.server_close()


AGENT = r"""
rules=$(sed ':a;N;$!ba;s/\n/\\n/g' AGENTS.md)
body='{{"model": "m", "messages": [{{"role": "system", "content": "'$rules'"}}, {{"role": "user", "content": "hi"}}]}}'
touch left-in-the-copy
wget -q -O - --header 'Content-Type: application/json' --post-data "$body" "$OPENAI_BASE_URL/chat/completions"
"""
"""A coding agent in four lines: it reads its instructions in its container, and asks a model."""


def test_a_campaign_builds_one_image_and_each_mutants_files_are_mounted(project: Path, model: None) -> None:
    (project / "repository").mkdir()
    rules = "- Always greet the user.\n- Never mention the prices of others.\n"
    (project / "repository" / "AGENTS.md").write_text(rules)
    (project / "agentmut.yaml").write_text(
        yaml.safe_dump({
            "version": 1,
            "agent": {
                "adapter": "command", "command": ["sh", "-c", AGENT, "sh", "{input}"],
                "options": {
                    "workspace": "repository",
                    "container": {"engine": "podman", "build": "image", "memory": "64m"},
                },
                "config": {"context": {"workspace": ["repository/AGENTS.md"]}},
            },
            "suite": {"scenarios": "scenarios.yaml"},
            "mutation": {"operators": ["prompt.drop_instruction"]},
            "statistics": {"baseline": 20, "rounds": "one"},
            "execution": {"concurrency": 2},
            "budget": {"trials": 60},
        })
    )  # fmt: skip
    suite = [{"name": "greet", "input": "hi", "evaluators": [{"contains": "hello"}]}]
    (project / "scenarios.yaml").write_text(yaml.safe_dump(suite))
    before = builds()
    result = measure(project)
    statuses = {row.before or "": row.status for row in result.mutants}
    assert statuses["- Always greet the user.\n"] is Status.KILLED
    assert Status.KILLED not in (status for text, status in statuses.items() if "prices" in text)
    assert builds() == before + 1
    assert ours() == []
    assert not (project / "repository" / "left-in-the-copy").exists()


def test_a_coding_agent_works_on_its_copy_and_a_program_cannot_write_to_the_project(project: Path) -> None:
    done = in_container(project, "cat AGENTS.md; echo new > made.txt", files=True)
    assert done.trace.output == "Be rude."
    assert done.trace.workspace and done.trace.workspace.file("made.txt")
    refused = in_container(project, "touch /work/made.txt || echo refused")
    assert refused.trace.output == "refused"
    assert not (project / "made.txt").exists()


def test_the_limits_of_memory_processors_and_network_are_those_of_the_system(project: Path) -> None:
    both = "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"
    cpus = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu.max"
    line = f"cat {' '.join((*both, *cpus))} 2>&1 | grep -v 'No such'; ls /sys/class/net"
    told = str(in_container(project, line, memory="48m", cpus=0.5, network="none").trace.output).split()
    assert told[0] == str(48 << 20)
    assert told[1] == "50000"
    assert told[-1] == "lo"


def test_a_program_that_takes_too_much_memory_is_ended_and_is_no_failure_of_the_agent(project: Path) -> None:
    done = in_container(project, "exec tail -c 300m /dev/zero", memory="32m")
    assert done.ending is Ending.INFRASTRUCTURE
    assert "memory runs out" in done.reason
    assert ours() == []


def test_a_trial_that_times_out_leaves_no_container(project: Path) -> None:
    done = ran(made(project, "sleep", "60", build="image"), timeout=3.0)
    assert done.ending is Ending.TIMEOUT
    deadline = time.monotonic() + 600
    while ours() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ours() == []


OWNER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.adapters.test_containers import made, ran
ran(made(Path({project!r}), "sleep", "60", build="image"), timeout=60.0)
"""


def test_the_next_start_removes_the_container_of_a_killed_owner(project: Path) -> None:
    root = str(Path(__file__).parents[2])
    owner = subprocess.Popen([sys.executable, "-c", OWNER.format(root=root, project=str(project))])
    while not podman("ps", "--format", "{{.Names}}").split():
        assert owner.poll() is None
        time.sleep(0.1)
    owner.kill()
    owner.wait()
    (left,) = ours()
    assert left.startswith(f"agentmut-{owner.pid}-")
    made(project, "cat", build="image")
    assert ours() == []


def test_an_image_that_cannot_be_built_or_an_engine_that_cannot_run_is_a_clear_refusal(
    project: Path, engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(project, "cat", build="image")
    broken = tmp_path / "containers.conf"
    broken.write_text((engine / "containers.conf").read_text().replace("runc", "crun-that-is-not-here"))
    with monkeypatch.context() as patch:
        patch.setenv("CONTAINERS_CONF", str(broken))
        with pytest.raises(UsageError, match=r"podman does not answer .*crun-that-is-not-here"):
            made(project, "cat", build="image", engine="podman")
    (project / "image" / "Dockerfile").write_text("FROM scratch\nCOPY missing /bin/sh\n")
    with pytest.raises(UsageError, match=r"`podman build` failed: .*missing"):
        made(project, "cat", build="image")
