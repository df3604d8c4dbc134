"""The server of the pages against requests that mean harm."""

import asyncio

import pytest
from aiohttp import web

from agentmut.cli.page_server import html, listen


def answered(request: bytes) -> bytes:
    """Return what a server of pages answers to the request of a client that sends no more."""

    async def answer(_: web.BaseRequest) -> web.Response:
        return html("the page")

    async def ask() -> bytes:
        listening = await listen(answer)
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", listening.port)
            writer.write(request)
            writer.write_eof()
            found = await asyncio.wait_for(reader.read(), 600)
            writer.close()
            return found
        finally:
            await listening.runner.cleanup()

    return asyncio.run(ask())


GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def test_a_body_that_cannot_be_unpacked_is_no_fault_that_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    packed = b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
    assert answered(GET.replace(b"GET", b"POST") + packed).endswith(b"the page")
    assert capfd.readouterr().err == ""


def test_a_client_that_half_closes_gets_a_page_for_each_of_its_requests() -> None:
    assert answered(5 * (GET + b"\r\n")).count(b"the page") == 5
