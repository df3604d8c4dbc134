"""Deployed agent engines, through their REST API or an object of Google's SDK."""

import inspect
import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import JsonValue

from agentmut._base import AdapterError, UnavailableError, described
from agentmut.adapters.vertex_agent_engine.credentials import Credentials
from agentmut.adapters.vertex_agent_engine.errors import EngineError, of_sdk
from agentmut.adapters.vertex_agent_engine.rest import Event, event, events, posted, whole
from agentmut.recording import TRIAL_HEADER, current_trial, in_daemon_thread
from agentmut.wire import is_loopback

_NO_ADK = "is it an ADK agent? One of another kind is asked with agent.options: {method: query}"


class Engine(Protocol):
    """A deployed agent. It raises `EngineError`, `AdapterError` and `UnavailableError`."""

    async def new_session(self, user: str) -> str:
        """Return the id of a new conversation."""

    async def end_session(self, user: str, session: str) -> None:
        """Delete a conversation from the engine."""

    def events(self, user: str, session: str, message: str) -> AsyncGenerator[Event]:
        """Return what happens on a message."""

    async def query(self, message: str) -> JsonValue:
        """Return the answer of an engine without sessions."""


class RestEngine:
    """An engine by its resource name. `GOOGLE_VERTEX_BASE_URL` can set its address."""

    def __init__(self, name: str, credentials: Credentials) -> None:
        self._name = name
        self._credentials = credentials

    async def new_session(self, user: str) -> str:
        """Return a session that the engine keeps."""
        try:
            made = await self._output("async_create_session", {"user_id": user})
        except EngineError as error:  # no mutant has a part in this
            raise UnavailableError(f"no session could be made: {error}") from None
        return _session_id(made, self._name)

    async def end_session(self, user: str, session: str) -> None:
        """Delete a session of the engine."""
        await self._output("async_delete_session", {"user_id": user, "session_id": session})

    async def events(self, user: str, session: str, message: str) -> AsyncGenerator[Event]:
        """Yield the events of `async_stream_query`."""
        asked = {"user_id": user, "session_id": session, "message": message}
        request = await self._request("streamQuery?alt=sse", "async_stream_query", asked)
        async with posted(*request) as answer:
            async for found in events(answer):
                yield found

    async def query(self, message: str) -> JsonValue:
        """Return what the engine's `query` answers."""
        return await self._output("query", {"input": message})

    async def _output(self, method: str, asked: dict[str, Any]) -> JsonValue:
        async with posted(*await self._request("query", method, asked)) as answer:
            found: JsonValue = (await whole(answer)).get("output")
        return found

    async def _request(
        self, verb: str, method: str, asked: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, str]]:
        place = self._name.split("/")[3]
        host = "aiplatform.googleapis.com" if place == "global" else f"{place}-aiplatform.googleapis.com"
        base = (os.environ.get("GOOGLE_VERTEX_BASE_URL") or f"https://{host}").rstrip("/")
        headers = await self._headers(is_loopback(urlsplit(base).hostname or ""))
        return f"{base}/v1/{self._name}:{verb}", {"classMethod": method, "input": asked}, headers

    async def _headers(self, is_here: bool) -> dict[str, str]:
        """Return headers: a stand-in on this machine gets the trial's id, and only credentials meant for it."""
        trial = current_trial() if is_here else None
        told = {TRIAL_HEADER: trial.id} if trial else {}
        if is_here and not self._credentials.named:
            return told
        return {**told, **await in_daemon_thread(self._credentials.headers)}


def _stream(found: Any) -> AsyncIterable[Any]:
    """Return what `async_stream_query` gives. Raises `AdapterError` where that is no stream, as of an `async def` that
    returns a list."""
    if isinstance(found, AsyncIterable):
        return found
    if inspect.iscoroutine(found):
        found.close()
    raise AdapterError(
        f"async_stream_query of the engine of agent.factory gives a {type(found).__name__}; expected an async "
        "generator, which yields events"
    )


class SdkEngine:
    """An engine as `vertexai.Client(...).agent_engines.get(name=...)` gives it, an `AdkApp` that is not deployed, or
    an object of the user's own with some of their methods.
    """

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._engine: Any = None

    async def new_session(self, user: str) -> str:
        """Return a session that the engine keeps."""
        try:
            made = await self._method("async_create_session")(user_id=user)
        except Exception as error:
            found = of_sdk(error)
            raise UnavailableError(str(found)) if isinstance(found, EngineError) else found from error
        return _session_id(made, "the engine")

    async def end_session(self, user: str, session: str) -> None:
        """Delete a session of the engine."""
        await self._method("async_delete_session")(user_id=user, session_id=session)

    async def events(self, user: str, session: str, message: str) -> AsyncGenerator[Event]:
        """Yield the events of `async_stream_query`."""
        asked = {"user_id": user, "session_id": session, "message": message}
        try:
            async for found in _stream(self._method("async_stream_query")(**asked)):
                yield found if isinstance(found, Mapping) else event(str(found))
        except Exception as error:
            raise of_sdk(error) from error

    async def query(self, message: str) -> JsonValue:
        """Return what the engine's `query` answers, which may be a coroutine."""
        query = self._method("query")
        try:
            found = await in_daemon_thread(lambda: query(input=message))
            answer: JsonValue = await found if inspect.isawaitable(found) else found
        except Exception as error:
            raise of_sdk(error) from error
        return answer

    def _method(self, name: str) -> Callable[..., Any]:
        if self._engine is None:
            self._engine = self._built()
        found = getattr(self._engine, name, None)
        if not callable(found):
            raise AdapterError(f"the engine of agent.factory has no {name}: {_NO_ADK}")
        method: Callable[..., Any] = found
        return method

    def _built(self) -> Any:
        try:
            found = self._build()
        except Exception as error:
            raise AdapterError(f"agent.factory raised {described(error)}") from error
        if not any(hasattr(found, name) for name in ("async_stream_query", "query")):
            raise AdapterError(
                f"agent.factory returned a {type(found).__name__}; expected what "
                "vertexai.Client(...).agent_engines.get(name=...) returns"
            )
        return found


def _session_id(made: Any, whose: str) -> str:
    found = made.get("id") if isinstance(made, Mapping) else getattr(made, "id", None)
    if not isinstance(found, str):
        raise AdapterError(f"{whose} made no session: its answer has no id; {_NO_ADK}")
    return found
