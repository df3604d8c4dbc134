"""The loopback proxy between real clients and a service on loopback."""

import asyncio
import importlib
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.errors import RunError, UsageError
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.roster import AdmittedTrials, Everyone
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream

httpx = importlib.import_module("httpx")
LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}}
BODY = {
    "model": "sim-large",
    "messages": [{"role": "system", "content": "Help."}, {"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": LOOK}],
}
STREAMED = {**BODY, "stream": True}
Use = Callable[[Any, Trial, str], Awaitable[Any]]
"""Takes a client, the trial and the base URL of the trial's requests."""


def through(
    upstream: str, use: Use, rewriter: Any = None, path: str = "/t/t1/v1", **options: Any
) -> tuple[Trial, Any]:
    """What `use` returns, given a proxy to `upstream` and one trial under way."""

    async def carry_out() -> tuple[Trial, Any]:
        roster, trial = AdmittedTrials(), Trial("t1", rewriter=rewriter)
        async with AsyncExitStack() as stack:
            proxy = Proxy([Upstream(upstream)], roster, **options)
            origin = await stack.enter_async_context(proxy.serving())
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=600))
            with roster.admitted(trial):
                return trial, await use(client, trial, origin + path)

    return asyncio.run(carry_out())


async def ask(client: Any, trial: Trial, base: str) -> Any:
    return await client.post(f"{base}/chat/completions", json=BODY, headers={"authorization": "Bearer k"})


async def stream(client: Any, trial: Trial, base: str) -> bytes:
    async with client.stream("POST", f"{base}/chat/completions", json=STREAMED) as response:
        return b"".join([piece async for piece in response.aiter_bytes()])


def test_requests_and_replies_pass_as_they_are_where_nothing_is_mutated(polyglot: Any) -> None:
    trial, response = through(f"{polyglot.origin}/v1", ask)
    assert json.loads(polyglot.bodies[0]) == BODY
    assert polyglot.paths == ["/v1/chat/completions"]
    told = polyglot.headers[0]
    assert (told["authorization"], told["x-agentmut-trial"]) == ("Bearer k", "t1")
    assert told["host"] == polyglot.origin.removeprefix("http://")
    assert told["user-agent"].startswith("python-httpx")
    assert response.json()["choices"][0]["message"]["content"] == "You said: Hi"
    assert response.headers["x-request-id"] == "r-1"
    (exchange,) = trial.recorder.exchanges
    assert exchange.reply is not None
    assert (exchange.status, exchange.reply.usage.total, trial.recorder.waiting) == (200, 10, [])


@pytest.mark.parametrize("use", [ask, stream], ids=["plain", "streamed"])
@pytest.mark.parametrize("decoy", [False, True], ids=["renamed", "decoy"])
def test_the_mutant_is_made_on_the_way(use: Any, decoy: bool, polyglot: Any, mutant: Any) -> None:
    polyglot.calls = ("decoy", "peek") if decoy else ("peek",)
    trial, given = through(f"{polyglot.origin}/v1", use, mutant(decoy=decoy))
    given = given if isinstance(given, bytes) else given.content
    assert b'"look"' in given
    assert b"peek" not in given
    assert b"decoy" not in given
    assert {request.system_text for request in polyglot.requests} == {"Help. Be brief."}
    replies = [exchange.reply for exchange in trial.recorder.exchanges]
    assert [r and r.tool_calls[0].name for r in replies] == (["decoy", "look"] if decoy else ["look"])


def test_other_paths_of_the_service_pass_both_ways(polyglot: Any, mutant: Any) -> None:
    async def upload(client: Any, trial: Trial, base: str) -> Any:
        await client.get(f"{base}/models?limit=2")
        return await client.post(f"{base}/files", content=b"x" * 3_000_000)

    trial, response = through(f"{polyglot.origin}/v1", upload, mutant())
    assert polyglot.paths == ["/v1/models?limit=2", "/v1/files"]
    assert response.json() == {"path": "/v1/files", "size": 3_000_000}
    assert trial.recorder.exchanges == []


