"""Assistant agents of AutoGen and teams of them: read, and rebuilt with changes."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff
from autogen_agentchat.teams import BaseGroupChat, RoundRobinGroupChat, SelectorGroupChat
from autogen_core.models import AssistantMessage, ChatCompletionClient, UserMessage
from autogen_core.tools import Workbench
from pydantic import JsonValue

from agentmut.adapters._autogen_model import PlacedClient, read
from agentmut.adapters._autogen_tools import PassingWorkbench
from agentmut.adapters._change import Change
from agentmut.adapters._framework import Said
from agentmut.config import ModelConfig
from agentmut.errors import AdapterError, nearest
from agentmut.flow import Flow

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
class Team:
    """All assistant agents that can take part in a run, by name; an agent alone is a team of one."""

    root: AssistantAgent | BaseGroupChat
    members: Mapping[str, AssistantAgent]
    changed_name: str
    """The agent whose prompt and model are changed."""
    looping: frozenset[str]
    """Agents that go on after a tool call: where such a one ends with results of tools, a limit has stopped it."""

    @classmethod
    def of(cls, root: AssistantAgent | BaseGroupChat, chosen: JsonValue = None) -> "Team":
        """The agents of a team. Raises `AdapterError` for names that lead to two of them, or to none."""
        members: dict[str, AssistantAgent] = {}
        for agent in _assistants(root):
            if agent.name in members:
                raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
            members[agent.name] = agent
        if not members:
            raise AdapterError(
                f"the team {root.name!r} has no AssistantAgent that could be changed; run it with adapter python, "
                "agent.run and route: wire"
            )
        if chosen is not None and chosen not in members:
            raise AdapterError(
                f"agent.options.agent: there is no agent {chosen!r}. {nearest(str(chosen), members)}"
            )
        looping = (name for name, agent in members.items() if _inner(agent, "max_tool_iterations") > 1)
        return cls(root, members, str(chosen or next(iter(members))), frozenset(looping))

    @property
    def names(self) -> frozenset[str]:
        """Of all who take part, assistant agents or not."""
        return frozenset(agent.name for agent in _all(self.root))

    @property
    def prompt(self) -> str:
        """The system message."""
        return _system_message(self.members[self.changed_name]) or ""

    @property
    def model(self) -> ModelConfig:
        """The model's name and settings, as far as its client tells."""
        return read(_inner(self.members[self.changed_name], "model_client"))

    @property
    def flow(self) -> dict[str, JsonValue]:
        """The limit of steps, who may hand over to whom, and the members of teams that do without any of them."""
        handoffs: dict[str, JsonValue] = {
            name: {one.name: one.target for one in _handoffs(agent)}
            for name, agent in self.members.items()
            if _handoffs(agent)
        }
        nodes = [agent.name for agent in _participants(self.root)] if _can_do_without(self.root) else []
        limit = _limit(self.root)
        return {
            **({"max_steps": limit} if limit else {}),
            **({"handoffs": handoffs} if handoffs else {}),
            **({"nodes": [*nodes]} if len(nodes) > 1 else {}),
        }

    def workbenches(self) -> list[Workbench]:
        """Where the tools of all agents are."""
        return [workbench for agent in self.members.values() for workbench in _workbenches(agent)]

    def clients(self) -> Iterator[PlacedClient]:
        """The clients of a team that was changed."""
        for agent in self.members.values():
            yield _inner(agent, "model_client")

    def changed(self, change: Change) -> "Team":
        """A copy of the team that differs by `change`. Nothing of the original is touched."""
        root: Any = self._copied(self.root, change, Flow.of(change.wanted.orchestration))
        members = {agent.name: agent for agent in _assistants(root)}
        return Team(root, members, self.changed_name, self.looping)

    async def told(self, earlier: Sequence[Said]) -> None:
        """Give every agent messages that it has not seen."""
        for agent in self.members.values():
            for said in earlier:
                message = (
                    AssistantMessage(content=said.text, source=agent.name)
                    if said.role == "assistant"
                    else UserMessage(content=said.text, source=said.role)
                )
                await agent.model_context.add_message(message)

    def keeping(self) -> list[Any]:
        """What keeps what it was told."""
        return [self.root, *self.members.values(), *(one.model_context for one in self.members.values())]

    def holdings(self) -> list[Workbench | ChatCompletionClient]:
        """What holds connections: workbenches and clients of models."""
        teams = [one for one in _teams(self.root) if isinstance(one, SelectorGroupChat)]
        clients = [_inner(one, "model_client") for one in [*self.members.values(), *teams]]
        return [*self.workbenches(), *clients]

    async def close(self) -> None:
        """Release the connections. What cannot be released is left to the garbage collector."""
        for held in self.holdings():
            with suppress(Exception):
                await (held.stop() if isinstance(held, Workbench) else held.close())

    def _copied(self, one: Any, change: Change, flow: Flow) -> Any:
        if isinstance(one, AssistantAgent):
            limit = flow.max_steps if one is self.root else None
            return self._rebuilt(one, change, limit)
        if not isinstance(one, BaseGroupChat):
            return one
        kept = _participants(one)
        if one is self.root and _can_do_without(one) and flow.nodes:
            kept = [agent for agent in kept if agent.name in flow.nodes]
        copies = [self._copied(agent, change, flow) for agent in kept]
        return _with_participants(one, copies, flow.max_steps if one is self.root else None)

    def _rebuilt(self, agent: AssistantAgent, change: Change, limit: int | None) -> AssistantAgent:
        """A copy with what the constructor makes of the changed arguments; a subclass keeps what it has besides."""
        mine = agent.name == self.changed_name
        client = PlacedClient(_inner(agent, "model_client"), agent.name, change.model if mine else {})
        workbench = PassingWorkbench(_workbenches(agent), change, agent.name, decoys=mine)
        built = AssistantAgent(
            name=agent.name,
            description=agent.description,
            model_client=client,
            workbench=workbench,
            model_context=agent.model_context,
            handoffs=_led_elsewhere(agent, change.wanted.orchestration.get("handoffs")),
            max_tool_iterations=limit or _inner(agent, "max_tool_iterations"),
            system_message=change.prompt if mine and change.prompt is not None else _system_message(agent),
            **{name: _inner(agent, name) for name in _KEPT},
        )
        copied = copy.copy(agent)
        vars(copied).update(vars(built))
        return copied


