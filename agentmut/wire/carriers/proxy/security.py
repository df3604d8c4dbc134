"""The clients and requests that the proxy accepts: this machine, and only paths that its upstream serves."""

import secrets
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from aiohttp import hdrs
from multidict import CIMultiDictProxy

from agentmut._base import UsageError
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.proxy.refusal import RefusalError


def check_bind(host: str, *, allow_remote: bool) -> None:
    """Raise `UsageError` for an address that other machines can reach, unless the user wants that."""
    if not allow_remote and not is_loopback(host):
        raise UsageError(
            f"the proxy passes your credentials on and serves this machine only; {host!r} is not a loopback "
            "address. Use 127.0.0.1, or add --allow-remote to let other machines in."
        )


def check_host(headers: CIMultiDictProxy[str], port: int) -> None:
    """Refuse requests that were sent to another host name, because a web page may point its own name here."""
    hosts = headers.getall(hdrs.HOST, [])
    if len(hosts) != 1 or not _is_own(hosts[0], port):
        raise RefusalError(
            403,
            "foreign_host",
            f"the Host header has to name this machine and port {port}, such as 127.0.0.1:{port}",
        )


def check_origin(headers: CIMultiDictProxy[str]) -> None:
    """Refuse what a web page of another site sends: the Host is right then, as the page need not read the reply."""
    origins = headers.getall(hdrs.ORIGIN, [])
    crossing = not origins and headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    if crossing or not all(map(_is_of_this_machine, origins)):
        raise RefusalError(403, "foreign_origin", "web pages of other sites may not ask through this proxy")


TOKEN_BYTES = 16
"""The random bytes in an address: nobody guesses them, however many local users or web pages try."""


def new_token() -> str:
    """Return a new token for the address of a proxy, fit for a path."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def behind_token(target: str, token: str) -> str:
    """Return a request's target without its leading token; refuse a missing token. Without a token, return the target.

    >>> behind_token("/x7/v1/messages", "x7"), behind_token("/v1/messages", "")
    ('/v1/messages', '/v1/messages')
    """
    if not token:
        return target
    first, slash, rest = target[1:].partition("/")
    if not slash or not secrets.compare_digest(first.encode("utf-8", "surrogateescape"), token.encode()):
        raise RefusalError(
            403,
            "no_token",
            "the path has to begin with the token of the address that was printed or given",
        )
    return slash + rest


def check_target(target: str) -> None:
    """Refuse targets that name a host, or that climb out of the upstream's path."""
    if not target.startswith("/") or target.startswith("//"):
        raise RefusalError(
            400, "foreign_target", "a request's target has to be a path; the upstream is fixed"
        )
    if _climbs(target.partition("?")[0]):
        raise RefusalError(400, "foreign_target", "a request's path may not have `.` or `..` as a part")


@lru_cache(maxsize=256)  # a client names the same host each time
def _is_own(host: str, port: int) -> bool:
    try:
        parts = urlsplit(f"//{host}")
        asked = parts.port or 80
    except ValueError:
        return False
    plain = parts.username is None and not (parts.path or parts.query or "#" in host)
    return plain and asked == port and parts.hostname is not None and is_loopback(parts.hostname)


def _is_of_this_machine(origin: str) -> bool:
    try:
        parts = urlsplit(origin)
        _ = parts.port  # raises where another name follows: `127.0.0.1:80.evil.example`
        return is_loopback(parts.hostname or "")
    except ValueError:
        return False


def _climbs(path: str) -> bool:
    """Return whether a path leaves its folder, even if percent-encoded repeatedly or with `;parameters` after dots."""
    if "." not in path and "%" not in path:
        return False
    while True:
        parts = path.replace("\\", "/").split("/")
        if any(part.partition(";")[0] in (".", "..") for part in parts):
            return True
        decoded = unquote(path)
        if decoded == path:
            return False
        path = decoded
