"""Requests and replies through the loopback proxy, between real clients and a service on loopback."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from agentmut.recording.trial import Trial
from tests.wire.proxied_services import BODY, ask, httpx, through

STREAMED = {**BODY, "stream": True}


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
