"""The parts of AutoGen's agents and teams: read, and assembled anew with changed parts.

AutoGen has no public way to ask for most of it.
"""

import copy
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff
from autogen_agentchat.teams import BaseGroupChat, RoundRobinGroupChat, SelectorGroupChat
from autogen_core.tools import Workbench

from agentmut._base import AdapterError


def argument_of(thing: Any, name: str) -> Any:
    """Return what a constructor was given as `name`; AutoGen has no public way to ask."""
    try:
        return getattr(thing, f"_{name}")
    except AttributeError:
        raise AdapterError(
            f"{type(thing).__name__} of autogen-agentchat {version('autogen-agentchat')} does not keep its {name} "
            "where agentmut looks for it; run it with adapter python, agent.run and route: wire"
        ) from None


def placed(speaker: Any, teams: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield every speaker below an agent or team, with the teams that contain the speaker."""
    if not isinstance(speaker, BaseGroupChat):
        yield speaker, teams
        return
    for participant in members_of(speaker):
        inner = (*teams, participant.name) if isinstance(participant, BaseGroupChat) else teams
        yield from placed(participant, inner)


def teams_in(speaker: Any) -> Iterator[Any]:
    """Yield a team and every team among its members, at any depth."""
    if isinstance(speaker, BaseGroupChat):
        yield speaker
        for participant in members_of(speaker):
            yield from teams_in(participant)


def assistants_in(speaker: Any) -> Iterator[AssistantAgent]:
    """Give the assistant agents of a team, at any depth."""
    return (agent for agent, _ in placed(speaker) if isinstance(agent, AssistantAgent))


def members_of(team: Any) -> list[Any]:
    """Return the participants of a team; none for a single agent."""
    return list(argument_of(team, "participants")) if isinstance(team, BaseGroupChat) else []


def workbenches_of(agent: AssistantAgent) -> list[Workbench]:
    """Give the workbenches that hold the tools of an agent."""
    return list(argument_of(agent, "workbench"))


def terminations_of(team: Any) -> Iterator[Any]:
    """Yield the stopping conditions of a team, which have state, and the conditions inside them."""
    waiting = [argument_of(team, "termination_condition")]
    while waiting:
        if (one := waiting.pop()) is not None:
            yield one
            waiting += getattr(one, "_conditions", ())


def handoffs_of(agent: AssistantAgent) -> list[Handoff]:
    """Give the hand-offs of an agent."""
    return list(argument_of(agent, "handoffs").values())


def system_message(agent: AssistantAgent) -> str | None:
    """Return an agent's system message; None if it has none."""
    messages = argument_of(agent, "system_messages")
    return str(messages[0].content) if messages else None


def limit_of(root: Any) -> int | None:
    """Return an agent's limit of model calls, or a team's limit of its members' turns."""
    name = "max_turns" if isinstance(root, BaseGroupChat) else "max_tool_iterations"
    found: int | None = argument_of(root, name)
    return found


def can_do_without(team: Any) -> bool:
    """Return whether members can be removed, because no other part of the team knows their names."""
    if isinstance(team, SelectorGroupChat):
        return argument_of(team, "selector_func") is None and argument_of(team, "candidate_func") is None
    return isinstance(team, RoundRobinGroupChat)


def led_elsewhere(agent: AssistantAgent, wanted: Any) -> list[Handoff | str] | None:
    """Return the remaining hand-offs with their new targets."""
    targets = (wanted or {}).get(agent.name, {})
    return [led_to(one, targets[one.name]) for one in handoffs_of(agent) if one.name in targets] or None


def led_to(handoff: Handoff, target: str) -> Handoff:
    """Return a copy of a hand-off that leads to `target`."""
    if handoff.target == target:
        return handoff
    said = Handoff(target=handoff.target).message == handoff.message  # a message that only names the target
    message = Handoff(target=target).message if said else handoff.message
    return handoff.model_copy(update={"target": target, "message": message})


def with_participants(team: BaseGroupChat, participants: list[Any], limit: int | None) -> BaseGroupChat:
    """Return a copy of a team of any kind with other members, new queues and a new runtime."""
    copied = copy.copy(team)
    BaseGroupChat.__init__(
        copied,
        name=team.name,
        description=team.description,
        participants=participants,
        group_chat_manager_name=argument_of(team, "group_chat_manager_name"),
        group_chat_manager_class=argument_of(team, "base_group_chat_manager_class"),
        termination_condition=argument_of(team, "termination_condition"),
        max_turns=limit or argument_of(team, "max_turns"),
        runtime=None if argument_of(team, "embedded_runtime") else argument_of(team, "runtime"),
        emit_team_events=argument_of(team, "emit_team_events"),
    )
    # knows the user's own kinds of messages
    vars(copied)["_message_factory"] = argument_of(team, "message_factory")
    return copied
