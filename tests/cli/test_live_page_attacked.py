"""The live page against programs and web pages that do not know its token: nothing of theirs stops a run."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from agentmut.cli.live_server import LiveServer
from agentmut.cli.page_server import MOST_CONNECTIONS


class Page(NamedTuple):
    token: bytes
    port: int
    stops: list[str]

    @property
    def host(self) -> bytes:
        return b"Host: 127.0.0.1:%d\r\nConnection: close\r\n" % self.port

    def answer(self, request: bytes) -> bytes:
        """Return the first bytes of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as connection:
            connection.sendall(request)
            return connection.recv(200)


@pytest.fixture
def page() -> Iterator[Page]:
    stops: list[str] = []
    with LiveServer("the page", lambda: stops.append("stop")) as server:
        server.show({"stoppable": True, "ended": False})
        parts = urlsplit(server.address)
        yield Page(parts.path.strip("/").encode(), parts.port or 0, stops)


TARGETS = {
    "no token": b"/stop",
    "an empty token": b"//stop",
    "a wrong end": b"/%(cut)sx/stop",
    "another case": b"/%(swapped)s/stop",
    "in the query": b"/stop?token=%(token)s",
    "after another folder": b"/x/%(token)s/stop",
    "behind dots": b"/x/../%(token)s/stop",
    "behind encoded dots": b"/%%2e%%2e/%(token)s/stop",
    "encoded twice": b"/%(twice)s/stop",
    "with a zero byte": b"/%(token)s%%00/stop",
    "with a space": b"/%(token)s%%20/stop",
    "of no UTF-8": b"/%%ff%%fe/stop",
    "a lone surrogate": b"/%%ed%%a0%%80/stop",
    "another route": b"/%(token)s/../stop",
    "a file": b"/%(token)s/../../../etc/passwd",
    "an encoded file": b"/%(token)s/..%%2f..%%2fetc%%2fpasswd",
    "no path": b"*",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_no_target_without_the_token_stops_a_run(page: Page, target: bytes) -> None:
    twice = b"".join(b"%%25%02x" % letter for letter in page.token)
    words = {
        b"token": page.token,
        b"cut": page.token[:-1],
        b"swapped": page.token.swapcase(),
        b"twice": twice,
    }
    for version in (b"1.1", b"1.0"):
        answer = page.answer(b"POST " + target % words + b" HTTP/" + version + b"\r\n" + page.host + b"\r\n")
        assert answer.split()[1] in (b"400", b"403", b"404"), answer
    assert not page.stops


HEADERS = {
    "a name that was rebound": b"Host: evil.example:%d\r\n",
    "a name that begins as this machine's": b"Host: 127.0.0.1.evil.example:%d\r\n",
    "a name below localhost": b"Host: evil.localhost:%d\r\n",
    "any address": b"Host: 0.0.0.0:%d\r\n",
    "a user before the host": b"Host: evil@127.0.0.1:%d\r\n",
    "two hosts": b"Host: 127.0.0.1:%d\r\nHost: evil.example\r\n",
    "another port": b"Host: 127.0.0.1:1\r\n",
    "an unreadable host": b"Host: [::1\r\n",
    "no host": b"",
    "a form of another site": b"Host: 127.0.0.1:%d\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\n",
    "a form without an origin": b"Host: 127.0.0.1:%d\r\nOrigin: null\r\n",
    "two origins": b"Host: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1\r\nOrigin: https://evil.example\r\n",
    "an unreadable origin": b"Host: 127.0.0.1:%d\r\nOrigin: http://[::1\r\n",
    "another site": b"Host: 127.0.0.1:%d\r\nSec-Fetch-Site: cross-site\r\n",
}


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_not_even_with_the_token_may_another_site_stop_a_run(page: Page, headers: bytes) -> None:
    headers = headers % page.port if b"%d" in headers else headers
    for version in (b"1.1", b"1.0"):
        answer = page.answer(b"POST /" + page.token + b"/stop HTTP/" + version + b"\r\n" + headers + b"\r\n")
        assert answer.split()[1] in (b"400", b"403"), answer
    assert not page.stops


@pytest.mark.parametrize(
    "method",
    [b"GET", b"HEAD", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT", b"BREW", b"post"],
)
def test_only_a_post_stops_a_run(page: Page, method: bytes) -> None:
    override = b"X-HTTP-Method-Override: POST\r\nUpgrade: websocket\r\n"
    answer = page.answer(method + b" /" + page.token + b"/stop HTTP/1.1\r\n" + page.host + override + b"\r\n")
    assert answer.split()[1] in (b"400", b"403", b"404"), answer
    assert not page.stops


def test_requests_in_one_packet_or_smuggled_in_a_body_each_need_the_token(page: Page) -> None:
    host = b"Host: 127.0.0.1:%d\r\n" % page.port
    bare = b"POST /stop HTTP/1.1\r\n" + host + b"\r\n"
    page.answer(20 * bare)
    page.answer(b"POST /x HTTP/1.1\r\n" + host + b"Content-Length: %d\r\n\r\n" % len(bare) + bare)
    chunked = b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
    page.answer(b"POST /x HTTP/1.1\r\n" + host + chunked + bare)
    page.answer(b"POST /" + page.token[:5] + b"\r\n" + page.token[5:] + b"/stop HTTP/1.1\r\n" + page.host)
    assert not page.stops


def test_the_address_itself_stops_a_run_in_every_spelling_that_is_the_same_path(page: Page) -> None:
    encoded = b"".join(b"%%%02x" % letter for letter in page.token)
    for number, token in enumerate((page.token, encoded), 1):
        assert (
            page.answer(b"POST /" + token + b"/stop HTTP/1.1\r\n" + page.host + b"\r\n").split()[1] == b"204"
        )
        assert len(page.stops) == number


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_a_giant_body_and_endless_headers_take_no_memory(page: Page) -> None:
    head = b"POST /stop HTTP/1.1\r\n" + page.host
    before = resident_bytes()
    for first, piece in (
        (head + b"Content-Length: 99999999999\r\n\r\n", b"x" * 1_000_000),
        (head, b"X: a\r\n" * 100_000),
        (head + b"X: ", b"x" * 1_000_000),
    ):
        with socket.create_connection(("127.0.0.1", page.port), timeout=600) as connection:
            connection.sendall(first)
            try:
                for _ in range(300):
                    connection.sendall(piece)
            except ConnectionError:
                pass  # the server may hang up, and need not
    assert resident_bytes() - before < 50_000_000
    assert not page.stops


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="handles are counted in /proc")
def test_connections_without_a_request_take_few_handles_and_the_page_still_answers(page: Page) -> None:
    """The campaign has as many handles as its process, and needs them for its store and its agents."""
    number = 3 * MOST_CONNECTIONS
    with ExitStack() as kept:
        before = handles()
        for _ in range(number):
            kept.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=600))
        slow = kept.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=600))
        slow.sendall(b"POST /stop HTTP/1.1\r\n" + page.host + b"Content-Length: 1000\r\n\r\na")
        state = b"GET /" + page.token + b"/state HTTP/1.1\r\n" + page.host + b"\r\n"
        assert page.answer(state).split()[1] == b"200"
        assert handles() - before - number <= MOST_CONNECTIONS + 10
    assert not page.stops
