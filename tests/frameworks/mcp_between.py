"""Tool servers behind agentmut: as a program between, and as an endpoint of HTTP."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from mcp import Client, StdioServerParameters, stdio_client

from agentmut import mcp_proxy
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.trial import ToolChange, Trial, altered_tools
from agentmut.trial.mcp.front import ToolDoors, open_tool_doors
from agentmut.trial.mcp.middleman import Middleman
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from tests.frameworks.mcp_agents import orders

ROOT = Path(__file__).parents[2]


SERVER = ROOT / "tests" / "testdata" / "mcp" / "server.py"


AGENT = ROOT / "tests" / "testdata" / "mcp" / "agent.py"


BETWEEN = (sys.executable, "-S", "-m", "agentmut.mcp_proxy")


LOOK = ToolSpec(
    name="look_up_order",
    description="Look up an order by its number.",
    parameters={"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
)


REFUND = ToolSpec(name="issue_refund", description="Pay money back.")


FOUND = LOOK.model_copy(update={"name": "find", "implemented_by": "look_up_order", "description": "Find."})


DECOY = ToolSpec(name="look_up_order_v2", fault=ToolFault(kind=FaultKind.DECOY))


Use = Callable[[Client], Awaitable[Any]]


def between(
    connect: Callable[[ToolDoors, str], Any],
    use: Use,
    *after: ToolSpec,
    mode: str,
    before: tuple[ToolSpec, ...] = (LOOK, REFUND),
    **doubles: Any,
) -> Any:
    """What `use` returns of a client whose messages pass, in a trial whose tools are `after`; and the trial."""

    async def with_client(server: Any) -> Any:
        async with Client(server, mode=mode) as client:
            return await use(client)

    return reached(connect, with_client, *after, before=before, **doubles)


def reached(
    connect: Callable[[ToolDoors, str], Any],
    use: Callable[[Any], Awaitable[Any]],
    *after: ToolSpec,
    before: tuple[ToolSpec, ...] = (LOOK, REFUND),
    **doubles: Any,
) -> Any:
    """`between`, for what needs no client: `use` is given the server as clients are told of it."""

    async def carry_out() -> Any:
        config, roster = AgentConfig(tools=after), AdmittedTrials()
        change = ToolChange(before, after)
        trial = Trial("t.1", tools=altered_tools(config), tool_change=change, doubles=doubles)
        async with open_tool_doors(roster) as doors:
            with roster.admitted(trial):
                async with connect(doors, trial.id) as server:
                    return await use(server), trial

    return asyncio.run(carry_out())


class Started:
    """A server over stdin and stdout."""

    def __init__(self, doors: ToolDoors, trial: str) -> None:
        variables = {"PYTHONPATH": str(ROOT), **doors.variables(trial)}
        arguments = [*BETWEEN[1:], sys.executable, "-IS", str(SERVER)]
        self._parameters = StdioServerParameters(command=BETWEEN[0], args=arguments, env=variables)

    async def __aenter__(self) -> Any:
        return stdio_client(self._parameters)

    async def __aexit__(self, *error: object) -> None:
        pass


class Served:
    """A server over streamable HTTP."""

    path = "/mcp"

    def __init__(self, doors: ToolDoors, trial: str) -> None:
        self._prefix = doors.variables(trial)["AGENTMUT_MCP_URL"]
        config = uvicorn.Config(self.app(), port=0, log_level="critical", lifespan="on")
        self._server = uvicorn.Server(config)

    def app(self) -> Any:
        return orders().streamable_http_app()

    async def __aenter__(self) -> Any:
        self._task = asyncio.ensure_future(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"{self._prefix}http://127.0.0.1:{port}{self.path}"

    async def __aexit__(self, *error: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        await self._task


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


def called(name: str, **arguments: Any) -> Use:
    async def use(client: Client) -> Any:
        told = await names(client)
        result = await client.call_tool(name, arguments or {"order_id": "A-1"})
        return told, result.is_error, getattr(result.content[0], "text", "")

    return use


async def exchanged(*frames: tuple[bytes, Any], trial: Trial | None = None) -> tuple[list[Any], Trial]:
    """What the client is told, after these messages of both sides; and the trial."""
    trial, reader = trial or Trial("t.1"), asyncio.StreamReader()
    told = Told()
    for side, message in frames:
        reader.feed_data(mcp_proxy.framed(side, json.dumps(message).encode()))
    carrying = asyncio.ensure_future(Middleman(trial, told).carry(reader))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    reader.feed_eof()
    await carrying
    return [json.loads(raw[mcp_proxy.HEAD :]) for raw in told.written if raw[:1] == mcp_proxy.CLIENT], trial


class Told:
    """A writer that keeps what it is given."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, raw: bytes) -> None:
        self.written.append(raw)

    async def drain(self) -> None:
        await asyncio.sleep(0.01)


CALLED = {"id": 7, "method": "tools/call", "params": {"name": "look_up_order", "arguments": {}}}
"""A call of the tool that looks orders up, as a message."""
