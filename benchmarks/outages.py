"""Does an outage in the middle of a campaign kill harmless mutants? Each fault for a while, then all is well again.

`make slow` runs every cell of the matrix: the fault, how the agent is run (a function in this process, in worker
processes, a program behind the proxy) and how long it lasts. The requests pass a front that makes the trouble, on
their way to the simulator. A harmless mutant that is killed is a false kill; decisions are compared with the clean run.
"""

import asyncio
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import aiohttp
import yaml
from aiohttp import web

from agentmut._base import RunError
from agentmut.nouns import Result, Status
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.usecases.campaigns import measure

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.faults import SEED, Size, write_project

FAULTS = (
    "outage",
    "refused",
    "brown_out",
    "slow_down",
    "rate_limit",
    "retry_after",
    "cut",
    "garbage",
    "wrong_4xx",
)
ROUTES = ("task", "process", "proxy")
LENGTHS = (4, 16, 48)
"""Requests that meet the fault."""
SLOW = 0.5
"""Seconds that a reply takes in a slow-down; ten times what it usually takes."""
FIRST = 60
"""The request with which the trouble begins."""


PROGRAM = """
import json, os, sys, urllib.request

PROMPT = {prompt!r}
said = [{{"role": "system", "content": PROMPT}}, {{"role": "user", "content": sys.stdin.read()}}]
asked = {{"model": "sim-small", "messages": said, "stream": True}}
headers = {{"Content-Type": "application/json", "Authorization": "Bearer k"}}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(url, json.dumps(asked).encode(), headers)
words, whole = [], False
with urllib.request.urlopen(request, timeout={patience}) as reply:
    for line in reply:
        piece = line.decode().removeprefix("data: ").strip()
        whole = whole or piece == "[DONE]"
        if piece and piece != "[DONE]":
            words += [choice["delta"].get("content") or "" for choice in json.loads(piece)["choices"]]
if not whole:
    sys.exit("the stream ended early")
print("".join(words))
"""
"""A program that streams its answer with the standard library: an SDK would take most of a cell's processor time."""


class Front:
    """Passes requests on to a service; those in the window meet a fault. A context manager."""

    def __init__(self, upstream: str, fault: str, length: int) -> None:
        self._upstream = upstream.removesuffix("/v1")
        self._fault = fault
        self._window = range(FIRST, FIRST + length)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.requests = 0
        self.troubled = 0
        self.url = ""

    def __enter__(self) -> "Front":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(30)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def _answer(self, http: web.Request) -> web.StreamResponse:
        number = self.requests
        self.requests += 1
        met = number in self._window and (self._fault != "brown_out" or number % 2 == 0)
        self.troubled += met
        if met and (spoiled := await self._spoiled(http)):
            return spoiled
        body, headers = await http.read(), {k: v for k, v in http.headers.items() if k.lower() != "host"}
        async with (
            aiohttp.ClientSession() as client,
            client.request(http.method, self._upstream + http.raw_path, data=body, headers=headers) as got,
        ):
            whole = await got.read()
            if met and self._fault == "cut":
                whole = whole[: len(whole) // 2]
            return web.Response(
                status=got.status, body=whole, headers={"Content-Type": got.headers["Content-Type"]}
            )

    async def _spoiled(self, http: web.Request) -> web.Response | None:
        match self._fault:
            case "outage":
                await asyncio.Event().wait()
            case "refused":
                assert http.transport is not None
                http.transport.abort()
                return web.Response()
            case "brown_out":
                return web.json_response({"error": {"message": "overloaded"}}, status=503)
            case "slow_down":
                await asyncio.sleep(SLOW)
            case "rate_limit" | "retry_after":
                headers = {"Retry-After": "1"} if self._fault == "retry_after" else {}
                return web.json_response({"error": {"message": "slower"}}, status=429, headers=headers)
            case "garbage":
                return web.Response(body=b"<<<not JSON>>>", content_type="application/json")
            case "wrong_4xx":
                return web.json_response({"error": {"message": "who are you?"}}, status=401)
        return None


class Cell(NamedTuple):
    """What one campaign decided."""

    false_kills: int
    harmless: int
    differ: int
    aside: int
    troubled: int


SIZE = Size(2, baseline=20, n_max=15, concurrency=4, patience=2.0)


def campaign(folder: Path, route: str, fault: str, length: int) -> tuple[Result, int]:
    """Measure once; a run that the outage has ended is begun again, as its message says."""
    write_project(folder, SIZE, "command" if route == "proxy" else "openai")
    path = folder / "agentmut.yaml"
    project = yaml.safe_load(path.read_text())
    if route == "proxy":
        program = PROGRAM.format(prompt=project["agent"]["config"]["prompt"], patience=SIZE.patience)
        (folder / project["agent"]["command"][-1]).write_text(program)
    project["execution"] |= {
        "retries": 1,
        "timeout": 10,
        "isolate": "process" if route == "process" else "task",
    }
    path.write_text(yaml.safe_dump(project))
    with (
        Simulator(read_settings(seed=5)) as simulator,
        Front(simulator.openai_base_url, fault, length) as front,
    ):
        before = dict(os.environ)
        os.environ.update(simulator.environment | {"OPENAI_BASE_URL": front.url})
        try:
            return _until_finished(lambda: measure(folder, seed=SEED)), front.troubled
        finally:
            os.environ.clear()
            os.environ.update(before)


def _until_finished(run: Callable[[], Result]) -> Result:
    for _ in range(4):
        with suppress(RunError):
            return run()
    return run()


def cell(clean: Result, folder: Path, route: str, fault: str, length: int) -> Cell:
    """Compare a campaign amid a fault with the clean one."""
    found, troubled = campaign(folder, route, fault, length)
    was = {row.id: row.status for row in clean.mutants}
    now = {row.id: row.status for row in found.mutants}
    harmless = [id for id, status in was.items() if status is Status.SURVIVED]
    false = sum(now[id] is Status.KILLED for id in harmless)
    differ = sum(now[id] is not status for id, status in was.items())
    return Cell(false, len(harmless), differ, sum(one.trials for one in found.quarantined), troubled)


def main() -> None:
    """Print each cell beside its target; exit 1 where a harmless mutant was killed. Arguments narrow the matrix."""
    asked = set(sys.argv[1:])
    routes, faults = (tuple(x for x in all_ if x in asked) or all_ for all_ in (ROUTES, FAULTS))
    lengths = tuple(x for x in LENGTHS if str(x) in asked) or LENGTHS
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        for route in routes:
            clean, _ = campaign(Path(name) / f"clean_{route}", route, "none", 0)
            for fault in faults:
                for length in lengths:
                    found = cell(clean, Path(name) / f"{route}_{fault}_{length}", route, fault, length)
                    bad += found.false_kills
                    print(
                        f"{route} {fault} {length} requests: {found.false_kills} of {found.harmless} harmless mutants "
                        f"killed (target 0), {found.differ} decisions differ (target 0), {found.aside} trials set "
                        f"aside, {found.troubled} requests in trouble",
                        flush=True,
                    )
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
