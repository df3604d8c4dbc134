"""The proxy against clients and services that mean harm: no crash, no hang, nothing sent on, and no end of memory."""

import asyncio
import gzip
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from agentmut.recording.trial import Trial
from agentmut.wire.carriers.compression import (
    LARGEST_PACKED,
    PackingError,
    unpacked,
    unpacked_in_turns,
    unpacker,
)
from agentmut.wire.carriers.proxy import courier
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream
from tests.wire.test_proxy_oddities import BODY, REPLY, between, http

Use = Callable[[int], Awaitable[Any]]
BASE = "/tok/t/t1/v1"
LENGTH = f"Content-Length: {len(BODY)}"
CHUNKED = "Transfer-Encoding: chunked"
CHUNK = b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n"


def attacked(use: Use) -> tuple[Any, Trial, list[bytes]]:
    """Return what `use` gets of a proxy's port, the trial, and the first lines of what reached the service."""
    reached: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        reached.append(head.split(b"\r\n")[0])
        await reader.readexactly(int(re.findall(rb"(?i)content-length: (\d+)", head)[0]))
        writer.write(http("200 OK", "Content-Type: application/json", body=REPLY))
        writer.close()

    async def carry_out() -> tuple[Any, Trial]:
        roster, trial = AdmittedTrials(), Trial("t1")
        async with AsyncExitStack() as stack:
            service = await stack.enter_async_context(await asyncio.start_server(serve, "127.0.0.1", 0))
            port = service.sockets[0].getsockname()[1]
            proxy = Proxy([Upstream(f"http://127.0.0.1:{port}/v1")], roster, token="tok")
            origin = await stack.enter_async_context(proxy.serving())
            with roster.admitted(trial):
                return await use(int(re.findall(r":(\d+)/", origin)[0])), trial

    return (*asyncio.run(carry_out()), reached)


