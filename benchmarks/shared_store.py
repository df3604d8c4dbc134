"""Several runs on one PostgreSQL store, while their processes and the server are killed at random.

`python -m benchmarks.shared_store --clients 200 --server 20` is the whole study; `make slow` runs it. It needs the
server's programs: `AGENTMUT_TEST_POSTGRES=/usr/lib/postgresql/15/bin`. After every round it is checked that no trial is
stored twice, that none which was stored has gone, that no trial was executed by two runs at the same time, and that all
runs decide as an undisturbed run on a file does.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentmut.nouns import Result
from agentmut.usecases import measure
from tests.postgres_server import PostgresServer, programs

AGENT = """
import asyncio, hashlib, os, time
from agentmut.recording.current import current_trial

LOG = os.environ["SHARED_LOG"]

def uniform(*parts):
    text = repr((current_trial().id, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") / 2**64

def note(what):
    with open(LOG, "ab", buffering=0) as log:
        log.write(f"{what} {os.getpid()} {current_trial().id} {time.time()}\\n".encode())

async def run(config, input):
    note("begin")
    await asyncio.sleep(0.02 + 0.06 * uniform("latency"))
    word = input.split()[-1]
    kept = uniform(word) < (0.95 if f"say {word}" in config.prompt else 0.2)
    note("end")
    return word if kept else "no idea"
"""
WORDS = ("alpha", "beta", "gamma")
CLIENTS = 3
KILLS_A_ROUND = 10
"""So many clients are killed in a campaign at most: else most of them die before their first trial."""
SERVER_KILLS_A_ROUND = 1


class Study(NamedTuple):
    """What became of the runs."""

    clients_killed: int
    killed_amid_trials: int
    """Clients that were executing at least one trial when they were killed."""
    servers_killed: int
    rounds: int
    trials: int
    executed: int
    """Executions that were begun; those of killed processes and those that were done again among them."""
    stored_twice: int
    lost: int
    at_the_same_time: int
    """Trials that two runs executed at once."""
    decided_otherwise: int

    @property
    def is_sound(self) -> bool:
        """Return whether nothing was lost, doubled or decided otherwise."""
        return not (self.stored_twice or self.lost or self.at_the_same_time or self.decided_otherwise)


def write(folder: Path, store: dict[str, str] | None) -> None:
    """Write the project; every client has a folder of its own with the very same files."""
    folder.mkdir(parents=True)
    rules = [f"Always say {word} when asked for {word}." for word in WORDS]
    rules += [f"Never provide topic number {i} in your answer." for i in range(2)]
    (folder / "shared_agent.py").write_text(AGENT)
    (folder / "prompt.md").write_text("".join(f"- {rule}\n" for rule in rules))
    scenarios = [{"name": w, "input": f"please say {w}", "evaluators": [{"contains": w}]} for w in WORDS]
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(scenarios))
    project: dict[str, Any] = {
        "version": 1,
        "agent": {"adapter": "python", "run": "shared_agent:run", "config": {"prompt": "prompt.md"}},
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "statistics": {"baseline": 40, "rounds": "one"},
        "execution": {"concurrency": 8},
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project | ({"store": store} if store else {})))


def decisions(result: Result) -> dict[str, Any]:
    """Return what a run says of each mutant, without costs."""
    return {row.before or "": (row.status, row.killed_by, row.trials) for row in result.mutants}


class Round:
    """One campaign that several clients carry out at once, in processes that are killed and begun again."""

    def __init__(self, scratch: Path, server: PostgresServer, number: int, rng: random.Random) -> None:
        self._server = server
        self._rng = rng
        self._project = f"round{number}"
        self._log = scratch / f"{self._project}.log"
        self._folders = [scratch / self._project / str(client) for client in range(CLIENTS)]
        for folder in self._folders:
            write(folder, {"url": server.url(), "project": self._project})
        self.killed: dict[int, float] = {}
        self.lost = 0
        self._seen: set[str] = set()

    def carry_out(self, kills: int, server_kills: int) -> tuple[int, int]:
        """Run all clients to their end; return how many were killed, and how often the server was."""
        running = {self._begin(folder): folder for folder in self._folders}
        clients = servers = 0
        while running:
            time.sleep(self._rng.uniform(0.05, 0.4))
            for pid in self._ended(running):
                folder = running.pop(pid)
                if not (folder / "told").exists():
                    running[self._begin(folder)] = folder
            if running and servers < server_kills and self._rng.random() < 0.15:
                servers += 1
                self._kill_server()
            elif running and clients < kills and self._seen and self._rng.random() < 0.6:
                clients += 1
                at_work = running.keys() & {process for process, _ in self._logged()[1]}
                pid = self._rng.choice(sorted(at_work or running))
                os.kill(pid, signal.SIGKILL)
                self.killed[pid] = time.time()
            self._look()
        return clients, servers

    def told(self) -> list[str]:
        """Return what each client's run has decided."""
        return [(folder / "told").read_text() for folder in self._folders]

    def keys(self) -> list[str]:
        """Return the keys of the stored trials; none before the tables are there."""
        with suppress(Exception):
            rows = self._server.execute(f"select key from agentmut_{self._project}.trials")
            return [str(row[0]) for row in rows]
        return []

    def executions(self) -> list[tuple[str, int, float, float]]:
        """Return every execution: trial, process, begin and end; that of a killed process ends with it."""
        ended, begun = self._logged()
        return ended + [(t, p, at, self.killed.get(p, at)) for (p, t), at in begun.items()]

    def killed_amid_trials(self) -> int:
        """Return how many clients were killed while they executed a trial."""
        return len(self.killed.keys() & {process for process, _ in self._logged()[1]})

    def _logged(self) -> tuple[list[tuple[str, int, float, float]], dict[tuple[int, str], float]]:
        """Return the executions that ended, and when those began that did not."""
        begun: dict[tuple[int, str], float] = {}
        found = []
        for line in self._log.read_text().splitlines():
            what, process, trial, at = line.split()
            if what == "begin":
                begun[int(process), trial] = float(at)
            else:
                found.append((trial, int(process), begun.pop((int(process), trial)), float(at)))
        return found, begun

    def _begin(self, folder: Path) -> int:
        """Run a client in a process that is forked from this one, which has everything loaded."""
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            os.environ |= {"SHARED_LOG": str(self._log), "AGENTMUT_STORE_PATIENCE": "30"}
            with (folder / "out").open("a") as out:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
            (folder / "told").write_text(repr(decisions(measure(folder))))
            code = 0
        except BaseException as error:
            print(repr(error), flush=True)
        finally:
            os._exit(code)

    def _ended(self, running: dict[int, Path]) -> Iterator[int]:
        for pid in list(running):
            done, _ = os.waitpid(pid, os.WNOHANG)
            if done:
                yield pid

    def _kill_server(self) -> None:
        """Kill the whole server and start it again, or one of its processes: then it starts again by itself."""
        if self._rng.random() < 0.5:
            self._server.stop()
            time.sleep(self._rng.uniform(0.0, 0.5))
            self._server.start()
        else:
            self._server.kill_one(self._rng)

    def _look(self) -> None:
        """Count the trials that were stored and are no more."""
        now = set(self.keys())
        if now:
            self.lost += len(self._seen - now)
            self._seen |= now


def at_once(executions: list[tuple[str, int, float, float]]) -> int:
    """Return how many trials two processes executed at the same time."""
    by_trial: dict[str, list[tuple[int, float, float]]] = {}
    for trial, process, begin, end in executions:
        by_trial.setdefault(trial, []).append((process, begin, end))
    return sum(
        any(
            one[0] != other[0] and one[1] < other[2] and other[1] < one[2]
            for index, one in enumerate(several)
            for other in several[:index]
        )
        for several in by_trial.values()
    )


def study(scratch: Path, server: PostgresServer, kills: int, server_kills: int, seed: int = 1) -> Study:
    """Kill clients and servers until there were enough of both, over as many campaigns as that takes."""
    rng = random.Random(seed)
    os.environ["SHARED_LOG"] = str(scratch / "alone.log")
    write(scratch / "alone", None)
    alone = repr(decisions(measure(scratch / "alone")))
    total: Counter[str] = Counter()
    while total["clients_killed"] < kills or total["servers_killed"] < server_kills or not total["rounds"]:
        campaign = Round(scratch, server, total["rounds"], rng)
        clients, servers = campaign.carry_out(
            min(kills - total["clients_killed"], KILLS_A_ROUND),
            min(server_kills - total["servers_killed"], SERVER_KILLS_A_ROUND),
        )
        keys, executions = campaign.keys(), campaign.executions()
        amid, wrong = campaign.killed_amid_trials(), sum(told != alone for told in campaign.told())
        total.update({
            "clients_killed": clients, "killed_amid_trials": amid, "servers_killed": servers, "rounds": 1,
            "trials": len(keys), "executed": len(executions), "stored_twice": len(keys) - len(set(keys)),
            "lost": campaign.lost, "at_the_same_time": at_once(executions), "decided_otherwise": wrong,
        })  # fmt: skip
    return Study(**{name: total[name] for name in Study._fields})


def main() -> int:
    """Print what became of the runs; the exit code is 1 where anything was lost, doubled or decided otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200, help="processes of clients to kill")
    parser.add_argument("--server", type=int, default=20, help="times to kill the server")
    asked = parser.parse_args()
    folder = programs()
    if folder is None:
        print("set AGENTMUT_TEST_POSTGRES to the folder of the programs of PostgreSQL", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch, PostgresServer(folder) as server:
        found = study(Path(scratch), server, asked.clients, asked.server)
    for name, value in found._asdict().items():
        print(f"{name.replace('_', ' '):<20} {value}")
    return 0 if found.is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
