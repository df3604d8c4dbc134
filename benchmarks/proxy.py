"""What the loopback proxy costs, each figure beside its target.

`python benchmarks/proxy.py [--quick]` prints one line per figure and exits with 1 when a target is missed. The
service, the proxy and the load are processes of their own, as a user has them. Requests go to the service directly and
through the proxy by turns, so that what else the machine does falls on both. What is added at p50 or p99 is the
difference of the two. The full study takes some three minutes, and says little on a busy machine.
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.nouns.config import AgentConfig  # noqa: E402
from agentmut.recording.trial import Trial  # noqa: E402
from agentmut.wire.carriers.proxy.roster import Everyone  # noqa: E402
from agentmut.wire.carriers.proxy.server import Proxy  # noqa: E402
from agentmut.wire.carriers.proxy.upstream import Upstream  # noqa: E402
from agentmut.wire.rewriting.rewriter import ConfigRewriter  # noqa: E402
from benchmarks.figure import Figure, printed  # noqa: E402

RULE = "- Ask for the order number before you promise a refund.\n"
PATH = "/v1/chat/completions"
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "word " * 150},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 500, "completion_tokens": 150, "total_tokens": 650},
    }
).encode()
CHUNK = b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
LAST = b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
FIRST_TOKEN = 0.005
"""Seconds that the service takes for it."""


def request_body(size: int, *, stream: bool = False) -> bytes:
    """Return a request of about so many bytes: a prompt, some tools, and a conversation that makes up the rest."""
    tools = [
        {"type": "function", "function": {"name": f"tool_{i}", "description": "d" * 60, "parameters": {}}}
        for i in range(6)
    ]
    messages = [{"role": "system", "content": "Be helpful.\n" + RULE + "Be brief."}]
    body: dict[str, Any] = {"model": "m", "messages": messages, "tools": tools, "stream": stream}
    turn = "The parcel came on Tuesday and the stove in it was broken. " * 32
    while len(json.dumps(body)) < size - 400:
        left = size - len(json.dumps(body)) - 40
        messages.append({"role": ("user", "assistant")[len(messages) % 2 == 0], "content": turn[:left]})
    return json.dumps(body).encode()


def mutated(name: str) -> Trial:
    """Return a trial of a mutant that has lost a rule."""
    base = AgentConfig(prompt="Be helpful.\n" + RULE + "Be brief.")
    return Trial(name, rewriter=ConfigRewriter(base, AgentConfig(prompt="Be helpful.\nBe brief.")))


class _Canned(asyncio.Protocol):
    """A service that costs next to nothing: it reads requests and gives the same replies."""

    def __init__(self) -> None:
        self._held = bytearray()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._held[:end]).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            if len(self._held) < end + 4 + length:
                return
            streamed = b'"stream":true' in self._held[end:].replace(b" ", b"")
            del self._held[: end + 4 + length]
            if streamed:
                self._streaming = asyncio.ensure_future(self._stream())
            else:
                kind = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REPLY)
                self._transport.write(b"HTTP/1.1 200 OK\r\n" + kind + REPLY)

    async def _stream(self) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        self._transport.write(head)
        for piece in (CHUNK, CHUNK, LAST):
            await asyncio.sleep(FIRST_TOKEN)
            self._transport.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self._transport.write(b"0\r\n\r\n")


def serve_canned(pipe: Connection) -> None:
    """Run the process of the service."""

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Canned, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(serve())


def serve_proxy(upstream: int, mutant: bool, pipe: Connection) -> None:
    """Run the process of the proxy; it keeps nothing, as trials that end take their records along."""

    async def serve() -> None:
        roster = Everyone(mutated if mutant else Trial)
        proxy = Proxy([Upstream(f"http://127.0.0.1:{upstream}/v1")], roster, watch=lambda *_: None)
        async with proxy.serving() as url:
            pipe.send(int(url.rsplit(":", 1)[1]))
            await asyncio.Event().wait()

    asyncio.run(serve())


class Running(NamedTuple):
    """A server process."""

    port: int
    pid: int


@contextmanager
def running(target: Any) -> Iterator[Running]:
    """Run a server in a process of its own, which ends with the block."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=target, args=(theirs,), daemon=True)
    process.start()
    try:
        yield Running(ours.recv(), process.pid or 0)
    finally:
        process.kill()
        process.join()


