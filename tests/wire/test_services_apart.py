"""A proxy of several services: a request goes to the service that it is for, and its key to no other."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from aiohttp import web

from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.gateway import open_gateway
from agentmut.wire.carriers.proxy.roster import Everyone
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import doors_of

httpx = importlib.import_module("httpx")
VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_HOST",
    "bedrock": "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
}
Seen = list[tuple[str, str, str]]
"""Service, key and path of each request that arrived."""


@asynccontextmanager
async def services(seen: Seen) -> AsyncIterator[dict[str, str]]:
    """The environment of five services, each with a port of its own; OpenAI's base URL ends in `/v1`."""
    async with AsyncExitStack() as stack:
        environment = {}
        for name, variable in VARIABLES.items():

            async def answer(http: web.BaseRequest, name: str = name) -> web.Response:
                seen.append((name, http.headers.get("x-api-key", ""), http.raw_path))
                return web.json_response({})

            runner = web.ServerRunner(web.Server(answer))
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            root = f"http://127.0.0.1:{runner.addresses[0][1]}"
            environment[variable] = f"{root}/v1" if name == "openai" else root
        yield environment


@pytest.mark.parametrize("prefix", ["", "/t/trial-1"])
def test_no_key_reaches_another_service(prefix: str) -> None:
    paths = (
        "",
        "?x=1",
        "/v1/models",
        "/v1/files",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/chat/completions",
        "/v1beta/models",
        "/v1beta/models/m:embedContent",
        "/openai/v1/models",
        "/anthropic/v1/models",
        "//v1/models",
        "/model/m/converse",
        "/api/chat",
    )

    async def everything() -> Seen:
        seen: Seen = []
        async with services(seen) as environment:
            doors = doors_of(environment)
            proxy = Proxy([door.upstream for door in doors], Everyone(Trial))
            async with proxy.serving() as origin, httpx.AsyncClient() as client:
                for door in doors:
                    (name,) = (n for n, v in VARIABLES.items() if v in door.service.variables)
                    base = door.variables(origin + prefix)[VARIABLES[name]]
                    for path in paths:
                        for method in ("GET", "POST"):
                            await client.request(method, base + path, headers={"x-api-key": f"{name} key"})
        return seen

    seen = asyncio.run(everything())
    assert {(name, key) for name, key, _ in seen} == {(name, f"{name} key") for name in VARIABLES}
    assert ("anthropic", "anthropic key", "/v1/messages/count_tokens") in seen
    assert ("gemini", "gemini key", "/v1beta/models/m:embedContent") in seen
    assert all(path.startswith("/v1") for name, _, path in seen if name == "openai")


@pytest.mark.parametrize(
    ("method", "path", "arrives"),
    [
        ("POST", "/v1/chat/completions", "openai"),
        ("POST", "/v1/responses", "openai"),
        ("POST", "/v1/messages?beta=true", "anthropic"),
        ("POST", "/v1beta/models/m:generateContent", "gemini"),
        ("POST", "/model/m/converse", "bedrock"),
        ("POST", "/api/chat", "ollama"),
        ("GET", "/v1/messages", ""),
        ("POST", "/v1/messages/count_tokens", ""),
        ("GET", "/v1/models", ""),
        ("GET", "/v1beta/models", ""),
        ("GET", "/", ""),
        ("POST", "/ANTHROPIC/v1/models", ""),
    ],
)
def test_without_a_service_only_a_model_request_of_one_service_passes(
    method: str, path: str, arrives: str
) -> None:
    async def ask(seen: Seen) -> tuple[int, str, str]:
        async with services(seen) as environment:
            proxy = Proxy([door.upstream for door in doors_of(environment)], Everyone(Trial))
            async with proxy.serving() as origin, httpx.AsyncClient() as client:
                reply = await client.request(method, origin + path, json={"model": "m", "messages": []})
                return reply.status_code, reply.text, origin

    seen: Seen = []
    status, text, origin = asyncio.run(ask(seen))
    assert {(name, asked) for name, _, asked in seen} == ({(arrives, path)} if arrives else set())
    assert (status == 200) == bool(arrives)
    if not arrives:
        assert "does not say which one is meant" in text
        for base in ("/openai/v1", "/anthropic", "/gemini", "/ollama", "/bedrock"):
            assert f"{origin}{base}" in text


def test_one_service_alone_takes_every_path_of_its_own() -> None:
    async def ask(seen: Seen) -> None:
        async with services(seen) as environment:
            (door, *_) = doors_of({}, environment["ANTHROPIC_BASE_URL"])
            async with (
                Proxy([door.upstream], Everyone(Trial)).serving() as origin,
                httpx.AsyncClient() as client,
            ):
                await client.get(f"{origin}/openai/v1/models")
                await client.get(f"{door.variables(origin)['OPENAI_BASE_URL']}/models")

    seen: Seen = []
    asyncio.run(ask(seen))
    assert [path for _, _, path in seen] == ["/openai/v1/models", "/models"]


def test_the_variable_of_all_aws_services_is_read_but_left_as_it_is() -> None:
    async def endpoints() -> tuple[list[str], list[str]]:
        environment = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
        async with open_gateway(environment) as gateway:
            found = gateway.attempt("a").endpoints
        bases = [str(door.upstream.base) for door in doors_of(environment) if door.service.name == "bedrock"]
        return bases, sorted(name for name in found if name.startswith("AWS"))

    assert asyncio.run(endpoints()) == (["http://127.0.0.1:9"], ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"])
