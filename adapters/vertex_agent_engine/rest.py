"""Requests to the REST API of deployed agent engines, and their JSON answers."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agentmut._base import UnavailableError
from agentmut.adapters._shared.outside.programs import LIMIT
from agentmut.adapters.vertex_agent_engine.errors import SHOWN, EngineError, refusal

if TYPE_CHECKING:
    from aiohttp import ClientResponse, StreamReader

Event = Mapping[str, Any]
_OTHER_FIELDS = (":", "event:", "id:", "retry:")
"""What lines of an event stream begin with that carry no data."""


@asynccontextmanager
async def posted(url: str, body: dict[str, Any], headers: dict[str, str]) -> "AsyncIterator[ClientResponse]":
    """Yield the accepted answer to a request while the block lasts.

    Raises what `refusal` makes of a status, and `UnavailableError` where the connection fails, now or in the block.
    """
    from aiohttp import ClientError, ClientSession, ClientTimeout

    try:
        async with (
            ClientSession(timeout=ClientTimeout(total=None)) as session,
            session.post(url, json=body, headers=headers) as answer,
        ):
            await _check(answer)
            yield answer
    except (ClientError, OSError) as error:
        name = type(error).__name__
        raise UnavailableError(f"{_place(url)} cannot be reached, or broke off ({name})") from None


async def whole(answer: "ClientResponse") -> Event:
    """Return the object that is the body."""
    found = bytearray()
    async for chunk in answer.content.iter_any():
        found += chunk
        _check_length(found)
    return event(found.decode("utf-8", "replace"))


async def events(answer: "ClientResponse") -> AsyncIterator[Event]:
    """Yield the objects of the body, one a line, from an event stream or bare lines.

    Lines may be long: results of tools are.
    """
    async for line in _lines(answer.content):
        text = line.decode("utf-8", "replace").strip()
        if text and not text.startswith(_OTHER_FIELDS):
            yield event(text.removeprefix("data:").strip())


def event(text: str) -> Event:
    """Return the object that was sent. Anything else was damaged on its way, or comes from another server."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UnavailableError(f"the engine sent what is no JSON: {text[:200]!r}") from None
    if not isinstance(found, dict):
        raise UnavailableError(f"the engine sent {text[:200]!r}; an object was expected")
    return found


async def _lines(content: "StreamReader") -> AsyncIterator[bytes]:
    held = b""
    async for chunk in content.iter_any():
        *lines, held = (held + chunk).split(b"\n")
        for line in lines:
            yield line
        _check_length(held)
    yield held


def _check_length(found: bytes | bytearray) -> None:
    if len(found) > LIMIT:
        raise EngineError(f"the engine sent more than {LIMIT // 2**20} MB at once")


async def _check(answer: "ClientResponse") -> None:
    if answer.status < 400:
        return
    body = " ".join((await answer.text(errors="replace")).split())
    raise refusal(answer.status, f"{_place(str(answer.url))} answered {answer.status}: {body[:SHOWN]}", body)


def _place(url: str) -> str:
    return url.partition("?")[0]
