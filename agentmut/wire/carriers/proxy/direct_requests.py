"""Model requests written straight to aiohttp's connections, which takes half the time of its session.

The session makes objects for cookies, redirects, credentials, timeouts and streamed bodies, once per request, and needs
a task to write the body. A model request that is passed on has none of these. Connections, TLS, pooling and the reading
of replies are aiohttp's.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import aiohttp
from aiohttp import hdrs
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDictProxy
from yarl import URL

CONNECT_SECONDS = 60.0
LONGEST_FIELD = 64 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
"""The client knows how long it waits for its reply."""
_SWITCHING = 101


class StraightReply:
    """A reply with the parts of an `aiohttp.ClientResponse` that the proxy reads."""

    def __init__(self, connection: Any, head: Any, content: aiohttp.StreamReader) -> None:
        self._connection = connection
        self.status: int = head.code
        self.reason: str | None = head.reason
        self.headers: CIMultiDictProxy[str] = head.headers
        self.content = content
        content.on_eof(connection.release)

    async def __aenter__(self) -> "StraightReply":
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._connection.release()  # closes it if some of the reply is unread


class Straight:
    """Posts bodies to one service over the connections of a session."""

    def __init__(self, session: aiohttp.ClientSession, base: URL) -> None:
        assert session.connector is not None
        self.session = session
        self._connector = session.connector
        # only says where to connect to; it is never sent
        self._place = aiohttp.ClientRequest("POST", base, session=session)
        self._host = self._place.headers[hdrs.HOST]

    async def post(self, path: str, headers: Mapping[str, str], body: bytes) -> StraightReply:
        """Send a body. Raise `aiohttp.ClientError` or `OSError` if the service does not answer.

        The reply's body is not decompressed.
        """
        head = written_head(path, self._host, headers, len(body))
        connection = await self._connector.connect(self._place, traces=[], timeout=TIMEOUT)
        try:
            return await self._exchanged(connection, head, body)
        except BaseException:
            connection.close()
            raise

    async def _exchanged(self, connection: Any, head: bytes, body: bytes) -> StraightReply:
        protocol, transport = connection.protocol, connection.transport
        protocol.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=LONGEST_FIELD,
            max_field_size=LONGEST_FIELD,
        )
        if transport is None or transport.is_closing():
            raise aiohttp.ServerDisconnectedError
        transport.write(head + body)
        try:
            answer, content = await protocol.read()
            # others follow, such as 103 Early Hints
            while 100 <= answer.code < 200 and answer.code != _SWITCHING:
                answer, content = await protocol.read()
            if answer.code == _SWITCHING:
                raise aiohttp.ClientConnectionError(
                    "it changes the protocol (101), which nobody has asked for"
                )
        except HttpProcessingError as error:
            raise aiohttp.ClientResponseError(
                self._place.request_info, (), status=error.code, message=error.message, headers=error.headers
            ) from error
        return StraightReply(connection, answer, content)


def written_head(path: str, host: str, headers: Mapping[str, str], length: int) -> bytes:
    r"""Return the head of a POST request. Raise `ValueError` for a line break in it.

    >>> written_head("/v1/messages", "127.0.0.1:8000", {"x-api-key": "k"}, 2)
    b'POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nx-api-key: k\r\nContent-Length: 2\r\n\r\n'
    """
    lines = [f"POST {path.partition('#')[0]} HTTP/1.1", f"{hdrs.HOST}: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines.append(f"{hdrs.CONTENT_LENGTH}: {length}")
    together = "".join(lines)
    if "\r" in together or "\n" in together:
        raise ValueError("a line break in a header or in the path of a request")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
