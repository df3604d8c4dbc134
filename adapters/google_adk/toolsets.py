"""Toolsets of ADK agents: listed before a run, and offered in the run in the form of a config.

A toolset is still asked at every step, as ADK does it: what it gives may depend on the state of the session. Tools
that it did not have before are offered as they are.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.adk.agents import InvocationContext, RunConfig
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.models.llm_request import LlmRequest
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.workflow import BaseNode

from agentmut._base import AdapterError, described, one_line
from agentmut.adapters._shared.change import Offer
from agentmut.adapters.google_adk.mcp import separate
from agentmut.adapters.google_adk.tools import declaration_of, spec_of, tool_offered

PATIENCE = 10.0
"""Seconds that a toolset has to close, as with ADK."""
_log = logging.getLogger(__name__)
Listed = Mapping[tuple[str, BaseToolset], Sequence[BaseTool]]
"""By the agent's name and its toolset: the tools that models are told of."""


class Toolsets:
    """The toolsets of a tree for one trial: servers get a new connection, other toolsets stay the agent's own."""

    def __init__(self, members: Mapping[str, BaseNode], state: Any, *, closes: bool) -> None:
        self._members = members
        self._state = state if isinstance(state, dict) else {}
        self._closes = closes
        """Whether no other trial has the same toolsets."""
        found = (one for agent in members.values() for one in toolsets_of(agent))
        self._mine = {one: separate(one) for one in found}

    async def listed(self) -> Listed:
        """Return the tools of the toolsets before a run. Raise their errors, except a request to sign in."""
        pairs = [(agent, one) for agent in self._members.values() for one in toolsets_of(agent)]
        found = await asyncio.gather(*(self._list(agent, one) for agent, one in pairs))
        return {(agent.name, one): tools for (agent, one), tools in zip(pairs, found, strict=True)}

    def part(self, toolset: BaseToolset, offers: Sequence[Offer], known: Iterable[str] | None) -> BaseToolset:
        """Offer a part of a toolset's tools; with `known`, also the tools that are not in it."""
        return PassedToolset(self._mine[toolset], offers, known)

    async def close(self) -> None:
        """End the connections of this trial, and close what no other has, each once. As with ADK, the log says what
        does not close."""
        for toolset, mine in self._mine.items():
            if self._closes or mine is not toolset:
                try:
                    async with asyncio.timeout(PATIENCE):
                        await mine.close()
                except Exception as error:
                    _log.info("a %s did not close: %s", type(mine).__name__, described(error))

    async def _list(self, agent: BaseNode, toolset: BaseToolset) -> Sequence[BaseTool]:
        mine = self._mine[toolset]
        try:
            tools = await mine.get_tools_with_prefix(_context(agent, self._state))
        except Exception:
            if mine.get_auth_config() is None:
                raise
            return ()
        return [tool for tool in tools if declaration_of(tool)]


async def listed_once(members: Mapping[str, BaseNode], state: Any, *, closes: bool) -> Listed:
    """Return the tools of the toolsets, over connections that end at once.

    Raises `AdapterError` where there are none.
    """
    toolsets = Toolsets(members, state, closes=closes)
    try:
        return await toolsets.listed()
    except Exception as error:
        kinds = {type(one).__name__ for agent in members.values() for one in toolsets_of(agent)}
        raise AdapterError(
            f"the toolsets of the agent ({', '.join(sorted(kinds))}) list no tools: {one_line(error)}"
        ) from error
    finally:
        await toolsets.close()


def toolsets_of(agent: BaseNode) -> list[BaseToolset]:
    """Return the toolsets of an agent in order."""
    return [one for one in getattr(agent, "tools", ()) if isinstance(one, BaseToolset)]


@dataclass
class _ToolCopies:
    """The copies of a toolset's tools, each made once, so that its state survives."""

    known: dict[int, tuple[BaseTool, BaseTool]] = field(default_factory=dict)

    def copy_of(self, offer: Offer, own: BaseTool) -> BaseTool:
        """Return the copy of a tool for an offer, made at the first request."""
        if id(own) not in self.known:
            self.known[id(own)] = (own, tool_offered(offer, own))
        return self.known[id(own)][1]


class PassedToolset(BaseToolset):
    """Tools of a toolset as offered, with their calls passed on."""

    def __init__(self, own: BaseToolset, offers: Sequence[Offer], known: Iterable[str] | None) -> None:
        super().__init__()
        self._use_invocation_cache = False  # `own` knows when its tools may change
        self._own, self._offers = own, offers
        self._known = None if known is None else frozenset(known)
        self._shown = _ToolCopies()
        self._error: Exception | None = None

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        """Return the tools of the toolset, none after an error, which `process_llm_request` then raises."""
        try:
            return self._offered(await self._own.get_tools_with_prefix(readonly_context))
        except Exception as error:
            self._error = error
            return []

    def _offered(self, tools: Sequence[BaseTool]) -> list[BaseTool]:
        named = {tool.name: tool for tool in tools}
        offered = [
            self._shown.copy_of(offer, tool)
            for offer in self._offers
            if (tool := named.get(offer.spec.own_name))
        ]
        rest = (
            [] if self._known is None else [tool for name, tool in named.items() if name not in self._known]
        )
        return [*offered, *map(self._unchanged, rest)]

    async def process_llm_request(self, *, tool_context: Any, llm_request: LlmRequest) -> None:
        """Process the request with the toolset. Raise its error: without its tools the agent is another."""
        if self._error is not None:
            raise self._error
        if self._known is not None:
            await self._own.process_llm_request(tool_context=tool_context, llm_request=llm_request)

    def get_auth_config(self) -> Any:
        """Return the toolset's auth config."""
        return self._own.get_auth_config()

    async def close(self) -> None:
        """Do nothing: the trial closes the toolset once, as several parts and agents may share it."""

    def _unchanged(self, tool: BaseTool) -> BaseTool:
        declared = declaration_of(tool)
        return self._shown.copy_of(Offer(spec_of(declared), changed=False), tool) if declared else tool


def _context(agent: BaseNode, state: dict[str, Any]) -> ReadonlyContext:
    """Return the context of a run that has not begun; toolsets may ask for the state of its session."""
    session = Session(id="agentmut", app_name="agentmut", user_id="user", state=dict(state))
    return ReadonlyContext(
        InvocationContext(
            session_service=InMemorySessionService(),
            invocation_id="agentmut",
            agent=agent,
            session=session,
            run_config=RunConfig(),
        )
    )
