"""Trials on a real Ray cluster of two nodes on loopback. `make test-ray` runs it; it needs the extra `ray`."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
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


PROGRAM = """
import json, os, sys, urllib.request

prompt = "You help.\\n\\n- Always say hello first.\\n- Mention Kielmarkt in each answer.\\n"
said = [{"role": "system", "content": prompt}, {"role": "user", "content": sys.argv[1]}]
body = json.dumps({"model": "sim-large", "messages": said}).encode()
place = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
ask = urllib.request.Request(place, body, {"content-type": "application/json", "authorization": "Bearer none"})
with urllib.request.urlopen(ask, timeout=600) as answer:
    print(json.load(answer)["choices"][0]["message"]["content"])
with open(os.environ["DESK_LOG"], "ab", buffering=0) as log:
    log.write(f"{os.getcwd()}\\n".encode())
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


SMALL = {
    "num_cpus": 1,
    "object_store_memory": 80_000_000,
    "include_log_monitor": False,
}
"""A node, which is three processes of this machine."""
SLOW_IS_NOT_DEAD = {
    "health_check_initial_delay_ms": 5000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 60_000,
    "health_check_failure_threshold": 4,
    "prestart_worker_first_driver": False,
}
"""A killed node refuses connections, so it is noticed after two seconds; a busy machine may take a minute to answer."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    if not os.environ.get(WANTED):
        pytest.skip("make test-ray")
    from ray.cluster_utils import Cluster

    head = {
        **SMALL,
        "include_dashboard": False,
        "no_monitor": True,
        "_system_config": SLOW_IS_NOT_DEAD,
        "ray_client_server_port": free_port(),
    }
    with pytest.MonkeyPatch.context() as patch:
        # 30 by default; a client's server has to import Ray
        patch.setenv("RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S", "600")
        found = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        patiently(lambda: found.add_node(wait=False, **SMALL))
        found.wait_for_nodes(timeout=300)
        yield found
    with suppress(Exception):  # one of its nodes was killed
        found.shutdown()


def patiently(begin: Callable[[], Any]) -> Any:
    """Start a node again where a busy machine did not start it in the 30 seconds that Ray gives it."""
    for _ in range(4):
        with suppress(Exception):
            return begin()
    return begin()


def raylet_of(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


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


def write_program(folder: Path, execution: dict[str, Any]) -> Path:
    """Write a project whose agent is a program: its requests are changed by the proxy of whoever starts it."""
    log = write(folder, 0.0, execution)
    project = yaml.safe_load((folder / "agentmut.yaml").read_text())
    (folder / "program.py").write_text(PROGRAM)
    (folder / "prompt.md").write_text(
        "You help.\n\n- Always say hello first.\n- Mention Kielmarkt in each answer.\n"
    )
    command = [sys.executable, "-S", "{project}/program.py", "{input}"]
    project["agent"] |= {"adapter": "command", "command": command}
    del project["agent"]["run"]
    suite = [{"name": "shop", "input": "Which shop is this?", "evaluators": [{"contains": "hello"}]}]
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(suite))
    project["statistics"] = {"baseline": 12, "n_max": 12, "delta": 0.6, "seed": 1}
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


def test_a_cluster_that_is_reached_from_outside_decides_as_one_machine_does(
    cluster: Any, here: dict[str, Any], tmp_path: Path
) -> None:
    client = f"ray://127.0.0.1:{cluster.head_node._ray_params.ray_client_server_port}"
    log = write(tmp_path / "desk", 0.01, {"engine": "ray", "address": client, "trials_per_actor": 4})
    result = measure(tmp_path / "desk")
    assert decided(result) == here
    processes, folders, nodes = zip(*(line.split() for line in lines_of(log)), strict=True)
    assert len(set(processes)) == 2
    assert len(set(nodes)) == 2  # the nodes take turns
    assert str(os.getpid()) not in processes
    assert str(tmp_path / "desk") not in folders  # each actor has a copy
    assert len(processes) == result.cost.trials


def test_trials_in_processes_that_ask_for_room_under_a_rate_limit_decide_alike(
    cluster: Any, here: dict[str, Any], tmp_path: Path
) -> None:
    room = {"isolate": "process", "cpus": 0.25, "memory": 10_000_000, "requests_per_minute": 60_000}
    ray = {"engine": "ray", "address": cluster.address, "trials_per_actor": 4}
    log = write(tmp_path / "desk", 0.0, {**ray, **room})
    assert decided(measure(tmp_path / "desk")) == here
    assert len({line.split()[0] for line in lines_of(log)}) > 2


def test_programs_are_run_and_mutated_on_the_nodes(
    cluster: Any, simulator_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    write_program(tmp_path / "alone", {"concurrency": 4})
    ray = {"engine": "ray", "address": cluster.address, "trials_per_actor": 2, "concurrency": 4}
    log = write_program(tmp_path / "desk", ray)
    result = measure(tmp_path / "desk")
    assert decided(result) == decided(measure(tmp_path / "alone"))
    assert {"killed", "survived"} == {str(row.status) for row in result.mutants}
    folders = lines_of(log)
    assert len(folders) == result.cost.trials and str(tmp_path / "desk") not in folders


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
    # what was under way when it was killed
    assert len(log.read_text().splitlines()) <= result.cost.trials + 2 * 8


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


class Killer(threading.Thread):
    """Kills processes that run trials, and nodes, in a random order while a run goes on."""

    def __init__(self, cluster: Any, log: Path, victims: list[str], rng: random.Random) -> None:
        super().__init__()
        self._cluster, self._log, self._victims, self._rng = cluster, log, victims, rng
        self.over = threading.Event()
        """The run has ended."""
        self.killed: list[tuple[str, int]] = []

    def run(self) -> None:
        """Kill one victim after the other, each once further trials have begun; stop where the run ends before."""
        for victim in self._victims:
            if not self._wait_for_trials(len(lines_of(self._log)) + 8):
                return
            if victim == "actor":
                self._kill_actor()
            else:
                self._kill_node()

    def _wait_for_trials(self, most: int) -> bool:
        while len(lines_of(self._log)) <= most:
            if self.over.wait(0.02):
                return False
        return True

    def _kill_actor(self) -> None:
        """Kill the process of one of the latest trials."""
        processes = [int(line.split()[0]) for line in lines_of(self._log)[-8:]]
        alive = [process for process in processes if Path(f"/proc/{process}").exists()]
        self._kill("actor", [self._rng.choice(alive)])

    def _kill_node(self) -> None:
        """Kill a node with all that runs there: any but the head may be lost."""
        node = self._rng.choice(sorted(self._cluster.worker_nodes, key=raylet_of))
        raylet = raylet_of(node)
        self._kill("node", [raylet, *workers_of(raylet, lines_of(self._log))])
        self._cluster.worker_nodes.discard(node)

    def _kill(self, victim: str, processes: list[int]) -> None:
        self.killed.append((victim, processes[0]))
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def test_actors_and_nodes_that_are_killed_at_random_take_no_trial_along(
    cluster: Any, here: dict[str, Any], tmp_path: Path
) -> None:
    patiently(lambda: cluster.add_node(wait=False, **SMALL))
    cluster.wait_for_nodes(timeout=300)
    ray = {"engine": "ray", "address": cluster.address, "trials_per_actor": 4, "retries": 12}
    log = write(tmp_path / "desk", 0.5, ray)
    rng = random.Random(25)
    victims = ["actor", "node"]
    rng.shuffle(victims)
    killer = Killer(cluster, log, victims, rng)
    killer.start()
    try:
        result = measure(tmp_path / "desk")
    finally:
        killer.over.set()
        killer.join()
    assert [victim for victim, _ in killer.killed] == victims
    assert decided(result) == here
    assert len(lines_of(log)) > result.cost.trials  # what was under way there was executed again