async def told(port: int, request: bytes, *, half_closed: bool = False) -> bytes:
    """Return the first line of the answer; empty where the proxy hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.replace(b"PORT", b"%d" % port))
        if half_closed:
            writer.write_eof()
        return await asyncio.wait_for(reader.readline(), 600)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def post(
    *headers: str, body: bytes = BODY, target: str = f"{BASE}/chat/completions", host: str = ""
) -> bytes:
    lines = [f"POST {target} HTTP/1.1", host or "Host: 127.0.0.1:PORT", "Authorization: Bearer k", *headers]
    return "\r\n".join(lines).encode("latin1") + b"\r\n\r\n" + body


def method(name: str, target: str = f"{BASE}/chat/completions", *headers: str) -> bytes:
    return "\r\n".join((f"{name} {target} HTTP/1.1", "Host: 127.0.0.1:PORT", *headers)).encode() + b"\r\n\r\n"


REFUSED = {
    "another token": (403, post(LENGTH, target="/no/t/t1/v1/chat/completions")),
    "a token with dots": (400, post(LENGTH, target="/tok/../tok/t/t1/v1/chat/completions")),
    "another host": (403, post(LENGTH, host="Host: evil.example")),
    "two hosts": (400, post(LENGTH, "Host: evil.example")),
    "a host with a user": (403, post(LENGTH, host="Host: a@127.0.0.1:PORT")),
    "another origin": (403, post(LENGTH, "Origin: http://evil.example")),
    "a header of a megabyte": (400, post(LENGTH, "X-Big: " + "a" * 1_000_000)),
    "50,000 headers": (400, post(LENGTH, *(f"X-{n}: {n}" for n in range(50_000)))),
    "a long target": (400, post(LENGTH, target="/tok/" + "a" * 200_000)),
    "a length and chunks": (400, post(LENGTH, CHUNKED, body=CHUNK)),
    "a request in a request": (
        400,
        post("Content-Length: 4", CHUNKED, body=b"0\r\n\r\n" + post(LENGTH, target=f"{BASE}/smuggled")),
    ),
    "an unknown transfer": (400, post("Transfer-Encoding: xchunked", body=CHUNK)),
    "chunks and more": (400, post("Transfer-Encoding: chunked, identity", body=CHUNK)),
    "two lengths": (400, post(LENGTH, "Content-Length: 3")),
    "a length below zero": (400, post("Content-Length: -1")),
    "a length of twenty digits": (400, post("Content-Length: 99999999999999999999")),
    "a chunk without a size": (400, post(CHUNKED, body=b"zz\r\nabc\r\n0\r\n\r\n")),
    "a chunk below zero": (400, post(CHUNKED, body=b"-1\r\nabc\r\n0\r\n\r\n")),
    "a chunk of no end": (400, post(CHUNKED, body=b"F" * 18 + b"\r\nabc\r\n0\r\n\r\n")),
    "a chunk that goes on": (400, post(CHUNKED, body=b"3\r\nabcX\r\n0\r\n\r\n")),
    "a folded header": (400, post(LENGTH, "X-A: b\r\n folded")),
    "a space before a colon": (400, post(f"Content-Length : {len(BODY)}")),
    "line breaks without CR": (400, post(LENGTH).replace(b"\r\n", b"\n")),
    "a header in a header": (400, post(LENGTH, "X-A: b\nX-Evil: 1")),
    "an address of its own": (400, post(LENGTH, target=f"http://127.0.0.1:PORT{BASE}/chat/completions")),
    "another address": (400, post(LENGTH, target=f"http://evil.example{BASE}/chat/completions")),
    "two slashes": (400, post(LENGTH, target=f"//evil.example{BASE}/chat/completions")),
    "dots": (400, post(LENGTH, target=f"{BASE}/../../x/chat/completions")),
    "encoded dots": (400, post(LENGTH, target=f"{BASE}/%2e%2e/chat/completions")),
    "a tunnel": (400, method("CONNECT", "127.0.0.1:PORT")),
    "a tunnel elsewhere": (403, b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n"),
    "all options": (400, method("OPTIONS", "*")),
    "a request that would come back": (405, method("TRACE")),
    "an unknown method": (400, method("FOO")),
    "an unknown version": (400, post(LENGTH).replace(b"HTTP/1.1", b"HTTP/9.9")),
    "the second version": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)),
    "a web socket": (
        501,
        method("GET", f"{BASE}/x", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x"),
    ),
}


def test_what_no_client_sends_is_refused_and_reaches_no_service() -> None:
    async def all_of_them(port: int) -> list[bytes]:
        return [await told(port, request) for _, request in REFUSED.values()]

    lines, trial, reached = attacked(all_of_them)
    statuses = [int(line.split()[1]) for line in lines]
    assert dict(zip(REFUSED, statuses, strict=True)) == {
        name: status for name, (status, _) in REFUSED.items()
    }
    assert (reached, trial.recorder.exchanges) == ([], [])


def test_what_is_odd_but_right_passes_once() -> None:
    odd = [
        post(LENGTH),
        post(CHUNKED, body=CHUNK),
        post(CHUNKED, body=b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\nX-Trailer: 1\r\n\r\n"),
        post(LENGTH).replace(b"HTTP/1.1", b"HTTP/1.0"),
        post(LENGTH, "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"),
        post(LENGTH, "Connection: Authorization"),
        post(LENGTH, "X-A: \xff\xfe"),
    ]

    async def all_of_them(port: int) -> list[bytes]:
        return [await told(port, request) for request in odd]

    lines, trial, reached = attacked(all_of_them)
    assert [line.split()[1] for line in lines] == [b"200"] * len(odd)
    assert len(reached) == len(trial.recorder.exchanges) == len(odd)


def test_clients_that_never_finish_hold_nobody_up() -> None:
    async def amid_others(port: int) -> list[bytes]:
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
        for number, (_, writer) in enumerate(slow):
            writer.write(post(LENGTH)[: 20 + number])
        answers = [await told(port, post(LENGTH)), await told(port, b"", half_closed=True)]
        answers.append(await told(port, post(LENGTH, body=BODY[:9]), half_closed=True))
        for _, writer in slow:
            writer.close()
        return [*answers, await told(port, post(LENGTH))]

    first, empty, cut, last = attacked(amid_others)[0]
    assert (first.split()[1], empty, cut, last.split()[1]) == (b"200", b"", b"", b"200")


def test_requests_in_one_piece_are_answered_in_their_order() -> None:
    async def three(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        one = post(LENGTH).replace(b"PORT", b"%d" % port)
        writer.write(one + one + one.replace(b"\r\nHost", b"\r\nConnection: close\r\nHost"))
        answers = await asyncio.wait_for(reader.read(), 600)
        writer.close()
        return answers

    answers, trial, reached = attacked(three)
    assert answers.count(b"HTTP/1.1 200 OK") == answers.count(REPLY) == 3
    assert len(reached) == len(trial.recorder.exchanges) == 3


BOMB = gzip.compress(bytes(2**22))
STREAM = "Content-Type: text/event-stream"


def chunks(*headers: str, body: bytes) -> bytes:
    head = "\r\n".join(("HTTP/1.1 200 OK", CHUNKED, "Connection: close", *headers)).encode()
    return head + b"\r\n\r\n%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        http("200 OK", "Content-Type: application/json", "Content-Encoding: gzip", body=BOMB),
        http("200 OK", "Content-Type: application/json", body=bytes(2**22)),
        chunks("Content-Type: application/json", body=bytes(2**22)),
        chunks(STREAM, "Content-Encoding: gzip", body=BOMB),
        chunks(STREAM, body=bytes(2**22)),
    ],
    ids=["packed", "whole", "chunks", "packed stream", "stream"],
)
def test_a_reply_is_read_up_to_a_limit(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courier, "LARGEST_REPLY", 2**20)

    async def ask(client: Any, base: str) -> bytes:
        try:
            reply = await client.post(f"{base}/chat/completions", content=BODY)
        except Exception as error:  # a stream breaks off
            return repr(error).encode()
        assert reply.status_code == 502
        return bytes(reply.content)

    trial, said, _ = between(ask, answer)
    (exchange,) = trial.recorder.exchanges
    assert "its reply is more than 1 MiB" in str(exchange.error)
    assert b"more than 1 MiB" in said or b"RemoteProtocolError" in said or b"ReadError" in said


def test_no_more_is_unpacked_than_may_be_read() -> None:
    unpack = unpacker("gzip", 1000)
    packed = gzip.compress(bytes(1001))
    with pytest.raises(PackingError):
        unpack(packed)
    assert unpacker("gzip", 1001)(packed) == bytes(1001)


def test_a_service_that_changes_the_protocol_has_failed() -> None:
    async def ask(client: Any, base: str) -> int:
        return int((await client.post(f"{base}/chat/completions", content=BODY)).status_code)

    switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    trial, status, _ = between(ask, switching)
    assert status == 502
    assert "it changes the protocol (101)" in str(trial.recorder.exchanges[0].error)


def test_a_client_that_half_closes_gets_its_reply() -> None:
    """It looks like one that hangs up until it does not answer a byte by a reset; see `test_proxy.py` for the other."""

    async def ask(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(post(LENGTH).replace(b"PORT", b"%d" % port))
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), 600)  # to its end: the proxy closes the connection
        writer.close()
        return answer

    answer, trial, reached = attacked(ask)
    assert answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n").startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(REPLY)
    assert len(reached) == len(trial.recorder.exchanges) == 1


def test_a_client_that_half_closes_after_three_requests_gets_three_replies() -> None:
    async def ask(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(3 * post(LENGTH).replace(b"PORT", b"%d" % port))
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), 600)  # to its end: the proxy closes the connection
        writer.close()
        return answer

    answer, trial, reached = attacked(ask)
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == answer.count(REPLY) == 3
    assert len(reached) == len(trial.recorder.exchanges) == 3


def test_an_unreadable_request_is_not_quoted_to_whoever_sent_it() -> None:
    async def ask(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(post(LENGTH, "Authorization : Bearer sk-quoted").replace(b"PORT", b"%d" % port))
        answer = await asyncio.wait_for(reader.read(), 600)
        writer.close()
        return answer

    answer, _, _ = attacked(ask)
    assert answer.split()[1] == b"400" and b"no HTTP request that can be read" in answer
    assert b"sk-quoted" not in answer and b"Bearer" not in answer


def test_others_have_their_turns_while_a_request_is_unpacked() -> None:
    async def turns() -> tuple[int, bytes]:
        counted = 0

        async def others() -> None:
            nonlocal counted
            while True:
                counted += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(others())
        await asyncio.sleep(0)
        plain = await unpacked_in_turns(gzip.compress(bytes(2**23)))
        beside.cancel()
        return counted, plain

    counted, plain = asyncio.run(turns())
    assert plain == bytes(2**23)
    assert counted > 2**23 // 2**20  # a turn a megabyte


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (gzip.compress(b"{}", mtime=0)[:-1], "breaks off"),
        (gzip.compress(b"{}", mtime=0) + b"x", "goes on behind"),
        (gzip.compress(b"{}", mtime=0) + bytes(2**17), "goes on behind"),
        (gzip.compress(b"{}", mtime=0)[:12] + b"xxxxxxxx", "but is not"),
        (gzip.compress(bytes(LARGEST_PACKED + 1), mtime=0), "more than 64 MiB"),
    ],
)
def test_what_is_no_whole_gzip_or_too_large_is_not_sent_on(body: bytes, said: str) -> None:
    """Half a gzip, unpacked, would be half a request in the place of one that the service refuses."""
    with pytest.raises(PackingError, match=said):
        unpacked(body)


def test_a_bomb_is_refused_and_reaches_no_service() -> None:
    packed = gzip.compress(bytes(LARGEST_PACKED + 1))
    bomb = post(f"Content-Length: {len(packed)}", "Content-Encoding: gzip", body=packed)
    line, trial, reached = attacked(lambda port: told(port, bomb))
    assert line.split()[1] == b"415"
    assert (reached, trial.recorder.exchanges) == ([], [])
