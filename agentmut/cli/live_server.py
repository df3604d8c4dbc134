"""The live page of a run on loopback: a request with the token of its address sees the state and may stop the run."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentmut._base import RunError
from agentmut.cli.page_server import HEADERS, HOST, html, listen, refused
from agentmut.wire import RefusalError, behind_token, check_host, check_origin, new_token

if TYPE_CHECKING:
    from aiohttp import web

STARTING = 10.0
"""Seconds that the server has to listen."""
LAST_LOOK = 3.0
"""Seconds that a page which is open has to fetch the end of the run."""
RECENT = 3.0
"""Seconds since its last question in which a page is taken to be open."""


class LiveServer:
    """Serves one page in a thread of its own, for as long as the command runs."""

    def __init__(self, page: str, stop: Callable[[], None]) -> None:
        self._page = page
        self._stop = stop
        self._token = new_token()
        self._state: Mapping[str, Any] = {}
        self._port = 0
        self._asked = 0.0
        self._told_end = threading.Event()
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="agentmut-live")

    def __enter__(self) -> "LiveServer":
        self._thread.start()
        if not self._ready.wait(STARTING) or not self._port:
            raise RunError("the live page cannot be served: no port of 127.0.0.1 is free. Leave --serve out.")
        return self

    def __exit__(self, *error: object) -> None:
        if self._state.get("ended") and time.monotonic() - self._asked < RECENT:
            self._told_end.wait(LAST_LOOK)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STARTING)

    @property
    def address(self) -> str:
        """Return the address of the page, with its token."""
        return f"http://{HOST}:{self._port}/{self._token}/"

    def show(self, state: Mapping[str, Any]) -> None:
        """Replace the state that the page shows."""
        self._state = state

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            runner = self._loop.run_until_complete(self._listen())
            self._ready.set()
            self._loop.run_forever()
            self._loop.run_until_complete(runner.cleanup())
        finally:
            self._ready.set()
            self._loop.close()

    async def _listen(self) -> "web.ServerRunner":
        runner, self._port = await listen(self._answer)
        return runner

    async def _answer(self, request: "web.BaseRequest") -> "web.Response":
        from aiohttp import web

        try:
            check_host(request.headers, self._port)
            check_origin(request.headers)
            target = behind_token(request.path, self._token)
        except RefusalError as refusal:
            return refused(refusal.status, str(refusal))
        if (request.method, target) == ("GET", "/"):
            return html(self._page)
        if (request.method, target) == ("GET", "/state"):
            self._asked = time.monotonic()
            if self._state.get("ended"):
                self._told_end.set()
            return web.Response(
                status=200 if self._state else 503,
                text=json.dumps(self._state),
                content_type="application/json",
                headers=HEADERS,
            )
        if (request.method, target) == ("POST", "/stop"):
            if self._state.get("stoppable"):
                self._stop()
            return web.Response(status=204, headers=HEADERS)
        return refused(404, "there is no such page")
