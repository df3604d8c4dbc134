"""An HTTPS proxy for programs that hard-code the address of a model service: it answers in the service's name.

A program is led here by `HTTPS_PROXY`, whose user is the trial and whose password the token. Connections to the
services end here, with a certificate of the run's authority, and their requests are carried like those of the other
proxies. What is sent to other hosts passes as it is, encrypted.
"""

import asyncio
import base64
import binascii
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from aiohttp import hdrs, web

from agentmut._base import UsageError
from agentmut.wire.carriers.proxy.authority import Authority, open_authority
from agentmut.wire.carriers.proxy.courier import Courier, ProxiedCall
from agentmut.wire.carriers.proxy.direct_requests import LONGEST_FIELD
from agentmut.wire.carriers.proxy.http_server import HttpServer
from agentmut.wire.carriers.proxy.refusal import RefusalError, refused
from agentmut.wire.carriers.proxy.roster import Roster
from agentmut.wire.carriers.proxy.security import check_target, new_token
from agentmut.wire.carriers.proxy.server import say_continue
from agentmut.wire.carriers.proxy.server_log import server_log
from agentmut.wire.carriers.proxy.upstream import PROXY_VARIABLES, Door, Upstream, new_session

HTTPS = 443
HANDSHAKE_SECONDS = 10.0
PIECE = 64 * 1024
"""Bytes that are read at once from what passes encrypted."""
PROXY_ADDRESS_VARIABLES = ("HTTPS_PROXY", "https_proxy")


class Target(NamedTuple):
    """The upstream that gets the requests to a host."""

    upstream: Upstream
    before: str = ""
    """What paths of the host begin with that the upstream's path stands for."""

    def path(self, asked: str) -> str:
        """Return the path at the upstream. Raise `RefusalError` if the upstream does not serve it."""
        beyond = asked.removeprefix(self.before)
        inside = asked.startswith(self.before) and (not beyond or beyond[0] in "/?" or not self.before)
        path = self.upstream.path + beyond if inside else asked
        if not self.upstream.serves(path):
            raise RefusalError(404, "no_such_path", f"only paths below {self.before or '/'} are passed on")
        return path


def targets(doors: Sequence[Door], hosts: Sequence[str] = ()) -> dict[str, Target]:
    """Return the targets by `host:port`: the doors' services, and other `hosts` unchanged.

    Raises `UsageError` for what is no host.
    """
    by_place: dict[str, Target] = {}
    for door in doors:
        base, usual = str(door.upstream.base), door.service.default
        if base.startswith("https://"):
            by_place[_place(base)] = Target(Upstream(base.removesuffix(urlsplit(base).path)))
        if usual is not None and usual.startswith("https://") and _place(usual) not in by_place:
            by_place[_place(usual)] = Target(door.upstream, urlsplit(usual).path)
    for host in hosts:
        place = _place_of_host(host)
        by_place[place] = Target(Upstream(f"https://{place}"))
    return by_place


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or HTTPS}"


def _place_of_host(host: str) -> str:
    try:
        parts = urlsplit(f"//{host}")
        if parts.hostname and not (parts.path or parts.query or parts.fragment or parts.username):
            return _place(f"https://{host}")
    except ValueError:  # a port that is none
        pass
    raise UsageError(f"intercept: {host!r} is no host, such as llm.example.com or 10.0.0.7:8443")


