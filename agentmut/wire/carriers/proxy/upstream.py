"""The services behind a proxy: their addresses, and the choice of the service for a request."""

import asyncio
import re
import urllib.request
from collections.abc import AsyncIterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
from aiohttp import hdrs
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from agentmut._base import CARRIED, Service, UsageError
from agentmut.nouns import Codec
from agentmut.recording import TRIAL_HEADER
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.proxy.direct_requests import LONGEST_FIELD, TIMEOUT, Straight, StraightReply
from agentmut.wire.carriers.proxy.refusal import RefusalError

TROUBLE = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
"""What a service that cannot be reached, or that stops in the middle, raises."""
IDLE_SECONDS = 4.0
"""How long an unused connection is kept: less than services do, which then close it under a request."""
HOP_BY_HOP = frozenset(
    name.lower()
    for name in (
        hdrs.CONNECTION,
        hdrs.KEEP_ALIVE,
        hdrs.PROXY_AUTHENTICATE,
        hdrs.PROXY_AUTHORIZATION,
        "proxy-connection",
        hdrs.TE,
        hdrs.TRAILER,
        hdrs.TRANSFER_ENCODING,
        hdrs.UPGRADE,
    )
)
Headers = CIMultiDict[str]


class Upstream:
    """A service with its base URL. Requests go only to paths under this URL."""

    def __init__(self, base: str, service: str = "", dialects: frozenset[str] = frozenset()) -> None:
        self.service = service
        """The first part of paths at the proxy that name this service; empty where they name none."""
        self.base = URL(_checked(base))
        self.path = self.base.raw_path.rstrip("/")
        """What the path of every request begins with."""
        self.door = f"/{service}{self.path}" if service else self.path
        """The path of its base URL at a proxy."""
        self.dialects = dialects
        """Names of the codecs of its requests, which tell it from others where the path names no service."""
        self.is_local = is_loopback(self.base.raw_host or "")
        self._origin = str(self.base.origin())
        self._proxy = None if self.is_local else _proxy_for(self.base)
        self._straight: Straight | None = None

    def url(self, path: str) -> str:
        """Return the address of a path, with its query."""
        return self._origin + path

    def serves(self, path: str) -> bool:
        """Return whether a path, with or without query, is under the base URL's."""
        return path.partition("?")[0] == self.path or path.startswith((f"{self.path}/", f"{self.path}?"))

    def path_of(self, location: str, asked: str) -> str | None:
        """Return the path of a redirect from the path `asked`; None if the service does not serve the target."""
        try:
            new = URL(self._origin + asked, encoded=True).join(URL(location, encoded=True))
            path = new.raw_path_qs
            return path if str(new.origin()) == self._origin and self.serves(path) else None
        except ValueError:
            return None

    def headers(self, headers: CIMultiDictProxy[str], trial: str) -> Headers:
        """Return a client's headers as they are passed on; only a stand-in on this machine is told the trial."""
        kept = passed_on(headers, hdrs.HOST, hdrs.CONTENT_LENGTH, hdrs.EXPECT, TRIAL_HEADER)
        if self.is_local:
            kept[TRIAL_HEADER] = trial
        return kept

    async def send(
        self,
        session: aiohttp.ClientSession,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None,
    ) -> aiohttp.ClientResponse:
        """Send a request. Redirects are left to the client; the reply's body is not decompressed."""
        return await session.request(
            method,
            URL(self._origin + path, encoded=True),
            headers=headers,
            data=body,
            allow_redirects=False,
            auto_decompress=False,
            proxy=self._proxy,
        )

    async def post(
        self, session: aiohttp.ClientSession, path: str, headers: Mapping[str, str], body: bytes
    ) -> StraightReply | aiohttp.ClientResponse:
        """Send a request to a model, as `send` does: straight to the service, or by way of the environment's proxy."""
        if self._proxy:
            return await self.send(session, "POST", path, headers, body)
        if self._straight is None or self._straight.session is not session:
            self._straight = Straight(session, self.base)
        return await self._straight.post(path, headers, body)


