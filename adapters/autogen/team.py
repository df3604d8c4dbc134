"""Assistant agents of AutoGen and teams of them: read, and rebuilt with changes."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import BaseGroupChat, SelectorGroupChat
from autogen_core.models import AssistantMessage, ChatCompletionClient, UserMessage
from autogen_core.tools import Workbench
from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.framework import EarlierMessage
from agentmut.adapters._shared.members import Members, check_chosen
from agentmut.adapters.autogen.model import PlacedClient, read
from agentmut.adapters.autogen.parts import (
    argument_of,
    assistants_in,
    can_do_without,
    handoffs_of,
    led_elsewhere,
    limit_of,
    members_of,
    placed,
    system_message,
    teams_in,
    terminations_of,
    with_participants,
    workbenches_of,
)
from agentmut.adapters.autogen.tools import PassingWorkbench
from agentmut.nouns import Flow, ModelConfig

_KEPT = (
    "model_client_stream",
    "reflect_on_tool_use",
    "tool_call_summary_format",
    "tool_call_summary_formatter",
    "output_content_type",
    "output_content_type_format",
    "memory",
    "metadata",
)
"""Arguments of an AssistantAgent's constructor that agentmut leaves as they are."""


@dataclass(frozen=True)
class Team(Members[AssistantAgent]):
    """All assistant agents that can take part in a run, by name; a single agent is a team of one."""

    root: AssistantAgent | BaseGroupChat
    looping: frozenset[str]
    """Agents that go on after a tool call: where such a one ends with results of tools, a limit has stopped it."""

    @classmethod
    def from_agent(cls, root: AssistantAgent | BaseGroupChat, chosen: JsonValue = None) -> "Team":
        """Read the agents of a team. Raise `AdapterError` for a name of two agents or of none."""
        members: dict[str, AssistantAgent] = {}
        for agent in assistants_in(root):
            if agent.name in members:
                raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
            members[agent.name] = agent
        if not members:
            raise AdapterError(
                f"the team {root.name!r} has no AssistantAgent that could be changed; run it with adapter python, "
                "agent.run and route: wire"
            )
        check_chosen(chosen, members)
        looping = (name for name, agent in members.items() if argument_of(agent, "max_tool_iterations") > 1)
        return cls(members, str(chosen or next(iter(members))), root, frozenset(looping))

    @property
    def places(self) -> dict[str, tuple[str, ...]]:
        """Return all participants, assistant agents or not, with the teams that contain each."""
        return {agent.name: teams for agent, teams in placed(self.root)}

    @property
    def prompt(self) -> str:
        """Return the system message."""
        return system_message(self.changed_agent) or ""

    @property
    def model(self) -> ModelConfig:
        """Return the model's name and settings, as far as its client knows."""
        return read(argument_of(self.changed_agent, "model_client"))

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the step limit, the hand-offs, and the members of teams that work without one member."""
        nodes = [agent.name for agent in members_of(self.root)] if can_do_without(self.root) else []
        limit = limit_of(self.root)
        return {
            **({"max_steps": limit} if limit else {}),
            **self.handoffs(lambda _, agent: {one.name: one.target for one in handoffs_of(agent)}),
            **({"nodes": [*nodes]} if len(nodes) > 1 else {}),
        }

    def workbenches(self) -> list[Workbench]:
        """Return where the tools of all agents are."""
        return [workbench for agent in self.members.values() for workbench in workbenches_of(agent)]

    def clients(self) -> Iterator[PlacedClient]:
        """Yield the clients of a team that was changed."""
        for agent in self.members.values():
            yield argument_of(agent, "model_client")

    def changed(self, change: Change) -> "Team":
        """Return a copy of the team that differs by `change`. Nothing of the original is touched."""
        root: Any = self._copied(self.root, change, Flow.from_orchestration(change.wanted.orchestration))
        members = {agent.name: agent for agent in assistants_in(root)}
        return Team(members, self.changed_name, root, self.looping)

    async def give_messages(self, earlier: Sequence[EarlierMessage]) -> None:
        """Give every agent the messages that it has not seen."""
        for agent in self.members.values():
            for said in earlier:
                message = (
                    AssistantMessage(content=said.text, source=agent.name)
                    if said.role == "assistant"
                    else UserMessage(content=said.text, source=said.role)
                )
                await agent.model_context.add_message(message)

    def keeping(self) -> list[Any]:
        """Return the objects that keep messages."""
        contexts = [one.model_context for one in self.members.values()]
        stops = [stop for team in teams_in(self.root) for stop in terminations_of(team)]
        return [self.root, *self.members.values(), *contexts, *stops]

    def passes(self, agent: str, tool: str) -> bool:
        """Return whether calls of a tool, by the name that is offered, are passed on by a workbench of agentmut."""
        member = self.members.get(agent)
        found = workbenches_of(member)[0] if member else None
        return isinstance(found, PassingWorkbench) and found.offers(tool)

    def holdings(self) -> list[Workbench | ChatCompletionClient]:
        """Return what holds connections: workbenches and clients of models."""
        teams = [one for one in teams_in(self.root) if isinstance(one, SelectorGroupChat)]
        clients = [argument_of(one, "model_client") for one in [*self.members.values(), *teams]]
        return [*self.workbenches(), *clients]

    async def close(self) -> None:
        """Release the connections. What cannot be released is left to the garbage collector."""
        for held in self.holdings():
            with suppress(Exception):
                await (held.stop() if isinstance(held, Workbench) else held.close())

    def _copied(self, speaker: Any, change: Change, flow: Flow) -> Any:
        if isinstance(speaker, AssistantAgent):
            limit = flow.max_steps if speaker is self.root else None
            return self._rebuilt(speaker, change, limit)
        if not isinstance(speaker, BaseGroupChat):
            return speaker
        kept = members_of(speaker)
        if speaker is self.root and can_do_without(speaker) and flow.nodes:
            kept = [agent for agent in kept if agent.name in flow.nodes]
        copies = [self._copied(agent, change, flow) for agent in kept]
        return with_participants(speaker, copies, flow.max_steps if speaker is self.root else None)

    def _rebuilt(self, agent: AssistantAgent, change: Change, limit: int | None) -> AssistantAgent:
        """Return a copy from the constructor with changed arguments; a subclass keeps its further attributes."""
        mine = agent.name == self.changed_name
        client = PlacedClient(argument_of(agent, "model_client"), agent.name, change.model if mine else {})
        workbench = PassingWorkbench(workbenches_of(agent), change, agent.name, decoys=mine)
        built = AssistantAgent(
            name=agent.name,
            description=agent.description,
            model_client=client,
            workbench=workbench,
            model_context=agent.model_context,
            handoffs=led_elsewhere(agent, change.wanted.orchestration.get("handoffs")),
            max_tool_iterations=limit or argument_of(agent, "max_tool_iterations"),
            system_message=change.prompt if mine and change.prompt is not None else system_message(agent),
            **{name: argument_of(agent, name) for name in _KEPT},
        )
        copied = copy.copy(agent)
        vars(copied).update(vars(built))
        return copied
