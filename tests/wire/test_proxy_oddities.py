"""The proxy between clients and services that do what they should not, or seldom do."""

import asyncio
import gzip
import importlib
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from agentmut.nouns.messages import ModelReply
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.compression import PackingError, unpacked
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

httpx = importlib.import_module("httpx")
PATH = "/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
REPLY = ChatCompletions().encode_reply(ModelReply(model="m", text="Hello."), reply_id="r", stream=False)
Use = Callable[[Any, str], Awaitable[Any]]


def http(status: str, *headers: str, body: bytes = b"") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def between(use: Use, *answers: bytes) -> tuple[Trial, Any, list[bytes]]:
    """What `use` returns, given a proxy to a service that gives these answers, byte by byte, one a connection."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n") + await reader.read(len(BODY)))
        writer.write(answers[min(len(asked), len(answers)) - 1])
        writer.close()

    async def carry_out() -> Any:
        roster, trial = AdmittedTrials(), Trial("t1")
        async with AsyncExitStack() as stack:
            service = await stack.enter_async_context(await asyncio.start_server(serve, "127.0.0.1", 0))
            port = service.sockets[0].getsockname()[1]
            proxy = Proxy([Upstream(f"http://127.0.0.1:{port}/v1")], roster)
            origin = await stack.enter_async_context(proxy.serving())
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=600))
            with roster.admitted(trial):
                return trial, await use(client, f"{origin}/t/t1/v1")

    return (*asyncio.run(carry_out()), asked)


async def ask(client: Any, base: str) -> Any:
    return await client.post(base + PATH, content=BODY)


async def ask_and_follow(client: Any, base: str) -> Any:
    return await client.post(base + PATH, content=BODY, follow_redirects=True)


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip"])
def test_a_refusal_passes_byte_by_byte_whatever_it_is_packed_with(packing: str) -> None:
    async def raw(client: Any, base: str) -> Any:
        async with client.stream("POST", base + PATH, content=BODY) as response:
            return response, b"".join([piece async for piece in response.aiter_raw()])

    answer = http("429 Slow", "Retry-After: 3", f"Content-Encoding: {packing}", body=b"\x01abcd")
    trial, (response, body), _ = between(raw, answer)
    assert (response.status_code, response.headers["retry-after"], body) == (429, "3", b"\x01abcd")
    assert response.headers["content-length"] == "5"
    assert [exchange.status for exchange in trial.recorder.exchanges] == [429]


def test_a_reply_that_is_packed_unasked_is_read() -> None:
    answer = http(
        "200 OK", "Content-Encoding: gzip", "Content-Type: application/json", body=gzip.compress(REPLY)
    )
    trial, response, _ = between(ask, answer)
    assert response.content == REPLY
    assert "content-encoding" not in response.headers
    assert trial.recorder.exchanges[0].reply is not None


def test_a_reply_that_cannot_be_unpacked_is_trouble_that_is_named() -> None:
    trial, response, _ = between(ask, http("200 OK", "Content-Encoding: br", body=b"abcde"))
    assert response.status_code == 502
    assert "packed with 'br'" in str(trial.recorder.exchanges[0].error)


@pytest.mark.parametrize("location", ["/v1/new/chat/completions", "../new/chat/completions"])
def test_a_redirect_within_the_service_is_followed_through_the_proxy(location: str) -> None:
    answers = (
        http("307 Moved", f"Location: {location}"),
        http("200 OK", "Content-Type: application/json", body=REPLY),
    )
    trial, response, asked = between(ask_and_follow, *answers)
    assert response.content == REPLY
    assert asked[1].startswith(b"POST /v1/new/chat/completions ")
    assert [exchange.status for exchange in trial.recorder.exchanges] == [307, 200]


def test_a_redirect_past_the_proxy_is_said_to_be_one() -> None:
    moved = http("307 Moved", "Location: http://me:pw@elsewhere.invalid/v1/chat/completions?key=planted")
    trial, response, _ = between(ask_and_follow, moved)
    assert response.status_code == 502
    (exchange,) = trial.recorder.exchanges
    assert "it redirects (307) to http://elsewhere.invalid/v1/chat/completions, past" in str(exchange.error)
    assert "planted" not in response.text + str(exchange.error)


def test_a_key_in_an_address_is_in_no_error() -> None:
    async def with_key(client: Any, base: str) -> Any:
        return await client.post(f"{base}{PATH}?key=planted-key", content=BODY)

    trial, response, _ = between(with_key, b"HTTP/1.1 abc\r\n\r\n")
    assert response.status_code == 502
    assert "planted" not in response.text + str(trial.recorder.exchanges[0].error)


def test_what_is_no_http_is_not_quoted_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    async def malformed(client: Any, base: str) -> Any:
        url = httpx.URL(base)
        reader, writer = await asyncio.open_connection("127.0.0.1", url.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer planted-secret\x01\r\n\r\n")
        return await asyncio.wait_for(reader.readline(), 600)

    _, answer, _ = between(malformed, b"")
    assert b"400" in answer
    assert "planted" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://localhost:3000", "sec-fetch-site": "cross-site"}, 200),
        ({"sec-fetch-mode": "cors"}, 200),
    ],
)
def test_web_pages_of_other_sites_may_not_ask(headers: dict[str, str], status: int) -> None:
    async def from_page(client: Any, base: str) -> Any:
        return await client.post(base + PATH, content=BODY, headers=headers)

    trial, response, _ = between(from_page, http("200 OK", "Content-Type: application/json", body=REPLY))
    assert (response.status_code, len(trial.recorder.exchanges)) == (status, int(status == 200))


def test_a_packed_request_is_unpacked_and_seen() -> None:
    async def packed(client: Any, base: str) -> Any:
        headers = {"content-encoding": "gzip"}
        return await client.post(base + PATH, content=gzip.compress(BODY), headers=headers)

    trial, _, asked = between(packed, http("200 OK", "Content-Type: application/json", body=REPLY))
    assert [exchange.request.model for exchange in trial.recorder.exchanges] == ["m"]
    assert asked[0].endswith(BODY)
    assert b"content-encoding" not in asked[0].lower()


def test_a_request_that_grows_without_end_is_not_unpacked() -> None:
    with pytest.raises(PackingError, match="1 MiB"):
        unpacked(gzip.compress(bytes(2**21)), 2**20)