def test_refusals_pass_with_status_headers_and_body(polyglot: Any, mutant: Any) -> None:
    async def refuse(http: web.Request) -> web.Response:
        return web.Response(
            status=429, text='{"error": "slow down"}', headers={"retry-after": "7", "x-a": "b"}
        )

    polyglot.trouble = refuse
    trial, response = through(f"{polyglot.origin}/v1", ask, mutant())
    assert (response.status_code, response.text) == (429, '{"error": "slow down"}')
    assert (response.headers["retry-after"], response.headers["x-a"]) == ("7", "b")
    assert [e.status for e in trial.recorder.exchanges] == [429]


def test_a_service_that_is_not_there_is_a_502_in_the_clients_dialect_and_infrastructure() -> None:
    trial, response = through("http://127.0.0.1:9/v1", ask)
    assert response.status_code == 502
    assert response.json()["error"]["code"] == "upstream_unreachable"
    (exchange,) = trial.recorder.exchanges
    assert (exchange.status, exchange.answered) == (None, False)
    assert "ClientConnectorError" in str(exchange.error)


def test_a_service_that_dies_mid_stream_breaks_the_clients_stream(polyglot: Any, mutant: Any) -> None:
    async def die(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        await response.write(b'data: {"choices": []}\n\ndata: {"choi')
        assert http.transport is not None
        http.transport.close()
        return response

    async def read(client: Any, trial: Trial, base: str) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            await stream(client, trial, base)

    polyglot.trouble = die
    trial, _ = through(f"{polyglot.origin}/v1", read, mutant())
    (exchange,) = trial.recorder.exchanges
    assert (exchange.status, exchange.reply, exchange.answered) == (200, None, False)
    assert "ClientPayloadError" in str(exchange.error)


def test_a_client_that_hangs_up_ends_the_request_to_the_service(polyglot: Any, loop_thread: Any) -> None:
    ended: list[str] = []

    async def go_on(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        try:
            while True:
                await response.write(b": still here\n\n")
                await asyncio.sleep(0.01)
        except ConnectionError:
            ended.append("hung up")
            return response

    async def leave(client: Any, trial: Trial, base: str) -> None:
        async with client.stream("POST", f"{base}/chat/completions", json=STREAMED) as response:
            await anext(response.aiter_bytes())
        while not (ended and trial.recorder.exchanges):
            await asyncio.sleep(0.02)

    polyglot.trouble = go_on
    trial, _ = through(f"{polyglot.origin}/v1", leave)
    assert ended == ["hung up"]
    (exchange,) = trial.recorder.exchanges
    assert (exchange.status, exchange.reply) == (200, None)


def test_a_slow_reader_holds_the_service_back_instead_of_filling_the_memory(polyglot: Any) -> None:
    written = 0

    async def flood(http: web.Request) -> web.StreamResponse:
        nonlocal written
        response = web.StreamResponse(headers={"content-type": "application/octet-stream"})
        await response.prepare(http)
        for _ in range(1000):
            await response.write(b"x" * 100_000)
            written += 100_000
        return response

    async def dawdle(client: Any, trial: Trial, base: str) -> int:
        async with client.stream("GET", f"{base}/files/1/content") as response:
            pieces = response.aiter_raw()
            await anext(pieces)
            await asyncio.sleep(0.5)
            held = written
            size = sum([len(piece) async for piece in pieces])
        assert size > 90_000_000
        return held

    polyglot.trouble = flood
    _, held = through(f"{polyglot.origin}/v1", dawdle)
    assert held < 30_000_000  # what the buffers of four sockets take


def test_frames_of_a_stream_are_not_held_up(polyglot: Any, mutant: Any) -> None:
    waiting = asyncio.Event()

    async def in_two(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        await response.write(b'data: {"choices": []}\n\n')
        while not waiting.is_set():
            await asyncio.sleep(0.01)
        await response.write(b"data: [DONE]\n\n")
        return response

    async def read(client: Any, trial: Trial, base: str) -> list[bytes]:
        pieces = []
        async with client.stream("POST", f"{base}/chat/completions", json=STREAMED) as response:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                waiting.set()
        return pieces

    polyglot.trouble = in_two
    _, pieces = through(f"{polyglot.origin}/v1", read, mutant())
    assert pieces == [b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"]


async def _raw(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 600)
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("line", "host", "status", "code"),
    [
        ("GET /t/t1/v1/models", "evil.example", 403, "foreign_host"),
        ("GET /t/t1/v1/models", "evil.example:PORT", 403, "foreign_host"),
        ("GET /t/t1/v1/models", "127.0.0.1", 403, "foreign_host"),
        ("GET /t/t1/v1/models", "127.0.0.1:1", 403, "foreign_host"),
        ("GET /t/t1/v1/models", "user@127.0.0.1:PORT", 403, "foreign_host"),
        ("GET http://127.0.0.1:PORT/t/t1/v1/models", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET http://evil.example/v1/models", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET //evil.example/v1/models", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1//evil.example/v1/models", "127.0.0.1:PORT", 404, "no_such_path"),
        ("GET /t/t1/v1/../admin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/%2e%2E/admin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/%252e%252e/admin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/..%5cadmin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/x%2f..%2f..%2fadmin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/%2525252e%2525252e/admin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/..;/admin", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/models", "127.0.0.1:PORT#.evil.com", 403, "foreign_host"),
        ("GET /t/t1/v10/models", "127.0.0.1:PORT", 404, "no_such_path"),
        ("GET /t/t1/admin", "127.0.0.1:PORT", 404, "no_such_path"),
        ("GET /t/t2/v1/models", "127.0.0.1:PORT", 404, "unknown_trial"),
        ("OPTIONS *", "127.0.0.1:PORT", 400, "foreign_target"),
        ("GET /t/t1/v1/models", "127.0.0.1:PORT", 200, ""),
        ("GET /t/t1/v1/models", "LocalHost:PORT", 200, ""),
        ("GET /t/t1/v1/models", "[::1]:PORT", 200, ""),
        ("GET /v1/models", "127.0.0.1:PORT", 200, ""),
    ],
)
def test_only_this_machine_may_ask_and_only_for_the_upstream(
    line: str, host: str, status: int, code: str, polyglot: Any
) -> None:
    async def knock(client: Any, trial: Trial, base: str) -> bytes:
        port = httpx.URL(base).port
        request = f"{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".replace("PORT", str(port))
        return await _raw(port, request.encode())

    _, answer = through(f"{polyglot.origin}/v1", knock)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert code.encode() in body
    assert len(polyglot.paths) == (status == 200)


def test_other_addresses_are_bound_only_when_told() -> None:
    proxy = Proxy([Upstream("http://127.0.0.1:9")], AdmittedTrials())
    with pytest.raises(UsageError, match=r"0\.0\.0\.0"):
        asyncio.run(proxy.serving("0.0.0.0").__aenter__())


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        proxy = Proxy([Upstream("http://127.0.0.1:9")], AdmittedTrials())
        with pytest.raises(RunError, match="another program uses it"):
            asyncio.run(proxy.serving(port=taken.getsockname()[1]).__aenter__())


@pytest.mark.parametrize(
    "url",
    [
        "api.openai.com",
        "ftp://a/b",
        "http://u:p@host/v1",
        "https://h/v1?a=b",
        "",
        "http://[::1/v1",
        "http://h:99999",
    ],
)
def test_an_upstream_has_a_scheme_a_host_and_a_path(url: str) -> None:
    with pytest.raises(UsageError, match="upstream"):
        Upstream(url)


def test_an_environments_proxy_is_for_services_elsewhere_only(monkeypatch: Any) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.setenv(name, "http://proxy.example:3128" if name != "no_proxy" else "inside.example")
    found = [
        Upstream(f"{host}/v1")._proxy
        for host in (
            "https://api.example",
            "http://127.0.0.1:1",
            "http://localhost",
            "https://inside.example",
        )
    ]
    assert found == ["http://proxy.example:3128", None, None, None]


def test_requests_of_a_trial_that_is_over_are_refused(polyglot: Any) -> None:
    async def late() -> list[tuple[int, str]]:
        roster, answers = AdmittedTrials(), []
        proxy = Proxy([Upstream(f"{polyglot.origin}/v1")], roster)
        async with proxy.serving() as origin, httpx.AsyncClient() as client:
            with roster.admitted(Trial("t1")):
                pass
            with running(Trial("t2")) as left_behind:
                pass
            for path in ("/t/t1/v1", "/v1"):
                response = await client.post(f"{origin}{path}/chat/completions", json=BODY)
                answers.append((response.status_code, response.json()["error"]["code"]))
            with roster.admitted(left_behind):
                response = await client.post(f"{origin}/v1/chat/completions", json=BODY)
                answers.append((response.status_code, response.json()["error"]["code"]))
            with roster.admitted(Trial("a")), roster.admitted(Trial("b")):
                response = await client.post(f"{origin}/v1/chat/completions", json=BODY)
                answers.append((response.status_code, response.json()["error"]["code"]))
                headers = {"x-agentmut-trial": "b"}
                response = await client.post(f"{origin}/v1/chat/completions", json=BODY, headers=headers)
                answers.append((response.status_code, ""))
        return answers

    assert asyncio.run(late()) == [
        (410, "trial_over"),
        (410, "trial_over"),
        (410, "trial_over"),
        (409, "which_trial"),
        (200, ""),
    ]
    assert len(polyglot.requests) == 1


def test_what_a_trial_has_under_way_ends_with_it(polyglot: Any) -> None:
    async def silence(http: web.Request) -> web.Response:
        while http.transport is not None and not http.transport.is_closing():
            await asyncio.sleep(0.01)
        return web.Response()

    async def end() -> Trial:
        roster, trial = AdmittedTrials(), Trial("t1")
        proxy = Proxy([Upstream(f"{polyglot.origin}/v1")], roster)
        async with proxy.serving() as origin, httpx.AsyncClient() as client:
            with roster.admitted(trial):
                asking = asyncio.ensure_future(ask(client, trial, f"{origin}/t/t1/v1"))
                while not trial.recorder.waiting:
                    await asyncio.sleep(0.01)
            with pytest.raises(httpx.RemoteProtocolError):
                await asking
        return trial

    polyglot.trouble = silence
    (exchange,) = asyncio.run(end()).recorder.exchanges
    assert (exchange.status, exchange.answered) == (None, False)


def test_signed_requests_to_the_real_service_are_refused_with_the_reason() -> None:
    async def signed(client: Any, trial: Trial, base: str) -> Any:
        headers = {"authorization": "AWS4-HMAC-SHA256 Credential=x"}
        return await client.post(f"{base}/model/m/converse", json={}, headers=headers)

    _, response = through("https://bedrock.example", signed, path="/t/t1")
    assert response.status_code == 400
    assert "AWS_BEARER_TOKEN_BEDROCK" in response.text


def test_more_than_a_hundred_streams_at_once(polyglot: Any) -> None:
    polyglot.pause = 0.02

    async def many(client: Any, trial: Trial, base: str) -> list[bytes]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=600, limits=limits) as own:
            return await asyncio.gather(*(stream(own, trial, base) for _ in range(120)))

    trial, given = through(f"{polyglot.origin}/v1", many)
    assert len(set(given)) == 1
    assert len(trial.recorder.exchanges) == 120
    assert all(exchange.reply for exchange in trial.recorder.exchanges)


def test_requests_under_way_are_finished_when_the_proxy_is_stopped(polyglot: Any) -> None:
    async def slowly(http: web.Request) -> None:
        await asyncio.sleep(0.3)

    async def stop() -> Any:
        proxy = Proxy([Upstream(f"{polyglot.origin}/v1")], Everyone(Trial))
        async with httpx.AsyncClient() as client:
            async with proxy.serving(patience=600) as origin:
                asking = asyncio.ensure_future(client.post(f"{origin}/v1/chat/completions", json=BODY))
                while not polyglot.paths:
                    await asyncio.sleep(0.01)
            with pytest.raises(httpx.ConnectError):
                await client.post(f"{origin}/v1/chat/completions", json=BODY)
        return await asking

    polyglot.trouble = slowly
    assert asyncio.run(stop()).status_code == 200


def test_a_password_in_a_wrong_upstream_is_not_repeated() -> None:
    with pytest.raises(UsageError) as refused:
        Upstream("ftp://me:planted-password@host/v1")
    assert "planted" not in str(refused.value)
