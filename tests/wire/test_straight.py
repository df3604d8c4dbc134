"""Model requests are written to aiohttp's connections as its session would write them."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from yarl import URL

from agentmut.wire.carriers.proxy.direct_requests import Straight, written_head
from agentmut.wire.carriers.proxy.upstream import new_session

Test = Callable[..., Coroutine[Any, Any, None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


def in_loop(test: Test) -> Callable[..., None]:
    """Run an async test in an event loop."""

    @functools.wraps(test)
    def run(**values: Any) -> None:
        asyncio.run(test(**values))

    return run


class Service:
    """A service that says the given bytes, and keeps what it is asked and over how many connections."""

    def __init__(self, *said: bytes, closes: bool = False) -> None:
        self.said = said
        self.closes = closes
        self.asked: list[bytes] = []
        self.connections = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            self.asked.append(head + await reader.readexactly(length))
            for piece in self.said:
                writer.write(piece)
                await writer.drain()
            if self.closes:
                writer.close()
                return


@asynccontextmanager
async def straight(service: Service) -> AsyncIterator[Straight]:
    async with await asyncio.start_server(service, "127.0.0.1", 0) as server, new_session() as session:
        port = server.sockets[0].getsockname()[1]
        yield Straight(session, URL(f"http://127.0.0.1:{port}/v1"))


async def asked(way: Straight, body: bytes = b"{}", **headers: str) -> tuple[int, bytes]:
    async with await way.post("/v1/messages", headers, body) as reply:
        return reply.status, await reply.content.read()


@in_loop
async def test_a_request_has_the_bytes_that_the_session_of_aiohttp_writes() -> None:
    service, body = Service(OK), b'{"a": "\xc3\xa4"}'
    headers = {"x-api-key": "k", "content-type": "application/json", "X-Twice": "1"}
    async with straight(service) as way:
        await asked(way, body, **headers)
        url = URL(f"http://{way._host}/v1/messages")
        async with way.session.post(url, headers=headers, data=body) as reply:
            await reply.read()
    assert service.asked[0] == service.asked[1]


@in_loop
async def test_a_connection_is_used_again() -> None:
    service = Service(OK)
    async with straight(service) as way:
        assert [await asked(way), await asked(way)] == [(200, b"{}")] * 2
    assert service.connections == 1


@in_loop
async def test_a_connection_whose_reply_is_left_unread_is_not_used_again() -> None:
    service = Service(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")
    async with straight(service) as way:
        for _ in range(2):
            async with await way.post("/v1/messages", {}, b"{}") as reply:
                assert reply.status == 200
    assert service.connections == 2


@in_loop
async def test_what_is_said_before_the_reply_is_passed_over() -> None:
    service = Service(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", OK)
    async with straight(service) as way:
        assert await asked(way) == (200, b"{}")


@in_loop
async def test_a_reply_may_come_in_chunks_or_end_with_the_connection() -> None:
    chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
    async with straight(Service(chunked)) as way:
        assert await asked(way) == (200, b"{}")
    async with straight(Service(b"HTTP/1.1 200 OK\r\n\r\n{}", closes=True)) as way:
        assert await asked(way) == (200, b"{}")


@pytest.mark.parametrize("said", [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"])
@in_loop
async def test_a_reply_that_is_none_is_an_error_of_the_client(said: bytes) -> None:
    async with straight(Service(said, closes=True)) as way:
        with pytest.raises(aiohttp.ClientError):
            await asked(way)


@pytest.mark.parametrize(("path", "value"), [("/v1", "a\r\nhost: b"), ("/v1\nhost: b", "a"), ("/v1", "a\rb")])
def test_a_line_break_makes_no_further_header(path: str, value: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        written_head(path, "127.0.0.1", {"x-a": value}, 0)
