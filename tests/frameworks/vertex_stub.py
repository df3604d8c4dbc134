"""A loopback server that answers as a deployed agent engine does, with a real ADK agent in it."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part
from google.oauth2.credentials import Credentials

from agentmut.recording.trial import TRIAL_HEADER
from tests.frameworks.google_adk_agents import desk

ENGINE = "projects/p/locations/europe-west1/reasoningEngines/7"
TOKEN = "not-a-secret"


def credentials() -> Credentials:
    """Credentials that are valid without asking Google."""
    made: Any = Credentials
    found: Credentials = made(token=TOKEN)
    return found


class Stub:
    """What the engine was told, and how."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.tokens: set[str | None] = set()
        self.open: set[str] = set()
        """Sessions that were made and not deleted."""
        self.trials: set[str | None] = set()
        self.fails: web.Response | str | None = None
        """What is answered instead: a response, or what the stream consists of."""
        self.breaks_off = False
        """Whether the connection ends within that stream."""
        self._sessions = InMemorySessionService()
        self._runner = Runner(app_name="engine", agent=desk(), session_service=self._sessions)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=10 * 2**20)
        app.router.add_post(f"/v1/{ENGINE}:query", self._query)
        app.router.add_post(f"/v1/{ENGINE}:streamQuery", self._stream)
        return app

    async def _query(self, request: web.Request) -> web.StreamResponse:
        asked = await self._asked(request)
        if isinstance(self.fails, web.Response):
            return self.fails
        if asked["classMethod"] == "query":
            return web.json_response({"output": {"answer": asked["input"]["input"]}})
        if asked["classMethod"] == "async_delete_session":
            self.open.remove(asked["input"]["session_id"])
            return web.json_response({"output": None})
        assert asked["classMethod"] == "async_create_session"
        session = await self._sessions.create_session(app_name="engine", user_id=asked["input"]["user_id"])
        self.open.add(session.id)
        return web.json_response({"output": {"id": session.id, "userId": session.user_id}})

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        asked = await self._asked(request)
        assert asked["classMethod"] == "async_stream_query" and request.query["alt"] == "sse"
        told = asked["input"]
        self.messages.append(told["message"])
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        if isinstance(self.fails, str):
            await answer.write(self.fails.encode())
            if self.breaks_off and request.transport is not None:
                request.transport.close()
            return answer
        message = Content(role="user", parts=[Part(text=told["message"])])
        async for event in self._runner.run_async(
            user_id=told["user_id"], session_id=told["session_id"], new_message=message
        ):
            await answer.write(event.model_dump_json(exclude_none=True).encode() + b"\n")
        return answer

    async def _asked(self, request: web.Request) -> Any:
        self.tokens.add(request.headers.get("Authorization"))
        self.trials.add(request.headers.get(TRIAL_HEADER))
        return json.loads(await request.text())


@contextmanager
def running() -> Iterator[tuple[Stub, str]]:
    """The stub and its address, with an event loop in a thread of its own."""
    loop, stub = asyncio.new_event_loop(), Stub()
    runner = web.AppRunner(stub.app())

    async def start() -> str:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None and isinstance(site._server, asyncio.Server)
        return f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield stub, asyncio.run_coroutine_threadsafe(start(), loop).result(600)
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(600)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(600)
        loop.close()
