"""Which SDKs of model services and frameworks are there, and the clients of SDKs."""

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from importlib import metadata
from typing import Any

from agentmut._base import AdapterError

MINIMUM = {"openai": (3, 0), "anthropic": (2, 0), "langgraph": (1, 2)}
"""The oldest versions that the adapters are tested with; those of the extras in pyproject.toml."""


def version_of(package: str) -> dict[str, str]:
    """The version of an SDK under its name; empty where it is not installed."""
    try:
        return {package: metadata.version(package)}
    except metadata.PackageNotFoundError:
        return {}


def named_version(package: str) -> str:
    """A package with its version, for errors about what that version does otherwise."""
    return f"{package} {version_of(package).get(package, 'of an unknown version')}"


def require_sdk(package: str) -> None:
    """Raise `AdapterError` unless there is a package, an SDK or a framework, that is new enough."""
    install = f"pip install 'agentmut[{package}]'"
    version = version_of(package).get(package)
    if version is None:
        raise AdapterError(f"adapter {package} requires the package {package}. Install it with: {install}")
    major, minor = MINIMUM[package]
    if release_of(version) < (major, minor):
        raise AdapterError(
            f"adapter {package} requires {package} {major}.{minor} or later, found {version}: {install}"
        )


def release_of(version: str) -> tuple[int, int]:
    """Major and minor number.

    >>> release_of("3.1rc1"), release_of("4")
    ((3, 1), (4, 0))
    """
    found = re.match(r"(\d+)(?:\.(\d+))?", version)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


class Clients:
    """Makes the clients of one agent's runs. What they check certificates with is made once: it takes long."""

    @cached_property
    def certificates(self) -> Any:
        """An SSL context, as the SDKs' HTTP library makes it by itself."""
        import httpx2

        return httpx2.create_ssl_context()


def new_client(package: str, clients: Clients) -> AbstractAsyncContextManager[Any]:
    """A new client of an SDK, closed at the end. Raises `AdapterError` where the SDK finds no key."""
    return (openai_client if package == "openai" else anthropic_client)(clients)


@asynccontextmanager
async def openai_client(clients: Clients) -> AsyncIterator[Any]:
    """A new client, closed at the end. Raises `AdapterError` where the SDK finds no key."""
    import openai

    try:
        http = openai.DefaultAsyncHttpxClient(verify=clients.certificates)
        client = openai.AsyncOpenAI(http_client=http)
    except openai.OpenAIError as error:
        raise AdapterError(f"no client could be made: {error} Set OPENAI_API_KEY.") from error
    async with client:
        yield client


@asynccontextmanager
async def anthropic_client(clients: Clients) -> AsyncIterator[Any]:
    """A new client, closed at the end. Raises `AdapterError` where the SDK finds no key."""
    import anthropic

    http = anthropic.DefaultAsyncHttpxClient(verify=clients.certificates)
    client = anthropic.AsyncAnthropic(http_client=http)
    async with client:
        if not any(getattr(client, name, None) for name in ("api_key", "auth_token", "credentials")):
            raise AdapterError("no client could be made: there is no key. Set ANTHROPIC_API_KEY.")
        yield client