class Client:
    """One connection that is kept."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._head = (
            f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
            "authorization: Bearer k\r\n"
        ).encode()

    @classmethod
    async def to(cls, port: int) -> "Client":
        """Connect."""
        return cls(port, *await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, body: bytes) -> None:
        """Send a request and read its whole reply."""
        self._writer.write(self._head + b"content-length: %d\r\n\r\n" % len(body) + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(head.decode())
        await self._reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]))

    async def first_token(self, body: bytes) -> float:
        """Return seconds from a request to the first event of its reply, which is then read to its end."""
        begun = time.perf_counter()
        self._writer.write(self._head + b"content-length: %d\r\n\r\n" % len(body) + body)
        await self._reader.readuntil(b"word ")
        seconds = time.perf_counter() - begun
        await self._reader.readuntil(b"\r\n0\r\n\r\n")
        return seconds

    async def timed(self, body: bytes) -> float:
        """Return seconds from a request to the end of its reply."""
        begun = time.perf_counter()
        await self.ask(body)
        return time.perf_counter() - begun


class Compared(NamedTuple):
    """Seconds of the same requests sent directly and through the proxy."""

    direct: list[float]
    through: list[float]

    def added(self, percent: int) -> float:
        """Return milliseconds that the proxy adds at a percentile."""
        through, direct = (statistics.quantiles(c, n=100)[percent - 1] for c in (self.through, self.direct))
        return 1000 * (through - direct)

    def __str__(self) -> str:
        p50, p99 = self.added(50), self.added(99)
        return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"


async def compare(direct: int, proxy: int, body: bytes, rounds: int, *, stream: bool = False) -> Compared:
    """Return one request at a time, by turns."""
    clients = [await Client.to(port) for port in (direct, proxy)]
    ask = Client.first_token if stream else Client.timed
    found = Compared([], [])
    for number in range(rounds + 20):
        for client, seconds in zip(clients, found, strict=True):
            taken = await ask(client, body)
            if number >= 20:
                seconds.append(taken)
    return found


async def load(port: int, body: bytes, requests: int, concurrency: int) -> float:
    """Return requests a second."""
    left = requests

    async def worker() -> None:
        nonlocal left
        client = await Client.to(port)
        while left > 0:
            left -= 1
            await client.ask(body)

    begun = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return requests / (time.perf_counter() - begun)


def resident(pid: int) -> float:
    """MB of memory that a process holds."""
    return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(pid)])) / 1024


def latency(service: Running, proxy: Running, size: int, target: float, rounds: int, who: str) -> Figure:
    """Measure the added latency per request."""
    body = request_body(size)
    found = asyncio.run(compare(service.port, proxy.port, body, rounds))
    direct = 1000 * statistics.median(found.direct)
    return Figure(
        f"added latency, {len(body) / 1000:.0f} KB, {who}, {rounds} requests",
        f"{found}; direct p50 {direct:.2f}",
        f"p50 <= {target:g} ms",
        found.added(50) <= target,
    )


def first_token(service: Running, proxy: Running, rounds: int, who: str) -> Figure:
    """Measure the added delay of a stream's first event."""
    body = request_body(2_000, stream=True)
    found = asyncio.run(compare(service.port, proxy.port, body, rounds, stream=True))
    return Figure(
        f"streamed first-token delay, {who}, {rounds} streams",
        str(found),
        "p50 <= 2 ms",
        found.added(50) <= 2,
    )


def throughput(service: Running, proxy: Running, requests: int, who: str) -> Figure:
    """Return requests a second at concurrency 16."""
    body = request_body(2_000)
    direct, through = (asyncio.run(load(p.port, body, requests, 16)) for p in (service, proxy))
    return Figure(
        f"requests a second, concurrency 16, {who}, {requests:,}",
        f"{through:.0f} (direct {direct:.0f})",
        ">= 800",
        through >= 800,
    )


def memory(proxy: Running, requests: int) -> Figure:
    """Return what the proxy's process holds before and after many requests."""
    body = request_body(2_000)
    asyncio.run(load(proxy.port, body, 3_000, 16))
    before = resident(proxy.pid)
    asyncio.run(load(proxy.port, body, requests, 16))
    after = resident(proxy.pid)
    return Figure(
        f"memory of the proxy over {requests:,} requests",
        f"{before:.1f} MB before, {after:.1f} MB after",
        "flat: at most 3 MB more",
        after - before <= 3,
    )


def figures(quick: bool) -> Iterator[Figure]:
    """Yield all figures, as they are measured."""
    rounds = 300 if quick else 2_000
    with ExitStack() as stack:
        service = stack.enter_context(running(serve_canned))
        plain, mutant = (
            stack.enter_context(running(partial(serve_proxy, service.port, made))) for made in (False, True)
        )
        for proxy, who in ((plain, "original"), (mutant, "mutant")):
            yield latency(service, proxy, 2_000, 1.0, rounds, who)
            yield latency(service, proxy, 200_000, 2.0, rounds, who)
            yield first_token(service, proxy, rounds // 4, who)
            yield throughput(service, proxy, 2_000 if quick else 10_000, who)
        yield memory(mutant, 10_000 if quick else 100_000)


def main() -> int:
    """Print every figure; 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller samples, less than a minute")
    quick = parser.parse_args().quick
    return printed(figures(quick))


if __name__ == "__main__":
    sys.exit(main())
