"""Servers under test: built, started or connected to, and called as a client would call them."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar, Protocol, TextIO, cast
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.types import CONNECTION_CLOSED
from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError, described
from agentmut.adapters._shared.agent_source import AgentSource
from agentmut.nouns import AgentConfig, ToolSpec
from agentmut.recording import Trial, call_place
from agentmut.seams import AgentSpec
from agentmut.trial import own_name, spec_of, text_of, watch

EXPECTED = "an mcp.server.MCPServer"
TOLD_OF_STDERR = 600
"""Characters at its end that an error says."""
_MOST_PAGES = 100


class Source(Protocol):
    """The source of a server."""

    key: ClassVar[str]
    """What of the project names it."""

    def client(self) -> Any:
        """Return a fresh server's client, connected while the context is open."""


class ServerError(RuntimeError):
    """The server ended, or hung up."""


def source_of(spec: AgentSpec) -> Source:
    """Return the server that a project names. Raises `UsageError`."""
    if spec.factory:
        return OwnServer(AgentSource.from_spec(spec, _is_server, EXPECTED))
    if spec.url:
        check_url(spec.url)
        return RunningServer(
            spec.url, {name: value.get_secret_value() for name, value in spec.headers.items()}
        )
    program = spec.command[0]
    beside = Path(spec.root, program)
    if not (beside.is_file() if "/" in program else shutil.which(program)):
        raise UsageError(f"agent.command: there is no program {program!r} here; install it, or give its path")
    return StartedServer(spec.command, spec.root)


def _is_server(found: Any) -> bool:
    return isinstance(found, MCPServer | Server)


@dataclass(frozen=True)
class OwnServer:
    """A server of this process."""

    source: AgentSource
    key: ClassVar[str] = "agent.factory"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Connect to the server in memory."""
        async with _plainly(), Client(self.source.build(AgentConfig())) as client:
            yield client


@dataclass(frozen=True)
class StartedServer:
    """A server that is started."""

    command: tuple[str, ...]
    root: str
    key: ClassVar[str] = "agent.command"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Connect over stdin and stdout; the process ends with the context."""
        started = StdioServerParameters(
            command=self.command[0], args=list(self.command[1:]), env=dict(os.environ), cwd=self.root
        )
        with TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
            log = cast(TextIO, stderr)
            try:
                async with _plainly(), Client(stdio_client(started, errlog=log)) as client:
                    yield client
            except (MCPError, ServerError) as error:
                raise ServerError(f"{error}{_last_words(log)}") from error


@dataclass(frozen=True)
class RunningServer:
    """A server that runs already; its state survives from trial to trial."""

    url: str
    headers: Mapping[str, str]
    key: ClassVar[str] = "agent.url"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Open a client with a session of its own."""
        import httpx2

        timeout = httpx2.Timeout(30, read=300)
        async with (
            _plainly(),
            httpx2.AsyncClient(headers=dict(self.headers), timeout=timeout) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            yield client


@dataclass(frozen=True)
class SseServer(RunningServer):
    """A server with HTTP+SSE, the transport of protocol version 2024-11-05."""

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Open a client with a session of its own."""
        older = sse_client(self.url, headers=dict(self.headers), timeout=30)
        async with _plainly(), Client(older, mode="legacy") as client:
            yield client


async def tools_of(source: Source, patience: float) -> tuple[Source, tuple[ToolSpec, ...]]:
    """Return a server's tools and its transport. Raise `AdapterError` if it does not answer."""
    try:
        async with asyncio.timeout(patience):
            try:
                return source, await _listed_tools(source)
            except MCPError:
                if not isinstance(source, RunningServer):
                    raise
                older = SseServer(source.url, source.headers)
                with suppress(Exception):
                    return older, await _listed_tools(older)
                raise
    except TimeoutError as error:
        raise AdapterError(
            f"the server of {source.key} did not tell of its tools within {patience:g} s"
        ) from error
    except (AdapterError, UsageError):
        raise
    except Exception as error:
        running = (
            ". See that it runs there, and what agent.headers it wants"
            if isinstance(source, RunningServer)
            else ""
        )
        raise AdapterError(
            f"the server of {source.key} could not be asked for its tools: {described(error)}{running}"
        ) from error


