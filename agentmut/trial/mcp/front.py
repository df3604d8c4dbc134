"""A front for tool servers that speak HTTP: each tool server has its own path under agentmut's address.

`.../t/TRIAL/mcp/http://127.0.0.1:8000/mcp` is the server at the address behind `/mcp/`, for that trial.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import quote

import aiohttp
from aiohttp import hdrs, web

from agentmut._base import UsageError
from agentmut.mcp_proxy import URL_VARIABLE, VARIABLE
from agentmut.recording import TRIAL_PREFIX, trial_and_path
from agentmut.trial.mcp.carrying import Carrying
from agentmut.trial.mcp.events import Sessions
from agentmut.trial.mcp.http_requests import ProxiedRequest
from agentmut.trial.mcp.middleman import Socket, open_socket
from agentmut.wire import (
    LONGEST_FIELD,
    TROUBLE,
    HttpServer,
    RefusalError,
    Roster,
    Upstream,
    behind_token,
    check_host,
    check_origin,
    new_session,
    new_token,
    server_log,
    without_url_secrets,
)

DOOR = "/mcp/"
LARGEST_REQUEST = 64 * 2**20
_TARGET = re.compile(r"(https?):/{1,2}([^/?]+)(.*)", re.S | re.I)
"""Some clients make one slash of two."""


class Front:
    """Takes requests for the trials of a roster."""

    def __init__(self, roster: Roster, session: aiohttp.ClientSession) -> None:
        self._roster = roster
        self._session = session
        self._sessions = Sessions()
        self.port = 0
        self.token = new_token()

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on, or return why it is refused."""
        try:
            asked = self._proxied_request(http)
            with self._roster.attending(asked.trial):
                body = await _body(http)
                return await Carrying(asked, self._session, self._sessions, self._roster.attending).answer(
                    body
                )
        except RefusalError as refusal:
            return web.json_response({"error": f"agentmut: {refusal}"}, status=refusal.status)
        except TROUBLE as error:
            said = f"agentmut: the tool server did not answer: {without_url_secrets(error)}"
            return web.json_response({"error": said}, status=502)

    def _proxied_request(self, http: web.BaseRequest) -> ProxiedRequest:
        check_host(http.headers, self.port)
        check_origin(http.headers)
        name, path = trial_and_path(behind_token(http.raw_path, self.token))
        target = _TARGET.fullmatch(path.removeprefix(DOOR)) if path.startswith(DOOR) else None
        if name is None or target is None:
            raise RefusalError(404, "no_such_path", f"the path has to be /t/TRIAL{DOOR}ADDRESS-OF-THE-SERVER")
        trial = self._roster.trial(name)
        try:
            upstream = Upstream(f"{target[1].lower()}://{target[2]}")
        except UsageError as error:
            raise RefusalError(400, "no_address", str(error)) from None
        prefix = f"http://{http.headers[hdrs.HOST]}{http.raw_path[: -len(path)]}{DOOR}"
        return ProxiedRequest(http, trial, upstream, target[3] or "/", prefix)


@asynccontextmanager
async def open_front(roster: Roster) -> AsyncIterator[str]:
    """Serve while the context is open, for this machine only; yields the address."""
    async with new_session() as session:
        front = Front(roster, session)
        server = HttpServer(
            front.handle,
            handler_cancellation=True,
            access_log=None,
            logger=server_log("agentmut.tool_servers"),
            max_line_size=LONGEST_FIELD,
            max_field_size=LONGEST_FIELD,
        )
        runner = web.ServerRunner(server, shutdown_timeout=0.5)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            front.port = runner.addresses[0][1]
            yield f"http://127.0.0.1:{front.port}/{front.token}"
        finally:
            await runner.cleanup()


async def _body(http: web.BaseRequest) -> bytes:
    pieces, size = [], 0
    async for piece in http.content.iter_any():
        size += len(piece)
        if size > LARGEST_REQUEST:
            raise RefusalError(413, "too_large", f"a message may have {LARGEST_REQUEST >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


class ToolDoors(NamedTuple):
    """The addresses at which agentmut passes messages between agents and their tool servers."""

    front: str
    socket: Socket

    def variables(self, trial: str) -> dict[str, str]:
        """Return the environment variables that lead a program's tool calls through agentmut, for one trial."""
        return {
            URL_VARIABLE: f"{self.front}{TRIAL_PREFIX}{quote(trial, safe='')}{DOOR}",
            VARIABLE: f"{self.socket.host}:{self.socket.port}/{trial}",
        }


@asynccontextmanager
async def open_tool_doors(roster: Roster) -> AsyncIterator[ToolDoors]:
    """Serve the trials of a roster while the context is open."""
    async with open_front(roster) as front, open_socket(roster) as socket:
        yield ToolDoors(front, socket)
