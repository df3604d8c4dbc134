"""What the wire costs in processor time, over a bare pass-through of aiohttp in the same run.

`python benchmarks/wire_cost.py [--quick]` prints one line per figure and exits with 1 when a target is missed. The
pass-through, the proxy with the original and the proxy with a mutant are processes of their own. They are asked the
same requests by turns, in blocks, and the processor time of each process is read before and after its block. So what
else the machine does falls on all three. Linux only, as it reads the clocks of other processes.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from aiohttp import ClientSession, TCPConnector, web  # noqa: E402

from benchmarks.commit import commit  # noqa: E402
from benchmarks.figure import Figure, printed  # noqa: E402
from benchmarks.proxy import Running, load, request_body, running, serve_canned, serve_proxy  # noqa: E402

CONNECTIONS = 16
BLOCK = 100
"""Requests in a row to one process."""
MOST_ADDED = {2_000: (0.4, 0.6), 200_000: (1.2, 2.5)}
"""By bytes of a request: milliseconds of processor time beyond the pass-through, unchanged and changed."""


class Spent(NamedTuple):
    """Milliseconds of processor time per request: a value per block."""

    passing: list[float]
    original: list[float]
    mutant: list[float]


def serve_passing(upstream: int, pipe: Connection) -> None:
    """Run the process of the bare pass-through: bodies and headers pass as wholes, and nothing is looked at."""

    async def serve() -> None:
        async with ClientSession(connector=TCPConnector(limit=0), auto_decompress=False) as session:

            async def handle(http: web.BaseRequest) -> web.Response:
                headers = {name: value for name, value in http.headers.items() if name.lower() != "host"}
                url, body = f"http://127.0.0.1:{upstream}{http.raw_path}", await http.read()
                async with session.request(http.method, url, headers=headers, data=body) as reply:
                    return web.Response(status=reply.status, headers=reply.headers, body=await reply.read())

            runner = web.ServerRunner(web.Server(handle, access_log=None))
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            pipe.send(runner.addresses[0][1])
            await asyncio.Event().wait()

    asyncio.run(serve())


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken, by the clock that clock_getcpuclockid(3) names on Linux."""
    return time.clock_gettime(~pid << 3 | 2)


def block(server: Running, body: bytes, connections: int) -> float:
    """Return milliseconds of processor time per request over one block."""
    before = processor_seconds(server.pid)
    asyncio.run(load(server.port, body, BLOCK, connections))
    return 1000 * (processor_seconds(server.pid) - before) / BLOCK


def spent(servers: tuple[Running, ...], body: bytes, blocks: int, connections: int) -> Spent:
    """Ask all servers by turns; the first block of each warms up and is not counted."""
    rounds = [[block(server, body, connections) for server in servers] for _ in range(blocks + 1)]
    return Spent(*map(list, zip(*rounds[1:], strict=True)))


def cost(who: str, size: int, costs: list[float], passing: list[float], most: float) -> Figure:
    """Return the median of the differences between neighbouring blocks."""
    added = statistics.median(mine - bare for mine, bare in zip(costs, passing, strict=True))
    return Figure(
        f"processor time added per request, {size / 1000:.0f} KB, {who}",
        f"{added:.2f} ms (pass-through {statistics.median(passing):.2f} ms)",
        f"<= {most:g} ms",
        added <= most,
    )


def throughput(who: str, costs: list[float], passing: list[float]) -> Figure:
    """Return requests per second of processor time, which is what one process answers when it has a core to itself."""
    mine, bare = (1000 / statistics.median(some) for some in (costs, passing))
    return Figure(
        f"requests a processor second, {CONNECTIONS} connections, {who}",
        f"{mine:.0f} (pass-through {bare:.0f}: {bare / mine:.2f}x)",
        "within 2x",
        bare <= 2 * mine,
    )


def figures(blocks: int) -> Iterator[Figure]:
    """Yield all figures, as they are measured."""
    with ExitStack() as stack:
        service = stack.enter_context(running(serve_canned))
        served = (
            partial(serve_passing, service.port),
            partial(serve_proxy, service.port, False),
            partial(serve_proxy, service.port, True),
        )
        servers = tuple(stack.enter_context(running(serve)) for serve in served)
        for size, (unchanged, changed) in MOST_ADDED.items():
            found = spent(servers, request_body(size), blocks, 1)
            yield cost("original", size, found.original, found.passing, unchanged)
            yield cost("mutant", size, found.mutant, found.passing, changed)
        found = spent(servers, request_body(2_000), blocks, CONNECTIONS)
        yield throughput("original", found.original, found.passing)
        yield throughput("mutant", found.mutant, found.passing)


def main() -> int:
    """Print every figure; 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 blocks in the place of 20")
    blocks = 5 if parser.parse_args().quick else 20
    print(f"commit {commit()}, {blocks} blocks of {BLOCK} requests")
    return printed(figures(blocks))


if __name__ == "__main__":
    sys.exit(main())
