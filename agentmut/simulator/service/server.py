"""The simulator as a service on this machine, in every dialect that has a codec."""

import errno
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from types import MappingProxyType

from aiohttp import web

from agentmut._base import RunError, UsageError
from agentmut.simulator.service.latency import AT_ONCE, Latency
from agentmut.simulator.service.service import ReceivedRequest, Service
from agentmut.simulator.service.service_settings import Settings, checked_aliases
from agentmut.simulator.service.trouble import NO_TROUBLE, Trouble
from agentmut.wire import server_log

MAX_BODY = 64 * 2**20
SHUTDOWN = 0.2
"""Seconds that requests have to end once the server is stopped."""


@asynccontextmanager
async def serve(
    host: str = "127.0.0.1",
    port: int = 0,
    seed: int = 0,
    *,
    trouble: Trouble = NO_TROUBLE,
    latency: Latency = AT_ONCE,
    chunk_latency: Latency = AT_ONCE,
    aliases: Mapping[str, str] = MappingProxyType({}),
    received: Callable[[ReceivedRequest], None] | None = None,
) -> AsyncIterator[str]:
    """Serve while the context is open; yields the base URL that `OPENAI_BASE_URL` wants.

    `Addresses` has those of the other SDKs. Port 0 takes a free one. Trials are told apart by the header
    `x-agentmut-trial` or by the path `/t/<trial>/v1`. `aliases` are other names of the simulated models;
    `received` is called with each request, in the server's event loop. Raises `UsageError` for settings that
    cannot be meant and for a host that other machines can reach, and `RunError` when the port cannot be had.
    """
    _check_loopback(host)
    settings = Settings(seed, trouble, latency, chunk_latency, checked_aliases(aliases))
    runner = web.AppRunner(
        application(settings, received),
        access_log=None,
        logger=server_log("agentmut.simulator"),
        handler_cancellation=True,  # a request that hangs ends with its client
        shutdown_timeout=SHUTDOWN,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await _start(site, host, port)
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1"
    finally:
        await runner.cleanup()


def application(
    settings: Settings, received: Callable[[ReceivedRequest], None] | None = None
) -> web.Application:
    """Return the service's routes; the end of a request's path names its dialect."""
    service = Service(settings, received)
    app = web.Application(client_max_size=MAX_BODY)
    app.router.add_post("/{path:.*}", service.answer)
    app.router.add_get("/{path:.*}", service.models)
    return app


def _check_loopback(host: str) -> None:
    if host != "localhost" and not _is_loopback(host):
        raise UsageError(
            f"the simulator serves this machine only, and {host!r} is not a loopback address. Use 127.0.0.1."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _start(site: web.TCPSite, host: str, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "another program uses it" if taken else (error.strerror or str(error))
        raise RunError(
            f"the simulator cannot listen on {host}:{port}: {why}. "
            "Choose another one with --port, or 0 for any free one."
        ) from error
