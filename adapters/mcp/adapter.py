"""Adapter for an MCP server under test by itself: a scenario gives the calls, and the results are the answers.

The server is built (`factory`), started (`command`) or connected to (`url`) anew for each trial. Only its tools can
be mutants: what a client is told of them, and what becomes of their results.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError
from agentmut.adapters._shared.change import completed
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import Action, AgentConfig, AgentTrace, Mutant, Step, ToolSpec, unreachable_fault
from agentmut.project import check_tools
from agentmut.recording import CallPlace, Trial, answering
from agentmut.recording import completed as finished
from agentmut.seams import AgentKeys, AgentSpec, AsksNoModel, KnowsOriginal, TakesKeys

# `server` imports the package, so it is imported only after the check that it is installed.

SOURCES = ("factory", "command", "url")
PATIENCE = 30.0
"""Seconds in which a server has to tell of its tools before anything is run."""
_SHAPES = '{"tool": NAME, "arguments": {...}} or {"list_tools": true}'


class McpRequest(NamedTuple):
    """A turn: a call of a tool, or, without a name, a request for the list of tools."""

    tool: str | None
    arguments: dict[str, JsonValue]


class McpAdapter(AsksNoModel, KnowsOriginal, TakesKeys):
    """Runs calls of a scenario against a server."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(None, "", frozenset({*SOURCES, "headers"}))
    requirement: ClassVar[Requirement] = Requirement("mcp", "mcp", (2, 0), (3, 0), "mcp")

    def __init__(
        self, source: Any, found: tuple[ToolSpec, ...], config: AgentConfig, original: AgentConfig
    ) -> None:
        self._source = source
        self._found = found
        self._config = config
        self.original = original
        self._ending: set[asyncio.Task[tuple[JsonValue, ...]]] = set()
        """Visits that were cut off, and whose servers are being ended."""

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "McpAdapter":
        """Check the package and the spec, and ask the server once for its tools."""
        named = [name for name in SOURCES if getattr(spec, name)]
        if len(named) != 1:
            said = f"; it has {' and '.join(named)}" if named else ""
            raise UsageError(
                "adapter mcp needs one of agent.command (a program that speaks MCP on stdin and stdout), agent.url (a "
                f"streamable HTTP server) and agent.factory (a function that returns an MCPServer){said}"
            )
        if spec.headers and not spec.url:
            raise UsageError("agent.headers are for agent.url; a program has its secrets from agent.env")
        cls.requirement.check()
        from agentmut.adapters.mcp.server import source_of, tools_of

        source = source_of(spec)
        try:
            source, offered = finished(tools_of(source, PATIENCE))
            found = check_tools(offered)
        except UsageError as error:
            raise AdapterError(f"the tools of the server: {error}") from error
        if not found:
            raise AdapterError("the server offers no tools, so there is nothing to test")
        whole = completed(config, AgentConfig(tools=found))
        return cls(source, found, whole, whole)

    def get_config(self) -> AgentConfig:
        """Return the config, with the server's tools if the project lists none."""
        return self._config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return what the server offers."""
        return self._found

    def with_config(self, config: AgentConfig) -> "McpAdapter":
        """Return the same server with other tools for its clients."""
        return McpAdapter(self._source, self._found, config, self.original)

    def doubled_tools(self) -> frozenset[str]:
        """Return all tools of the server."""
        return frozenset(tool.name for tool in self._found)

    def cannot_express(self, mutant: Mutant) -> str:
        """Return all that is not a tool belongs to the agent that asks the server."""
        other = next((edit.part for edit in mutant.edits if edit.part != "tools"), None)
        if other:
            return (
                f"a tool server has no {other}: that is of the agent which asks it; test that agent, with the server's "
                "tools in agent.config.tools"
            )
        return unreachable_fault(mutant, self._config, self.doubled_tools)

    def versions(self) -> Mapping[str, str]:
        """Return the package's."""
        return self.requirement.versions()

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Make the calls in order, in one session."""
        asked = [read_turn(turn, number) for number, turn in enumerate(turns)]
        visit = asyncio.ensure_future(self._visit(asked, trial))
        try:
            outputs = await asyncio.shield(visit)
        except asyncio.CancelledError:
            self._leave(visit)
            raise
        return trial.recorder.trace(outputs)

    async def _visit(self, asked: Sequence[McpRequest], trial: Trial) -> tuple[JsonValue, ...]:
        from agentmut.adapters.mcp.server import Visit

        recorder, outputs = trial.recorder, []
        async with self._source.client() as client:
            visit = await Visit.begun_by(client, self.original, trial)
            for number, one in enumerate(asked):
                with answering(CallPlace(turn=number)):
                    outputs.append(await visit.answer(one.tool, one.arguments))
                answer = Step(action=Action.RESPOND, turn=number, output=outputs[-1], started=recorder.now())
                recorder.steps.append(answer)
        return tuple(outputs)

    def _leave(self, visit: asyncio.Task[tuple[JsonValue, ...]]) -> None:
        """Have a visit end by itself: a server that hangs is given more time for that than a cancelled run has."""
        self._ending.add(visit)
        visit.add_done_callback(self._ended)
        visit.cancel()

    def _ended(self, visit: asyncio.Task[tuple[JsonValue, ...]]) -> None:
        self._ending.discard(visit)
        if not visit.cancelled():
            visit.exception()  # nobody else asks for it


def read_turn(turn: JsonValue, number: int) -> McpRequest:
    """Return what a turn of a scenario asks of the server. Raises `AdapterError`.

    >>> read_turn({"tool": "look", "arguments": {"id": 7}}, 0)
    McpRequest(tool='look', arguments={'id': 7})
    """
    if turn == {"list_tools": True}:
        return McpRequest(None, {})
    if isinstance(turn, dict) and isinstance(turn.get("tool"), str) and turn.keys() <= {"tool", "arguments"}:
        arguments = turn.get("arguments", {})
        if isinstance(arguments, dict):
            return McpRequest(str(turn["tool"]), arguments)
    raise AdapterError(
        f"turn {number + 1} of a scenario for adapter mcp has to be {_SHAPES}, not {turn!r:.120}. To ask in words, "
        "test the agent that uses the server"
    )
