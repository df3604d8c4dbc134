"""What Ray costs a trial, and how near a cluster comes to the ideal throughput. Needs the extra `ray`.

    python -m benchmarks.ray_trials                     # the full form: 4 nodes x 250 trials of 1 s at a time
    python -m benchmarks.ray_trials --nodes 2 --each 50 # a smaller one
    python -m benchmarks.ray_trials --campaign 100000   # the memory of the process that decides a whole campaign

Nodes are processes of this machine, and agents only wait. Other programs on the machine lengthen what a clock measures.
So the processor time of a trial is told as well: that of the coordinator, and that of all processes of the cluster.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]
from ray.cluster_utils import Cluster

from agentmut.nouns import Ending, Execution
from agentmut.trial import RayExecutor, RaySettings, TrialRequest
from agentmut.usecases import measure
from benchmarks.commit import commit
from benchmarks.scale import memory, write_project

SCENARIOS, MUTANTS = 10, 1_200
"""The size of the campaign: one of 300 mutants was decided by 27,490 trials."""


class Waiting:
    """An executor whose trials wait for `latency` seconds."""

    def __init__(self, latency: float) -> None:
        self.latency = latency

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Do nothing."""
        yield

    async def execute(self, request: TrialRequest) -> Execution:
        """Wait."""
        await asyncio.sleep(self.latency)
        return Execution(ending=Ending.ANSWERED)


class Cost(NamedTuple):
    """What a trial took, in seconds."""

    clock: float
    coordinator: float
    """Processor time of the process that decides."""
    cluster: float
    """Processor time of all processes, the coordinator among them: on one machine they share its cores."""


async def measured(address: str, latency: float, actors: int, slots: int, trials: int) -> Cost:
    """Return what a trial takes, once all actors are there."""
    executor = RayExecutor(
        partial(Waiting, latency), {}, RaySettings(address, "benchmarks", actors, slots), 60.0
    )
    async with executor.session():
        await _run(executor, actors * slots)
        began = time.perf_counter(), time.process_time(), _worked()
        await _run(executor, trials)
        ended = time.perf_counter(), time.process_time(), _worked()
        return Cost._make((after - before) / trials for before, after in zip(began, ended, strict=True))


def _worked() -> float:
    """Return the processor time of this process and of all that it has started, in seconds."""
    ours = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in (ours, *ours.children(recursive=True)))


async def _run(executor: RayExecutor, trials: int) -> None:
    await asyncio.gather(
        *(executor.execute(TrialRequest(None, "s", str(number))) for number in range(trials))
    )


def _said(cost: Cost) -> str:
    clock, coordinator, cluster = (1000 * seconds for seconds in cost)
    return f"{clock:.2f} ms a trial; processor time {coordinator:.2f} ms of the coordinator, {cluster:.2f} ms of all"


def campaign(address: str, trials: int) -> None:
    """Run a campaign of about so many trials on the cluster, and print the most memory that this process held."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, SCENARIOS, MUTANTS, trials)
        project = (folder / "agentmut.yaml").read_text()
        here = f"execution: {{engine: ray, address: '{address}', concurrency: 256, cpus: 0}}"
        (folder / "agentmut.yaml").write_text(project.replace("execution: {concurrency: 16}", here))
        result = measure(folder)
    ran = f"a campaign of {result.cost.trials:,} trials"
    print(f"{ran}: the process that decides held at most {memory():.0f} MiB (target <= 1024)")


def costs(address: str, nodes: int, each: int, rounds: int) -> None:
    """Print what a trial takes at 64 trials at a time that end at once, and at `each` a node that take a second."""
    cost = asyncio.run(measured(address, 0.0, nodes, 64 // nodes, 2000))
    print(f"64 in flight: {_said(cost)}")
    slots = nodes * each
    cost = asyncio.run(measured(address, 1.0, nodes, each, rounds * slots))
    print(
        f"{slots} in flight at 1 s: {100 / (cost.clock * slots):.1f} % of the ideal throughput; {_said(cost)}"
    )


def main() -> None:
    """Start a cluster, and print both figures, or the memory of a campaign."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--nodes", type=int, default=4)
    options.add_argument("--each", type=int, default=250, help="trials of a node at the same time")
    options.add_argument("--rounds", type=int, default=10, help="trials of each slot")
    options.add_argument("--campaign", type=int, default=0, help="trials of a campaign on the cluster")
    wanted = options.parse_args()
    print(f"commit {commit()}")
    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    for _ in range(wanted.nodes - 1):
        cluster.add_node(**small)
    try:
        if wanted.campaign:
            campaign(cluster.address, wanted.campaign)
        else:
            costs(cluster.address, wanted.nodes, wanted.each, wanted.rounds)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