async def _listed_tools(source: Source) -> tuple[ToolSpec, ...]:
    async with source.client() as client:
        return tuple(map(spec_of, await _listing(client)))


@dataclass(frozen=True)
class Visit:
    """A session with a server that has listed its tools."""

    client: Client
    original: AgentConfig
    trial: Trial
    listing: list[dict[str, Any]]

    @classmethod
    async def begun_by(cls, client: Client, original: AgentConfig, trial: Trial) -> "Visit":
        """Begin a visit as a client does."""
        return cls(watch(client), original, trial, await _listing(watch(client)))

    async def answer(self, tool: str | None, arguments: dict[str, JsonValue]) -> JsonValue:
        """Return the outcome of a call: its result's text, or `{"error": ...}`; without a tool, the list of tools."""
        if tool is None:
            return [
                spec_of(one).model_dump(include={"name", "description", "parameters"}) for one in self.listing
            ]
        if refusal := self._refusal(tool, arguments):
            return {"error": refusal}
        try:
            result = await self.client.call_tool(tool, arguments)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise ServerError(f"the server hung up during a call of {tool}") from error
            return {"error": error.message}
        text: JsonValue = text_of(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        return {"error": text} if result.is_error else text

    def _refusal(self, tool: str, arguments: dict[str, JsonValue]) -> str:
        """Return why a client that reads the present tools would not make a call that fitted the earlier tools."""
        now = next((one for one in self.listing if one["name"] == tool), None)
        before = next((one for one in self.original.tools if one.name == tool), None)
        if now is None or before is None or own_name(self.trial.tool_change, tool) is None:
            return ""
        schema = now.get("inputSchema") or {}
        if schema == before.parameters or _fault(before.parameters, arguments):
            return ""
        if not (fault := _fault(schema, arguments)):
            return ""
        said = f"the arguments do not fit the schema of {tool}: {fault}"
        recorder = self.trial.recorder
        place = call_place()._asdict()
        recorder.note_call(tool, dict(arguments), recorder.now(), error=said, **place)
        return said


async def _listing(client: Client) -> list[dict[str, Any]]:
    """Return the tools of all pages, in the protocol's form."""
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise AdapterError(f"the server tells of its tools on more than {_MOST_PAGES} pages")


def _fault(schema: Mapping[str, Any], arguments: Mapping[str, JsonValue]) -> str:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return ""  # which no client could go by
    error = best_match(Draft202012Validator(schema).iter_errors(arguments))
    return "" if error is None else str(error.message)


def _last_words(stderr: TextIO) -> str:
    stderr.seek(0)
    said = stderr.read()[-TOLD_OF_STDERR:].strip()
    return f". Its last words on stderr: {said}" if said else ""


@asynccontextmanager
async def _plainly() -> AsyncIterator[None]:
    """Raise an inner error itself instead of the group of the package's tasks."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise _innermost(group) from group


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def check_url(url: str) -> None:
    """Raise `UsageError` for what is no whole address."""
    if wrong := _wrong_with(url):
        shown = re.sub(r"//[^/]*@", "//", url)
        raise UsageError(
            f"agent.url: {shown!r} is no address of a tool server: {wrong}. Give all of it, as in "
            "http://127.0.0.1:8000/mcp"
        )


def _wrong_with(url: str) -> str:
    """Return what is wrong with an address, in a phrase; empty if nothing is.

    >>> _wrong_with("http://"), _wrong_with("http://127.0.0.1:8000/mcp")
    ('it has no host', '')
    """
    if re.search(r"\s", url):
        return "it has a blank in it"
    if not url.lower().startswith(("http://", "https://")):
        return "it does not begin with http:// or https://"
    try:
        parts = urlsplit(url)
        return "it has no host" if not parts.hostname else "0 is no port" if parts.port == 0 else ""
    except ValueError as error:
        return str(error)
