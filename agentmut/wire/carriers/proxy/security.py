"""Who may ask the proxy, and for what: this machine, and only what its upstream serves."""

from urllib.parse import unquote, urlsplit

from aiohttp import hdrs
from multidict import CIMultiDictProxy

from agentmut.errors import UsageError
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.proxy.refusal import RefusalError

DECODINGS = 3
"""How often a path may be percent-encoded for the check to see through it."""


def check_bind(host: str, *, allow_remote: bool) -> None:
    """Raise `UsageError` for an address that other machines can reach, unless that is wanted."""
    if not allow_remote and not is_loopback(host):
        raise UsageError(
            f"the proxy passes your credentials on and serves this machine only; {host!r} is not a loopback "
            "address. Use 127.0.0.1, or allow remote clients (--allow-remote) where you mean it."
        )


def check_host(headers: CIMultiDictProxy[str], port: int) -> None:
    """Refuse requests that were sent to another name: a web page may have had its own name lead here."""
    hosts = headers.getall(hdrs.HOST, [])
    if len(hosts) != 1 or not _is_own(hosts[0], port):
        raise RefusalError(
            403,
            "foreign_host",
            f"the Host header has to name this machine and port {port}, such as 127.0.0.1:{port}",
        )


def check_target(target: str) -> None:
    """Refuse targets that name a host, or that climb out of the upstream's path."""
    if not target.startswith("/") or target.startswith("//"):
        raise RefusalError(
            400, "foreign_target", "a request's target has to be a path; the upstream is fixed"
        )
    if _climbs(target.partition("?")[0]):
        raise RefusalError(400, "foreign_target", "a request's path may not have `.` or `..` as a part")


def _is_own(host: str, port: int) -> bool:
    try:
        parts = urlsplit(f"//{host}")
        asked = parts.port or 80
    except ValueError:
        return False
    plain = parts.username is None and not parts.path and not parts.query
    return plain and asked == port and parts.hostname is not None and is_loopback(parts.hostname)


def _climbs(path: str) -> bool:
    for _ in range(DECODINGS):
        if any(part in (".", "..") for part in path.replace("\\", "/").split("/")):
            return True
        path = unquote(path)
    return False
