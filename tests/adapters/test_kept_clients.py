"""Clients of SDKs that runs share: connections, and nothing else."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from agentmut._base import AdapterError
from agentmut.adapters._shared.tool_loop.clients import Clients, settings_of

REPLY = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}],
}


class Service:
    """A service that sets a cookie, and keeps each request's cookie and connection."""

    def __init__(self) -> None:
        self.cookies: list[str | None] = []
        self.connections: list[int] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.cookies.append(request.headers.get("cookie"))
        self.connections.append(id(request.transport))
        return web.json_response(REPLY, headers={"set-cookie": "session=1; Path=/"})


async def ask(clients: Clients) -> Any:
    async with clients.client() as client:
        await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
        return client


async def served(service: Service, monkeypatch: pytest.MonkeyPatch) -> web.AppRunner:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", service.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "key-1")
    return runner


def test_runs_share_a_connection_and_no_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    service, clients = Service(), Clients("openai")

    async def runs() -> Any:
        runner = await served(service, monkeypatch)
        first, second = await ask(clients), await ask(clients)
        assert first is second
        await runner.cleanup()
        return second

    client = asyncio.run(runs())
    assert service.cookies == [None, None]
    assert len(set(service.connections)) == 1
    assert client.is_closed()  # with its event loop


def test_another_environment_and_another_loop_get_another_client(monkeypatch: pytest.MonkeyPatch) -> None:
    service, clients = Service(), Clients("openai")

    async def runs() -> list[Any]:
        runner = await served(service, monkeypatch)
        async with clients.client() as client:
            monkeypatch.setenv("OPENAI_API_KEY", "key-2")
            other = await ask(clients)
            assert not client.is_closed()  # its run is not over
        await asyncio.sleep(0)  # the event loop closes what nobody has any more
        await runner.cleanup()
        return [client, other]

    client, other = asyncio.run(runs())
    again = asyncio.run(runs())
    assert (client.api_key, other.api_key) == ("key-1", "key-2")
    assert len({id(each) for each in (client, other, *again)}) == 4
    assert all(each.is_closed() for each in (client, other, *again))


def test_a_missing_key_is_told_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def run(clients: Clients) -> None:
        async with clients.client():
            pass

    clients = Clients("openai")
    for _ in range(2):
        with pytest.raises(AdapterError, match="Set OPENAI_API_KEY"):
            asyncio.run(run(clients))


def test_settings_are_those_that_the_client_reads() -> None:
    environment = {"ANTHROPIC_BASE_URL": "http://a", "OPENAI_BASE_URL": "http://o", "NO_PROXY": "*"}
    environment |= {"SSL_CERT_FILE": "/c", "PATH": "/bin"}
    assert settings_of("anthropic", environment) == (
        ("ANTHROPIC_BASE_URL", "http://a"),
        ("NO_PROXY", "*"),
        ("SSL_CERT_FILE", "/c"),
    )
