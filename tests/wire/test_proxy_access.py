"""Who may ask the proxy, for what, where it listens, and what ends with a trial."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.errors import RunError, UsageError
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.roster import AdmittedTrials, Everyone
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream
from tests.wire.proxied_services import BODY, ask, httpx, through


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
    with pytest.raises(UsageError, match="the base URL of the model service"):
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
