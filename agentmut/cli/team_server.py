"""Serves the pages of projects: to whoever knows the token in the address, or whom a reverse proxy names."""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from agentmut._base import AgentmutError, UsageError
from agentmut.cli.page_server import Listening, html, listen, refused
from agentmut.cli.team_site import Site
from agentmut.wire import RefusalError, behind_token, check_host, is_loopback

if TYPE_CHECKING:
    from aiohttp import web

SHORTEST_TOKEN = 16
"""Characters of a token that a user gives."""


class Door(NamedTuple):
    """Who is let in."""

    host: str
    token: str
    """Stands at the head of every path; empty where a reverse proxy says who asks."""
    user_header: str = ""
    """The header in which a reverse proxy names the user."""


def check_door(door: Door, *, allow_remote: bool) -> None:
    """Raise `UsageError` for a door that would let anybody in."""
    if not is_loopback(door.host):
        if door.user_header:
            raise UsageError(
                f"--user-header {door.user_header}: whoever reaches {door.host} could set that header. Serve on "
                "127.0.0.1, and let the reverse proxy on this machine pass requests on."
            )
        if not allow_remote:
            raise UsageError(
                f"--host {door.host}: other machines can reach it, and the pages show prompts and answers. Add "
                "--allow-remote to let them in, or put a reverse proxy with TLS in front of 127.0.0.1."
            )
    if not door.user_header and len(door.token) < SHORTEST_TOKEN:
        raise UsageError(
            f"AGENTMUT_SERVE_TOKEN has {len(door.token)} characters: a token that nobody guesses has at least "
            f"{SHORTEST_TOKEN}. Set a longer token, or unset the variable to have one made."
        )
    if not all(letter.isalnum() or letter in "-_" for letter in door.token):
        raise UsageError("AGENTMUT_SERVE_TOKEN is a part of an address: use only letters, digits, - and _.")


class TeamServer:
    """Answers GET and HEAD, and changes nothing."""

    def __init__(self, site: Site, door: Door) -> None:
        self._site = site
        self._door = door
        self._port = 0
        self._reading = asyncio.Lock()

    async def start(self, port: int) -> Listening:
        """Listen, on any free port if it is 0. Raises `UsageError` for a port that is taken."""
        try:
            listening = await listen(self.answer, self._door.host, port)
        except OSError as error:
            why = error.strerror or error
            raise UsageError(
                f"cannot listen on {self._door.host}, port {port}: {why}. Give another --port, or 0 for any."
            ) from None
        self._port = listening.port
        return listening

    @property
    def address(self) -> str:
        """Return the address of the first page."""
        host = f"[{self._door.host}]" if ":" in self._door.host else self._door.host
        token = f"{self._door.token}/" if self._door.token else ""
        return f"http://{host}:{self._port}/{token}"

    async def answer(self, request: "web.BaseRequest") -> "web.Response":
        """Answer one request."""
        if request.method not in ("GET", "HEAD"):
            return refused(405, "these pages are read-only")
        try:
            path, user = self._let_in(request)
        except RefusalError as refusal:
            return refused(refusal.status, str(refusal))
        try:
            async with self._reading:
                page = await asyncio.to_thread(self._site.page, path, user)
        except AgentmutError as error:
            return refused(500, str(error))
        return refused(404, "there is no such page") if page is None else html(page)

    def _let_in(self, request: "web.BaseRequest") -> tuple[str, str]:
        """Return the path that is asked for, and by whom. Raises `RefusalError`."""
        if is_loopback(self._door.host):  # else the address has names that only its users know
            check_host(request.headers, self._port)
        if not self._door.user_header:
            return behind_token(request.path, self._door.token).lstrip("/"), ""
        users = request.headers.getall(self._door.user_header, [])
        if len(users) != 1 or not users[0].strip():
            raise RefusalError(
                403, "no_user", f"the reverse proxy has to name the user once, in {self._door.user_header}"
            )
        return request.path.lstrip("/"), users[0].strip()
