"""The clients of OpenAI's and Anthropic's SDKs for the runs of one agent."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple

from agentmut._base import AdapterError

Settings = tuple[tuple[str, str], ...]
"""The environment variables that a client reads, with their values."""


class _KeptClient(NamedTuple):
    settings: Settings
    client: Any
    closing: AsyncGenerator[None, None]
    """Closes the client when the event loop ends, or when nobody has this tuple any more."""


class Clients:
    """Keeps a client for the runs of one agent in each event loop, because a client and a connection take long to make.

    Runs share connections and nothing else: a client takes no cookies. Another environment gets another client.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._kept: dict[asyncio.AbstractEventLoop, _KeptClient] = {}

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Any]:
        """Yield the client of this event loop. Raise `AdapterError` if the SDK finds no key."""
        kept = self._kept.get(loop := asyncio.get_running_loop())
        if kept is None or kept.settings != settings_of(self._package, os.environ):
            kept = await self._opened()
            others = {key: value for key, value in self._kept.items() if not key.is_closed()}
            self._kept = {**others, loop: kept}
        yield kept.client  # the run has `kept` too, so a client that is no longer kept is closed after its last run

    async def _opened(self) -> _KeptClient:
        settings = settings_of(self._package, os.environ)
        client = (_openai if self._package == "openai" else _anthropic)(self._certificates)
        closing = _closing(client)
        await anext(closing)
        return _KeptClient(settings, client, closing)

    @cached_property
    def _certificates(self) -> Any:
        """Return an SSL context like the one that the SDKs' HTTP library makes; making it is slow."""
        import httpx2

        return httpx2.create_ssl_context()


def settings_of(package: str, environment: Mapping[str, str]) -> Settings:
    """Return what a client of an SDK reads from the environment: its own variables, proxies, certificates.

    >>> settings_of("openai", {"OPENAI_API_KEY": "k", "https_proxy": "http://p", "HOME": "/root"})
    (('OPENAI_API_KEY', 'k'), ('https_proxy', 'http://p'))
    """
    heads = (f"{package.upper()}_", "SSL_CERT_")
    return tuple(
        (name, value)
        for name, value in environment.items()
        if name.startswith(heads) or name.upper().endswith("_PROXY")
    )


async def _closing(client: Any) -> AsyncGenerator[None, None]:
    """Close a client when this generator is closed, which an event loop does at its end."""
    try:
        yield
    finally:
        await client.close()


def _without_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def _openai(certificates: Any) -> Any:
    import openai

    try:
        http = openai.DefaultAsyncHttpxClient(verify=certificates, cookies=_without_cookies())
        return openai.AsyncOpenAI(http_client=http)
    except openai.OpenAIError as error:
        raise AdapterError(f"no client could be made: {error} Set OPENAI_API_KEY.") from error


def _anthropic(certificates: Any) -> Any:
    import anthropic

    http = anthropic.DefaultAsyncHttpxClient(verify=certificates, cookies=_without_cookies())
    client = anthropic.AsyncAnthropic(http_client=http)
    if not any(getattr(client, name, None) for name in ("api_key", "auth_token", "credentials")):
        raise AdapterError("no client could be made: there is no key. Set ANTHROPIC_API_KEY.")
    return client
