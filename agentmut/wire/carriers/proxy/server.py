"""The proxy as a server on this machine."""

import errno
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import hdrs, web

from agentmut._base import RunError
from agentmut.nouns import Codec
from agentmut.recording import TRIAL_HEADER, trial_and_path
from agentmut.wire.carriers.passage import Watch
from agentmut.wire.carriers.proxy.courier import Courier, ProxiedCall
from agentmut.wire.carriers.proxy.direct_requests import LONGEST_FIELD
from agentmut.wire.carriers.proxy.http_server import HttpServer
from agentmut.wire.carriers.proxy.refusal import RefusalError, refused
from agentmut.wire.carriers.proxy.roster import Roster
from agentmut.wire.carriers.proxy.security import (
    behind_token,
    check_bind,
    check_host,
    check_origin,
    check_target,
)
from agentmut.wire.carriers.proxy.server_log import server_log
from agentmut.wire.carriers.proxy.upstream import Upstream, destination, new_session
from agentmut.wire.carriers.throttle import Throttle
from agentmut.wire.codecs import all_codecs


class Proxy:
    """Passes requests of trials on to a service; see `serving`.

    With a `token`, requests are refused whose path does not begin with it; the URL that `serving` yields has it.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        roster: Roster,
        *,
        codecs: tuple[Codec, ...] | None = None,
        throttle: Throttle | None = None,
        allow_remote: bool = False,
        watch: Watch | None = None,
        token: str = "",
    ) -> None:
        self._upstreams = upstreams
        self._roster = roster
        self._codecs = all_codecs() if codecs is None else codecs
        self._courier = Courier(self._codecs, throttle, watch)
        self._allow_remote = allow_remote
        self._token = token
        self._port = 0
        self._origin = ""

    @asynccontextmanager
    async def serving(
        self, host: str = "127.0.0.1", port: int = 0, patience: float = 0.5
    ) -> AsyncIterator[str]:
        """Serve while the context is open; yield the URL that stands for the upstream's host.

        At the end requests under way have `patience` seconds. Raises `UsageError` for a host that other machines can
        reach, unless they are allowed, and `RunError` when the port cannot be had.
        """
        check_bind(host, allow_remote=self._allow_remote)
        server = HttpServer(
            self._handle,
            handler_cancellation=True,  # a client that hangs up ends its request to the upstream
            access_log=None,
            logger=server_log("agentmut.proxy"),
            auto_decompress=False,
            max_line_size=LONGEST_FIELD,
            max_field_size=LONGEST_FIELD,
        )
        runner = web.ServerRunner(server, shutdown_timeout=patience)
        await runner.setup()
        async with new_session() as session:
            self._courier.session = session
            try:
                await _start(web.TCPSite(runner, host, port, backlog=1024), host, port)
                self._port = runner.addresses[0][1]
                shown = f"[{host}]" if ":" in host else host
                self._origin = f"http://{shown}:{self._port}{f'/{self._token}' if self._token else ''}"
                yield self._origin
            finally:
                await runner.cleanup()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        path = http.raw_path
        try:
            asked = self._proxied_call(http)
            path = asked.path
            await say_continue(http)
            with self._roster.attending(asked.trial):
                return await self._courier.carry(http, asked)
        except RefusalError as refusal:
            return refused(refusal, path)

    def _proxied_call(self, http: web.BaseRequest) -> ProxiedCall:
        if not self._allow_remote:
            check_host(http.headers, self._port)
            check_origin(http.headers)
        check_target(http.raw_path)
        if http.method in (hdrs.METH_TRACE, hdrs.METH_CONNECT):  # a TRACE would send keys back
            raise RefusalError(405, "no_method", f"{http.method} requests are not passed on")
        if "websocket" in http.headers.get(hdrs.UPGRADE, "").lower():  # others (h2c) may be left unheard
            raise RefusalError(
                501, "no_upgrade", "connections that change their protocol (WebSocket) are not passed on"
            )
        name, path = trial_and_path(behind_token(http.raw_path, self._token))
        told = http.headers.get(TRIAL_HEADER)
        trial = self._roster.trial(name or told)
        if name and told and told not in (name, trial.id):
            raise RefusalError(
                400, "which_trial", f"the path names trial {name}, the header {TRIAL_HEADER} names {told}"
            )
        upstream, path = destination(self._upstreams, self._codecs, http.method, path, self._origin)
        return ProxiedCall(trial, path, upstream)


async def say_continue(http: web.BaseRequest) -> None:
    """Answer "100 Continue" to clients (curl) that send a large body only then."""
    if http.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
        await http.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        http.writer.output_size = 0  # the reply is yet to come


async def _start(site: web.TCPSite, host: str, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "another program uses it" if taken else (error.strerror or str(error))
        raise RunError(f"the proxy cannot listen on {host}:{port}: {why}. Choose another port.") from error
