"""Model services by the environment variables that say where they are, and the same variables to lead to a proxy."""

from collections.abc import Mapping
from typing import NamedTuple

from agentmut._base import CARRIED, Service
from agentmut.wire.carriers.proxy.upstream import Upstream

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Door(NamedTuple):
    """Where a service is, for programs that are led to it through a proxy."""

    service: Service
    upstream: Upstream
    path: str
    """Of the base URL that programs are given."""

    def variables(self, origin: str) -> dict[str, str]:
        """The environment that leads programs to a proxy at this URL, which has no path or a trial's."""
        return dict.fromkeys(self.service.variables, f"{origin}{self.path}")


def doors_of(environment: Mapping[str, str], only: str | None = None) -> list[Door]:
    """The services that an environment names, or else the real ones; with `only`, one that speaks every dialect.

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
    """Where programs are told of an HTTP proxy, this machine must not be reached through it."""
    upper = {name.upper() for name, value in environment.items() if value}
    if not upper.intersection(PROXY_VARIABLES):
        return {}
    exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    value = ",".join(filter(None, (exempt, "127.0.0.1", "localhost")))
    return {"no_proxy": value, "NO_PROXY": value}


def _base(service: Service, environment: Mapping[str, str]) -> str | None:
    names = (*service.variables, *service.shared)
    named = (environment[name] for name in names if environment.get(name))
    return next(named, service.default)


def _door(service: Service, base: str) -> Door:
    upstream = Upstream(base, service.name, service.dialects)
    return Door(service, upstream, upstream.door)
