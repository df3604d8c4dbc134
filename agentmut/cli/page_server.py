"""The common part of the page servers: where they listen, and headers that forbid caching and framing."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
MOST_CONNECTIONS = 100
"""The connections that are open at once; any local user can open them, and each takes a handle of the command."""
HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
Answer = Callable[["web.BaseRequest"], Awaitable["web.Response"]]


class Listening(NamedTuple):
    """A server that listens; `runner.cleanup()` ends it."""

    runner: "web.ServerRunner"
    port: int


async def listen(answer: Answer, host: str = HOST, port: int = 0) -> Listening:
    """Serve every request by `answer`; port 0 takes any free port. Raises `OSError`."""
    from aiohttp import web

    from agentmut.wire import HttpServer, server_log

    server = HttpServer(
        answer, most_connections=MOST_CONNECTIONS, access_log=None, logger=server_log("agentmut.pages")
    )
    runner = web.ServerRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except BaseException:
        await runner.cleanup()
        raise
    return Listening(runner, runner.addresses[0][1])


def html(text: str) -> "web.Response":
    """Return a page."""
    from aiohttp import web

    body = text.encode("utf-8", "replace")
    return web.Response(body=body, content_type="text/html", charset="utf-8", headers=HEADERS)


def refused(status: int, why: str) -> "web.Response":
    """Return an answer that says why there is no page."""
    from aiohttp import web

    return web.Response(status=status, text=why, headers=HEADERS)
