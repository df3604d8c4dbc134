"""Which service a request is for: its credentials belong to that service and must reach no other."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentmut.nouns import Codec
from agentmut.wire.carriers.proxy.refusal import RefusalError
from agentmut.wire.carriers.proxy.upstream import Upstream

_FIRST = re.compile(r"/(?P<name>[^/?]+)(?P<rest>.*)", re.S)


class Destination(NamedTuple):
    """A service, and the path that it is asked for."""

    upstream: Upstream
    path: str


def destination(
    upstreams: Sequence[Upstream], codecs: Sequence[Codec], method: str, path: str, origin: str
) -> Destination:
    """The service that a path without its trial names, or the only one that it can mean.

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
    """The services whose dialect a request without a service's name is in."""
    if method != "POST":
        return ()
    spoken = {codec.name for codec in codecs if codec.matches(path)}
    return [upstream for upstream in upstreams if spoken & upstream.dialects]


def _refuse_path(upstreams: Sequence[Upstream], origin: str) -> Destination:
    bases = ", ".join(f"{origin}{upstream.door}/..." for upstream in upstreams)
    raise RefusalError(404, "no_such_path", f"only paths that the upstream serves are passed on: {bases}")