class Interception:
    """An open proxy of that kind; see `open_interception`."""

    def __init__(
        self, found: Mapping[str, Target], roster: Roster, courier: Courier, authority: Authority
    ) -> None:
        self._targets = found
        self._roster = roster
        self._courier = courier
        self._authority = authority
        self._token = new_token()
        self.port = 0

    def variables(self, name: str) -> dict[str, str]:
        """Return the environment variables that lead a trial's program here and make it trust the certificates."""
        address = f"http://{quote(name, safe='')}:{self._token}@127.0.0.1:{self.port}"
        led = dict.fromkeys(PROXY_ADDRESS_VARIABLES, address)
        return {**led, "NODE_USE_ENV_PROXY": "1", **self._authority.variables}

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection: `CONNECT host:port`, and then the requests to that host."""
        try:
            place, name = self._admitted(await reader.readuntil(b"\r\n\r\n"))
            if target := self._targets.get(place):
                await self._answer(writer, target, place, name)
            else:
                await _pass_through(reader, writer, place)
        except _UnwantedError as unwanted:
            writer.write(unwanted.reply)
        except (OSError, EOFError, asyncio.LimitOverrunError):  # hung up
            pass
        finally:
            with suppress(OSError, RuntimeError):
                await writer.drain()

    def _admitted(self, head: bytes) -> tuple[str, str]:
        """Return the place that is asked for, and the trial's name. Raises `_UnwantedError`."""
        first, *fields = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or words[0] != "CONNECT":
            raise _UnwantedError("405 Method Not Allowed", "this proxy takes CONNECT alone (HTTPS_PROXY)")
        pairs = (field.partition(":") for field in fields)
        told = next((value.strip() for key, _, value in pairs if key.lower() == "proxy-authorization"), "")
        name, token = _credentials(told)
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            raise _UnwantedError(
                "407 Proxy Authentication Required",
                "the user and password of HTTPS_PROXY are missing or wrong",
                'Proxy-Authenticate: Basic realm="agentmut"\r\n',
            )
        host, _, port = words[1].rpartition(":")
        if not host or not port.isascii() or not port.isdigit():
            raise _UnwantedError("400 Bad Request", "CONNECT has to name a host and a port")
        return f"{host.lower()}:{port}", name

    async def _answer(self, writer: asyncio.StreamWriter, target: Target, place: str, name: str) -> None:
        """Speak HTTP in the host's name until the program closes the connection."""
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        served = _OpenedConnection()
        try:
            transport: Any = await asyncio.get_running_loop().start_tls(
                writer.transport,
                served,
                self._authority.context(place.rpartition(":")[0]),
                server_side=True,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
            )
        except (ssl.SSLError, ConnectionError):
            self._refused(place, name)
            raise
        server = HttpServer(
            self._handler(target, name),
            handler_cancellation=True,
            access_log=None,
            logger=server_log("agentmut.interception"),
            auto_decompress=False,
            max_line_size=LONGEST_FIELD,
            max_field_size=LONGEST_FIELD,
        )
        try:
            served.serve(server(), transport)
            await served.ended
        finally:
            await server.shutdown(0.5)
            transport.close()

    def _refused(self, place: str, name: str) -> None:
        with suppress(RefusalError):
            self._roster.trial(name).recorder.unread[
                f"the program refused agentmut's certificate for {place}: let it trust the file that SSL_CERT_FILE "
                "names, and not a certificate of its own"
            ] = None

    def _handler(self, target: Target, name: str) -> Callable[[web.BaseRequest], Any]:
        async def handle(http: web.BaseRequest) -> web.StreamResponse:
            try:
                check_target(http.raw_path)
                if "websocket" in http.headers.get(hdrs.UPGRADE, "").lower():
                    raise RefusalError(501, "no_upgrade", "WebSocket connections are not passed on")
                trial = self._roster.trial(name)
                asked = ProxiedCall(trial, target.path(http.raw_path), target.upstream)
                await say_continue(http)
                with self._roster.attending(trial):
                    return await self._courier.carry(http, asked)
            except RefusalError as refusal:
                return refused(refusal, http.raw_path)

        return handle


class _OpenedConnection(asyncio.Protocol):
    """A connection after its TLS handshake: it keeps early bytes until there is a handler."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._handler: Any = None
        self._held = bytearray()

    def serve(self, handler: asyncio.Protocol, transport: asyncio.Transport) -> None:
        """Connect the handler, beginning with the first byte of the connection."""
        self._handler = handler
        handler.connection_made(transport)
        if self._held:
            handler.data_received(bytes(self._held))

    def data_received(self, data: bytes) -> None:
        """Give bytes to the handler, or keep them until there is one."""
        if self._handler is None:
            self._held += data
        else:
            self._handler.data_received(data)

    def eof_received(self) -> None:
        """Tell the handler, if there is one, that the other side sends no more."""
        if self._handler is not None:
            self._handler.eof_received()

    def pause_writing(self) -> None:
        """Tell the handler to write no more for now."""
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Tell the handler to write again."""
        self._handler.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the handler, if there is one, and mark the connection as ended."""
        if self._handler is not None:
            self._handler.connection_lost(exc)
        if not self.ended.done():
            self.ended.set_result(None)


class _UnwantedError(Exception):
    def __init__(self, status: str, text: str, headers: str = "") -> None:
        super().__init__(text)
        body = f"agentmut: {text}\n".encode()
        head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.reply = head.encode() + body


def _credentials(text: str) -> tuple[str, str]:
    scheme, _, packed = text.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        user, _, password = base64.b64decode(packed, validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        return "", ""
    return unquote(user), password


async def _pass_through(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: str) -> None:
    """Carry bytes between the program and a host that is no model service."""
    host, _, port = place.rpartition(":")
    try:
        there, back = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, OverflowError) as error:
        raise _UnwantedError("502 Bad Gateway", f"{place} cannot be reached: {error}") from error
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    try:
        await asyncio.gather(_pump(reader, back), _pump(there, writer))
    finally:
        back.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while piece := await source.read(PIECE):
        sink.write(piece)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


@asynccontextmanager
async def open_interception(
    environment: Mapping[str, str], found: Mapping[str, Target], roster: Roster, courier: Courier
) -> AsyncIterator[Interception]:
    """Serve while the context is open. Raise `UsageError` behind another proxy, or without trustme."""
    outer = [name for name in environment if name.upper() in PROXY_VARIABLES and environment[name]]
    if outer:
        raise UsageError(
            f"interception stands in the place of the proxy that {outer[0]} names, and cannot be used behind it. "
            f"Unset {outer[0]}, or leave `intercept` out."
        )
    with open_authority(environment) as authority:
        interception = Interception(found, roster, courier, authority)
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await interception.connected(reader, writer)
            except asyncio.CancelledError:
                pass
            finally:
                tasks.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=LONGEST_FIELD)
        interception.port = server.sockets[0].getsockname()[1]
        try:
            async with new_session() as courier.session:
                yield interception
        finally:
            server.close()
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