def _inner(thing: Any, name: str) -> Any:
    """What a constructor was given as `name`; AutoGen has no public way to ask."""
    try:
        return getattr(thing, f"_{name}")
    except AttributeError:
        raise AdapterError(
            f"{type(thing).__name__} of autogen-agentchat {version('autogen-agentchat')} does not keep its {name} "
            "where agentmut looks for it; run it with adapter python, agent.run and route: wire"
        ) from None


def _all(one: Any) -> Iterator[Any]:
    """Whoever speaks, also in teams within the team."""
    if isinstance(one, BaseGroupChat):
        for participant in _participants(one):
            yield from _all(participant)
    else:
        yield one


def _teams(one: Any) -> Iterator[Any]:
    if isinstance(one, BaseGroupChat):
        yield one
        for participant in _participants(one):
            yield from _teams(participant)


def _assistants(one: Any) -> Iterator[AssistantAgent]:
    return (agent for agent in _all(one) if isinstance(agent, AssistantAgent))


def _participants(team: Any) -> list[Any]:
    return list(_inner(team, "participants")) if isinstance(team, BaseGroupChat) else []


def _workbenches(agent: AssistantAgent) -> list[Workbench]:
    return list(_inner(agent, "workbench"))


def _handoffs(agent: AssistantAgent) -> list[Handoff]:
    return list(_inner(agent, "handoffs").values())


def _system_message(agent: AssistantAgent) -> str | None:
    messages = _inner(agent, "system_messages")
    return str(messages[0].content) if messages else None


def _limit(root: Any) -> int | None:
    """Of an agent, the model calls that it goes on for; of a team, the turns of its members."""
    name = "max_turns" if isinstance(root, BaseGroupChat) else "max_tool_iterations"
    found: int | None = _inner(root, name)
    return found


def _can_do_without(team: Any) -> bool:
    """Whether members can be taken out: nobody else in the team knows their names."""
    if isinstance(team, SelectorGroupChat):
        return _inner(team, "selector_func") is None and _inner(team, "candidate_func") is None
    return isinstance(team, RoundRobinGroupChat)


def _led_elsewhere(agent: AssistantAgent, wanted: Any) -> list[Handoff | str] | None:
    """The hand-offs that are left, with their targets."""
    targets = (wanted or {}).get(agent.name, {})
    return [_led_to(one, targets[one.name]) for one in _handoffs(agent) if one.name in targets] or None


def _led_to(one: Handoff, target: str) -> Handoff:
    if one.target == target:
        return one
    said = Handoff(target=one.target).message == one.message  # a message that only names the target
    message = Handoff(target=target).message if said else one.message
    return one.model_copy(update={"target": target, "message": message})


def _with_participants(team: BaseGroupChat, participants: list[Any], limit: int | None) -> BaseGroupChat:
    """A copy of a team, of whatever kind, with other members, and queues and a runtime of its own."""
    copied = copy.copy(team)
    BaseGroupChat.__init__(
        copied,
        name=team.name,
        description=team.description,
        participants=participants,
        group_chat_manager_name=_inner(team, "group_chat_manager_name"),
        group_chat_manager_class=_inner(team, "base_group_chat_manager_class"),
        termination_condition=_inner(team, "termination_condition"),
        max_turns=limit or _inner(team, "max_turns"),
        runtime=None if _inner(team, "embedded_runtime") else _inner(team, "runtime"),
        emit_team_events=_inner(team, "emit_team_events"),
    )
    vars(copied)["_message_factory"] = _inner(
        team, "message_factory"
    )  # knows the user's own kinds of messages
    return copied
