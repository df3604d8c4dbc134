"""Trials on a real Ray cluster of two nodes on loopback. `make test-ray` runs it; it needs the extra `ray`."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base import RunError
from agentmut.nouns import Result
from agentmut.usecases import measure

pytestmark = [pytest.mark.process, pytest.mark.whole]
WANTED = "AGENTMUT_TEST_RAY"
AGENT = """
import asyncio, hashlib, os
from agentmut.recording.current import current_trial

LOG = os.environ["DESK_LOG"]

def uniform(*parts):
    text = repr((current_trial().id, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") / 2**64

async def run(config, input):
    with open(LOG, "ab", buffering=0) as log:
        log.write(f"{os.getpid()} {os.getcwd()} {os.getppid()}\\n".encode())
    await asyncio.sleep(LATENCY)
    word = input.split()[-1]
    return word if uniform(word) < (0.95 if f"say {word}" in config.prompt else 0.2) else "no idea"
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    if not os.environ.get(WANTED):
        pytest.skip("make test-ray")
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    soon = {
        "health_check_initial_delay_ms": 500,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 3,
    }
    head = {
        **small,
        "include_dashboard": False,
        "_system_config": soon,
        "ray_client_server_port": free_port(),
    }
    found = Cluster(initialize_head=True, head_node_args=head)
    found.add_node(**small)
    yield found
    with suppress(Exception):  # one of its nodes was killed
        found.shutdown()


def write(folder: Path, latency: float, execution: dict[str, Any]) -> Path:
    folder.mkdir()
    words = ("alpha", "beta")
    (folder / "ray_desk_agent.py").write_text(f"LATENCY = {latency}\n{AGENT}")
    (folder / "prompt.md").write_text(
        "".join(f"- Always say {word} when asked for {word}.\n" for word in words)
    )
    suite = [{"name": w, "input": f"please say {w}", "evaluators": [{"contains": w}]} for w in words]
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(suite))
    log = folder.parent / f"{folder.name}.log"
    project = {
        "version": 1,
        "agent": {
            "adapter": "python", "run": "ray_desk_agent:run", "config": {"prompt": "prompt.md"},
            "version": "1", "env": {"DESK_LOG": str(log)},
        },
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "statistics": {"baseline": 40, "rounds": "one"},
        "execution": {"concurrency": 8, **execution},
    }  # fmt: skip
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
    return log


def decided(result: Result) -> dict[str, Any]:
    return {row.before or "": (row.status, row.killed_by, row.trials, row.reason) for row in result.mutants}


def lines_of(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def workers_of(raylet: int, lines: list[str]) -> set[int]:
    """Return the processes of a node that have run trials: its raylet started them."""
    fields = [line.split() for line in lines]
    return {int(process) for process, _, parent in fields if int(parent) == raylet}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run on this machine decides."""
    folder = tmp_path_factory.mktemp("here") / "desk"
    write(folder, 0.0, {})
    return decided(measure(folder))


def test_a_cluster_decides_as_one_machine_does_and_both_nodes_work(
    cluster: Any, here: dict[str, Any], tmp_path: Path
) -> None:
    ray = {"engine": "ray", "address": cluster.address, "trials_per_actor": 4}
    log = write(tmp_path / "desk", 0.01, ray)
    result = measure(tmp_path / "desk")
    assert decided(result) == here
    processes, folders, _ = zip(*(line.split() for line in log.read_text().splitlines()), strict=True)
    assert len(set(processes)) == 2
    assert str(os.getpid()) not in processes
    assert str(tmp_path / "desk") not in folders  # each actor has a copy
    assert len(processes) == result.cost.trials


@pytest.mark.parametrize("kind", ["process", "room", "outside"])
def test_a_cluster_decides_as_one_machine_does(
    cluster: Any, here: dict[str, Any], tmp_path: Path, kind: str
) -> None:
    client = f"ray://127.0.0.1:{cluster.head_node._ray_params.ray_client_server_port}"
    wanted: dict[str, dict[str, Any]] = {
        "process": {"isolate": "process"},
        "room": {"cpus": 0.25, "memory": 10_000_000, "requests_per_minute": 60_000},
        "outside": {"address": client},
    }
    execution = {"engine": "ray", "address": cluster.address, "trials_per_actor": 4, **wanted[kind]}
    log = write(tmp_path / "desk", 0.0, execution)
    assert decided(measure(tmp_path / "desk")) == here
    processes = {line.split()[0] for line in log.read_text().splitlines()}
    assert len(processes) == 2 if kind in {"room", "outside"} else len(processes) > 2


def test_a_run_whose_coordinator_was_killed_is_carried_on(
    cluster: Any, here: dict[str, Any], tmp_path: Path
) -> None:
    log = write(tmp_path / "desk", 0.1, {"engine": "ray", "address": cluster.address, "trials_per_actor": 4})
    program = [sys.executable, "-m", "agentmut"]
    run = subprocess.Popen([*program, "run", "--project", str(tmp_path / "desk"), "--yes"])
    while run.poll() is None and len(lines_of(log)) < 40:
        time.sleep(0.02)
    assert run.poll() is None
    run.kill()
    run.wait()
    resumed = subprocess.run(
        [*program, "resume", "--project", str(tmp_path / "desk"), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    result = Result.model_validate_json(resumed.stdout)
    assert decided(result) == here
    assert (
        len(log.read_text().splitlines()) <= result.cost.trials + 2 * 8
    )  # what was under way when it was killed


def test_an_agent_that_no_node_can_import_is_named(cluster: Any, tmp_path: Path) -> None:
    ray = {"engine": "ray", "address": cluster.address}
    write(tmp_path / "desk", 0.0, ray)
    agent = tmp_path / "desk" / "ray_desk_agent.py"
    agent.write_text("import os\nif '_ray_pkg' in os.getcwd(): import no_such_module\n" + agent.read_text())
    with pytest.raises(
        RunError, match=r"a node could not import the agent: .*No module named 'no_such_module'"
    ):
        measure(tmp_path / "desk")


def test_a_cluster_that_is_not_there_is_an_error_that_says_how_to_start_one(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    if not os.environ.get(WANTED):
        pytest.skip("make test-ray")
    write(tmp_path / "desk", 0.0, {"engine": "ray", "address": "127.0.0.1:1"})
    with pytest.raises(RunError, match=r"there is no Ray cluster at address '127.0.0.1:1'.*ray start"):
        measure(tmp_path / "desk")


def test_a_node_that_is_lost_takes_no_trial_along(cluster: Any, here: dict[str, Any], tmp_path: Path) -> None:
    ray = {"engine": "ray", "address": cluster.address, "trials_per_actor": 4, "retries": 6}
    log = write(tmp_path / "desk", 0.3, ray)
    lost: list[int] = []
    raylet = next(iter(cluster.worker_nodes)).all_processes["raylet"][0].process

    ended = threading.Event()

    def lose_a_node() -> None:
        while len(started := lines_of(log)) < 30 or not (workers := workers_of(raylet.pid, started)):
            if ended.wait(0.02):
                return
        lost.extend((raylet.pid, *workers))
        for process in lost:
            os.kill(process, signal.SIGKILL)

    loser = threading.Thread(target=lose_a_node)
    loser.start()
    try:
        result = measure(tmp_path / "desk")
    finally:
        ended.set()
        loser.join()
    if not lost:
        pytest.skip(
            "Ray placed no process on the node that was to be lost, as a busy machine makes it do at times"
        )
    assert len(lost) == 2
    assert decided(result) == here
    assert (
        len(log.read_text().splitlines()) > result.cost.trials
    )  # what was under way there was executed again
