"""Deployed agent engines as they can be asked: by their REST API, or by an object of Google's SDK."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import JsonValue

from agentmut.adapters._programs import LIMIT
from agentmut.errors import AdapterError, UnavailableError, UsageError
from agentmut.imports import import_callable
from agentmut.plain import described

if TYPE_CHECKING:
    from aiohttp import ClientResponse

Event = Mapping[str, Any]
BUSY = frozenset({408, 425, 429, 502, 503, 504})
MISDIRECTED = frozenset({400, 401, 403, 404, 405})
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class EngineError(RuntimeError):
    """The engine said that it failed."""


class Engine(Protocol):
    """A deployed agent."""

    async def new_session(self, user: str) -> str:
        """The id of a new conversation."""
        ...

    def events(self, user: str, session: str, message: str) -> AsyncIterator[Event]:
        """What happens on a message. Raises `EngineError`, `AdapterError`, `UnavailableError`."""
        ...

    async def query(self, message: str) -> JsonValue:
        """The answer of an engine without sessions."""
        ...


class RestEngine:
    """An engine by its resource name. Where `GOOGLE_VERTEX_BASE_URL` is set, it is asked there."""

    def __init__(self, name: str, credentials: Callable[[], Any]) -> None:
        self._name = name
        self._credentials = credentials

    async def new_session(self, user: str) -> str:
        """A session that the engine keeps. Raises `AdapterError` where it keeps none."""
        told = await self._output("async_create_session", {"user_id": user})
        made = told.get("id") if isinstance(told, dict) else None
        if not isinstance(made, str):
            raise AdapterError(f"{self._name} made no session: its answer has no id; is it an ADK agent?")
        return made

    async def events(self, user: str, session: str, message: str) -> AsyncIterator[Event]:
        """The events of `async_stream_query`, one JSON object a line."""
        asked = {"user_id": user, "session_id": session, "message": message}
        async with _Answer(
            self._url("streamQuery?alt=sse"), *await self._request("async_stream_query", asked)
        ) as answer:
            async for line in answer.content:
                text = line.decode("utf-8", "replace").strip().removeprefix("data:").strip()
                if text:
                    yield _event(text)

    async def query(self, message: str) -> JsonValue:
        """What the engine's `query` answers."""
        return await self._output("query", {"input": message})

    async def _output(self, method: str, asked: dict[str, JsonValue]) -> JsonValue:
        async with _Answer(self._url("query"), *await self._request(method, asked)) as answer:
            told = _event((await answer.content.read(LIMIT)).decode("utf-8", "replace"))
        found: JsonValue = told.get("output")
        return found

    async def _request(self, method: str, asked: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        token = await asyncio.to_thread(_token, self._credentials)
        return {"classMethod": method, "input": asked}, {"Authorization": f"Bearer {token}"}

    def _url(self, verb: str) -> str:
        place = self._name.split("/")[3]
        base = os.environ.get("GOOGLE_VERTEX_BASE_URL") or f"https://{place}-aiplatform.googleapis.com"
        return f"{base.rstrip('/')}/v1/{self._name}:{verb}"


class SdkEngine:
    """An engine as `vertexai.Client(...).agent_engines.get(name=...)` gives it, or an `AdkApp` that is not deployed."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._engine: Any = None

    async def new_session(self, user: str) -> str:
        """A session that the engine keeps."""
        made = await self._sdk().async_create_session(user_id=user)
        return str(made["id"] if isinstance(made, Mapping) else made.id)

    async def events(self, user: str, session: str, message: str) -> AsyncIterator[Event]:
        """The events of `async_stream_query`."""
        asked = {"user_id": user, "session_id": session, "message": message}
        async for event in self._sdk().async_stream_query(**asked):
            yield event if isinstance(event, Mapping) else _event(str(event))

    async def query(self, message: str) -> JsonValue:
        """What the engine's `query` answers."""
        found: JsonValue = await asyncio.to_thread(lambda: self._sdk().query(input=message))
        return found

    def _sdk(self) -> Any:
        if self._engine is None:
            try:
                self._engine = self._build()
            except Exception as error:
                raise AdapterError(f"agent.factory raised {described(error)}") from error
            if not any(hasattr(self._engine, name) for name in ("async_stream_query", "query")):
                raise AdapterError(
                    f"agent.factory returned a {type(self._engine).__name__}; expected what "
                    "vertexai.Client(...).agent_engines.get(name=...) returns"
                )
        return self._engine


def credentials_of(reference: JsonValue, root: str) -> Callable[[], Any]:
    """What gives Google's credentials: the user's function, or the application's default ones."""
    if reference is None:
        return _default_credentials
    if not isinstance(reference, str):
        raise UsageError(
            "agent.options.credentials: expected module:function, which returns google credentials"
        )
    return import_callable(reference, Path(root))


def _default_credentials() -> Any:
    import google.auth

    try:
        return google.auth.default(scopes=[SCOPE])[0]
    except google.auth.exceptions.GoogleAuthError as error:
        raise AdapterError(
            f"no Google credentials: {error}; or name a function that returns some, agent.options.credentials"
        ) from None


def _token(credentials: Callable[[], Any]) -> str:
    found = credentials()
    if not found.valid:
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request

        try:
            found.refresh(Request())
        except GoogleAuthError as error:
            raise AdapterError(f"Google credentials could not be refreshed: {type(error).__name__}") from None
    return str(found.token)


class _Answer:
    """A request that is posted, and its accepted answer while the block lasts."""

    def __init__(self, url: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        self._url, self._body, self._headers = url, body, headers

    async def __aenter__(self) -> "ClientResponse":
        from aiohttp import ClientError, ClientSession, ClientTimeout

        self._session = ClientSession(timeout=ClientTimeout(total=None))
        try:
            answer = await self._session.post(self._url, json=self._body, headers=self._headers)
            await _check(answer)
        except (ClientError, OSError) as error:
            await self._session.close()
            raise UnavailableError(
                f"{_place(self._url)} cannot be reached ({type(error).__name__})"
            ) from None
        except BaseException:
            await self._session.close()
            raise
        return answer

    async def __aexit__(self, *_error: object) -> None:
        await self._session.close()


async def _check(answer: "ClientResponse") -> None:
    if answer.status < 400:
        return
    words = " ".join((await answer.text())[:300].split())
    said = f"{_place(str(answer.url))} answered {answer.status}: {words}"
    if answer.status in MISDIRECTED:
        raise AdapterError(f"{said}. Correct agent.options.engine or the credentials")
    raise UnavailableError(said) if answer.status in BUSY else EngineError(said)


def _place(url: str) -> str:
    return url.partition("?")[0]


def _event(text: str) -> Event:
    try:
        found = json.loads(text)
    except ValueError:
        raise EngineError(f"the engine sent what is no JSON: {text[:200]!r}") from None
    if not isinstance(found, dict):
        raise EngineError(f"the engine sent {text[:200]!r}; an object was expected")
    return found