def new_session() -> aiohttp.ClientSession:
    """Return a session for upstreams: without a limit on connections, and without cookies or credentials."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
        timeout=TIMEOUT,
        max_line_size=LONGEST_FIELD,
        max_field_size=LONGEST_FIELD,
    )


def passed_on(headers: Mapping[str, str] | CIMultiDictProxy[str], *left_out: str) -> Headers:
    """Return the headers without those of one connection only, and without the named headers."""
    dropped = _dropped(left_out)
    if named := headers.get(hdrs.CONNECTION):
        dropped = dropped.union(name.strip().lower() for name in named.split(","))
    return CIMultiDict([pair for pair in headers.items() if pair[0].lower() not in dropped])


@lru_cache(maxsize=16)  # each caller leaves out the same headers each time
def _dropped(left_out: tuple[str, ...]) -> frozenset[str]:
    return HOP_BY_HOP.union(map(str.lower, left_out))


def is_signed(headers: Mapping[str, str]) -> bool:
    """Return whether AWS's SDK has signed a request, with an address that is the proxy's."""
    return headers.get(hdrs.AUTHORIZATION, "").startswith("AWS4-")


def unsignable() -> RefusalError:
    """Return the refusal of a request whose signature the real service would not accept."""
    return RefusalError(
        400,
        "signed_request",
        "this request is signed for the proxy's address, and agentmut cannot sign it again: that takes botocore "
        "(`pip install botocore`) and the same AWS key in agentmut's environment as in the agent's. Or use a "
        "Bedrock API key (AWS_BEARER_TOKEN_BEDROCK), or run the agent in agentmut's process, where requests are "
        "changed before they are signed.",
    )


def _checked(base: str) -> str:
    try:
        parts = urlsplit(base)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port out of range, half of an IPv6 address
        usable = False
    if not usable:
        shown = re.sub(r"//[^/]*@", "//", base)
        raise UsageError(
            f"the base URL of the model service, {shown!r}, must begin with http:// or https:// and name a host. "
            "Correct --upstream, or the variable that names the service."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            "the base URL of the model service has a user, a query or a fragment. Leave out all but host, port and "
            "path: the program sends its credentials itself."
        )
    return base


def _proxy_for(url: URL) -> str | None:
    """Return the environment's proxy for a URL; credentials in other files are not used."""
    host = url.raw_host or ""
    if urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies_environment()
    return proxies.get(url.scheme) or proxies.get("all")


_FIRST = re.compile(r"/(?P<name>[^/?]+)(?P<rest>.*)", re.S)


class Destination(NamedTuple):
    """A service, and the requested path."""

    upstream: Upstream
    path: str


def destination(
    upstreams: Sequence[Upstream], codecs: Sequence[Codec], method: str, path: str, origin: str
) -> Destination:
    """Return the service that the rest of a path names, or the only service that it can mean.

    Raises `RefusalError`, which names the base URLs of the proxy at `origin`.
    """
    first = _FIRST.fullmatch(path)
    if first and (named := next((found for found in upstreams if found.service == first["name"]), None)):
        asked = [tail for tail in (first["rest"], path) if named.serves(tail)]
        return Destination(named, asked[0]) if asked else _refuse_path([named], origin)
    meant = upstreams if len(upstreams) == 1 else _speaking(upstreams, codecs, method, path)
    if len(meant) != 1:
        bases = ", ".join(f"{origin}{upstream.door}" for upstream in upstreams)
        raise RefusalError(
            404,
            "which_service",
            "this proxy serves several services, and the path does not say which one is meant; no key is sent to "
            f"another service. Use one of the base URLs {bases}",
        )
    return Destination(meant[0], path) if meant[0].serves(path) else _refuse_path(meant, origin)


def _speaking(
    upstreams: Sequence[Upstream], codecs: Sequence[Codec], method: str, path: str
) -> Sequence[Upstream]:
    """Return the services whose dialect a request without a service's name is in."""
    if method != "POST":
        return ()
    spoken = {codec.name for codec in codecs if codec.matches(path)}
    found = [upstream for upstream in upstreams if spoken & upstream.dialects]
    if len({str(upstream.base.origin()) for upstream in found}) == 1:  # one server, such as the simulator
        return [upstream for upstream in found if upstream.serves(path)][:1] or found[:1]
    return found


def _refuse_path(upstreams: Sequence[Upstream], origin: str) -> Destination:
    bases = ", ".join(f"{origin}{upstream.door}/..." for upstream in upstreams)
    raise RefusalError(404, "no_such_path", f"only paths that the upstream serves are passed on: {bases}")


PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Door(NamedTuple):
    """The address of a service, for programs that reach it through a proxy."""

    service: Service
    upstream: Upstream
    path: str
    """The path of the base URL that programs are given."""

    def variables(self, origin: str) -> dict[str, str]:
        """Return the environment that leads programs to a proxy at this URL, which has no path or a trial's."""
        return dict.fromkeys(self.service.variables, f"{origin}{self.path}")


def doors_of(environment: Mapping[str, str], only: str | None = None) -> list[Door]:
    """Return the services that an environment names, or else the real ones; with `only`, a single one for all dialects.

    Raises `UsageError` for what is no URL.
    """
    if only is None:
        return [_door(service, base) for service in CARRIED if (base := _base(service, environment))]
    upstream = Upstream(only)
    root = upstream.path.removesuffix("/v1")
    return [
        Door(service, upstream, f"{root}{service.suffix}" if root != upstream.path else root)
        for service in CARRIED
        if service.default is not None
    ]


def past_http_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables that keep programs from reaching this machine through an HTTP proxy."""
    upper = {name.upper() for name, value in environment.items() if value}
    if not upper.intersection(PROXY_VARIABLES):
        return {}
    exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    value = ",".join(filter(None, (exempt, "127.0.0.1", "localhost")))
    return {"no_proxy": value, "NO_PROXY": value}


def _base(service: Service, environment: Mapping[str, str]) -> str | None:
    names = (*service.variables, *service.shared)
    named = (service.url_of(environment[name]) for name in names if environment.get(name))
    return next(named, service.default or service.address_in(environment))


def _door(service: Service, base: str) -> Door:
    upstream = Upstream(base, service.name, service.dialects)
    return Door(service, upstream, upstream.door)
