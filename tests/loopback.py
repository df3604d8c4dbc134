"""Services on loopback whose answers a test writes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

ANY_PATH = "/{path:.*}"


@contextmanager
def served(loop_thread: Any, handlers: Mapping[str, Callable[..., Any]], **settings: Any) -> Iterator[str]:
    """Serve each path by its handler; yield the address. `settings` are those of the `web.Application`."""

    async def start() -> web.AppRunner:
        app = web.Application(**settings)
        for path, handler in handlers.items():
            app.router.add_route("*", path, handler)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = loop_thread.run(start())
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        loop_thread.run(runner.cleanup())
