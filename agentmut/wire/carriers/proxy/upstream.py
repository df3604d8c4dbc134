"""A service that a proxy passes requests on to."""

import asyncio
import re
import urllib.request
from collections.abc import AsyncIterable, Mapping
from urllib.parse import urlsplit

import aiohttp
from aiohttp import hdrs
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from agentmut._base import UsageError
from agentmut.recording import TRIAL_HEADER
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.proxy.refusal import RefusalError

TROUBLE = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
"""What a service that cannot be reached, or that stops in the middle, raises."""
IDLE_SECONDS = 4.0
"""How long an unused connection is kept: less than services do, which then close it under a request."""
CONNECT_SECONDS = 60.0
LONGEST_FIELD = 64 * 1024
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
    """A service by its base URL. Requests go to paths under it and nowhere else."""

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

    def serves(self, path: str) -> bool:
        """Whether a path, with or without query, is under the base URL's."""
        return path.partition("?")[0] == self.path or path.startswith((f"{self.path}/", f"{self.path}?"))

    def path_of(self, location: str, asked: str) -> str | None:
        """The path that a redirect of a request for the path `asked` leads to; None where that is not served here."""
        try:
            new = URL(self._origin + asked, encoded=True).join(URL(location, encoded=True))
            path = new.raw_path_qs
            return path if str(new.origin()) == self._origin and self.serves(path) else None
        except ValueError:
            return None

    def headers(self, headers: CIMultiDictProxy[str], trial: str) -> Headers:
        """A client's headers as they are passed on; a stand-in on this machine is told the trial."""
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
        """Send a request. Redirects are for the client to follow; the reply's body is as it was sent, maybe packed."""
        return await session.request(
            method,
            URL(self._origin + path, encoded=True),
            headers=headers,
            data=body,
            allow_redirects=False,
            auto_decompress=False,
            skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
            proxy=self._proxy,
        )


def new_session() -> aiohttp.ClientSession:
    """Connections to upstreams: as many as there are requests, without cookies or credentials of their own."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_SECONDS
        ),  # the client knows how long it waits
        max_line_size=LONGEST_FIELD,
        max_field_size=LONGEST_FIELD,
    )


def passed_on(headers: Mapping[str, str] | CIMultiDictProxy[str], *left_out: str) -> Headers:
    """Headers without those that speak about one connection only, and without those named."""
    dropped = HOP_BY_HOP.union(name.lower() for name in left_out)
    if named := headers.get(hdrs.CONNECTION):
        dropped = dropped.union(name.strip().lower() for name in named.split(","))
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in dropped)


def check_signature(headers: Mapping[str, str], upstream: Upstream) -> None:
    """Refuse what AWS has signed for this address: the real service would not accept the signature."""
    if not upstream.is_local and headers.get(hdrs.AUTHORIZATION, "").startswith("AWS4-"):
        raise RefusalError(
            400,
            "signed_request",
            "this request is signed for the proxy's address, and the service would refuse it. Use a Bedrock API key "
            "(AWS_BEARER_TOKEN_BEDROCK), or run the agent in agentmut's process, where requests are changed before "
            "they are signed.",
        )


def _checked(base: str) -> str:
    try:
        parts = urlsplit(base)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port out of range, half of an IPv6 address
        usable = False
    if not usable:
        shown = re.sub(r"//[^/]*@", "//", base)
        raise UsageError(f"the proxy's upstream {shown!r} is no URL that begins with http:// or https://")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            "the proxy's upstream may have a host, a port and a path only. Credentials are the client's to send."
        )
    return base


def _proxy_for(url: URL) -> str | None:
    """The environment's proxy for a URL, as other programs read it; no credentials of other files come with it."""
    host = url.raw_host or ""
    if urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies_environment()
    return proxies.get(url.scheme) or proxies.get("all")
