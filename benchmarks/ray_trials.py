"""What Ray costs a trial, and how near a cluster comes to the ideal throughput. Needs the extra `ray`.

    python -m benchmarks.ray_trials                     # the full form: 4 nodes x 250 trials of 1 s at a time
    python -m benchmarks.ray_trials --nodes 2 --each 50 # a smaller one

Nodes are processes of this machine, and agents only wait. Processor time is the coordinator's; other programs on the
machine lengthen the rest.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from ray.cluster_utils import Cluster

from agentmut.nouns import Ending, Execution
from agentmut.trial import RayExecutor, RaySettings, TrialRequest


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


async def measured(address: str, latency: float, actors: int, slots: int, trials: int) -> tuple[float, float]:
    """Return seconds and processor seconds of the coordinator per trial, once all actors are there."""
    executor = RayExecutor(
        partial(Waiting, latency), {}, RaySettings(address, "benchmarks", actors, slots), 60.0
    )
    async with executor.session():
        await _run(executor, actors * slots)
        began, worked = time.perf_counter(), time.process_time()
        await _run(executor, trials)
        return (time.perf_counter() - began) / trials, (time.process_time() - worked) / trials


async def _run(executor: RayExecutor, trials: int) -> None:
    await asyncio.gather(
        *(executor.execute(TrialRequest(None, "s", str(number))) for number in range(trials))
    )


def main() -> None:
    """Start a cluster, and print both figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--nodes", type=int, default=4)
    options.add_argument("--each", type=int, default=250, help="trials of a node at the same time")
    options.add_argument("--rounds", type=int, default=10, help="trials of each slot")
    wanted = options.parse_args()
    small = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    for _ in range(wanted.nodes - 1):
        cluster.add_node(**small)
    try:
        seconds, worked = asyncio.run(measured(cluster.address, 0.0, wanted.nodes, 64 // wanted.nodes, 2000))
        print(
            f"64 in flight: {1000 * seconds:.2f} ms per trial, {1000 * worked:.2f} ms of the coordinator's processor"
        )
        slots = wanted.nodes * wanted.each
        trials = wanted.rounds * slots
        seconds, worked = asyncio.run(measured(cluster.address, 1.0, wanted.nodes, wanted.each, trials))
        print(f"{slots} in flight at 1 s: {100 / (seconds * slots):.1f} % of the ideal throughput")
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
