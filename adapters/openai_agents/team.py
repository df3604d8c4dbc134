"""Agents of the OpenAI Agents SDK that hand over to each other: read, and cloned with changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents import Agent, FunctionTool
from agents.mcp import MCPServer
from agents.run_config import DEFAULT_MAX_TURNS
from pydantic import JsonValue

from agentmut._base import AdapterError, nearest
from agentmut.adapters._shared.change import Change, Offer
from agentmut.adapters.openai_agents.handoffs import handoffs_of, led_to, targets_of
from agentmut.adapters.openai_agents.mcp import Served
from agentmut.adapters.openai_agents.model import changed_model, model_of
from agentmut.adapters.openai_agents.tools import offered, spec_of
from agentmut.nouns import ModelConfig


@dataclass(frozen=True)
class Team:
    """All agents that can take part in a run, by name; the first one is where it begins."""

    members: dict[str, Agent[Any]]
    changed_name: str
    """The agent whose prompt and model are changed."""
    served: Served = field(default_factory=dict)
    """The tools of their MCP servers."""

    @classmethod
    def of(cls, first: Agent[Any], chosen: JsonValue = None) -> "Team":
        """The agent and those that it can hand over to. Raises `AdapterError` for one name of two agents."""
        members: dict[str, Agent[Any]] = {}
        _gather(first, members)
        if chosen is not None and chosen not in members:
            raise AdapterError(
                f"agent.options.agent: there is no agent {chosen!r}. {nearest(str(chosen), members)}"
            )
        return cls(members, str(chosen or first.name))

    @property
    def first(self) -> Agent[Any]:
        """Where every run begins."""
        return next(iter(self.members.values()))

    @property
    def changed_agent(self) -> Agent[Any]:
        """The agent whose prompt and model are changed."""
        return self.members[self.changed_name]

    @property
    def servers(self) -> list[MCPServer]:
        """The MCP servers of all agents, each once."""
        return list({id(one): one for agent in self.members.values() for one in agent.mcp_servers}.values())

    @property
    def prompt(self) -> str:
        """The instructions; empty where a function makes them."""
        instructions = self.changed_agent.instructions
        return instructions if isinstance(instructions, str) else ""

    @property
    def model(self) -> ModelConfig:
        """The model's name and settings."""
        return model_of(self.changed_agent)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """The limit of model calls, and who may hand over to whom."""
        handoffs: dict[str, JsonValue] = {
            name: {one.tool_name: one.agent_name for one in handoffs_of(agent)}
            for name, agent in self.members.items()
            if agent.handoffs
        }
        return {"max_steps": DEFAULT_MAX_TURNS, **({"handoffs": handoffs} if handoffs else {})}

    def tools(self, agent: Agent[Any]) -> list[FunctionTool]:
        """The tools of an agent's servers, and its functions; what the service carries out is not agentmut's."""
        functions = (tool for tool in agent.tools if isinstance(tool, FunctionTool))
        return [*self.served.get(agent.name, ()), *functions]

    def changed(self, change: Change) -> Agent[Any]:
        """The first agent of a copy of the team that differs by `change`. Nothing of the original is touched."""
        clones = {name: self._clone(agent, change) for name, agent in self.members.items()}
        wanted = change.wanted.orchestration.get("handoffs", {})
        for name, agent in self.members.items():
            targets = wanted.get(name, {}) if isinstance(wanted, dict) else {}
            clones[name].handoffs = [
                led_to(one, clones[str(targets[one.tool_name])], name)
                for one in handoffs_of(agent)
                if isinstance(targets, dict) and one.tool_name in targets
            ]
        return clones[self.first.name]

    def _clone(self, agent: Agent[Any], change: Change) -> Agent[Any]:
        mine = agent.name == self.changed_name
        own = {tool.name: tool for tool in self.tools(agent)}
        offers = change.offers(list(own), decoys=mine, told=lambda name: spec_of(own[name]))
        rest = [tool for tool in agent.tools if not isinstance(tool, FunctionTool)]
        changes: dict[str, Any] = {
            "tools": [*(offered(o, own.get(o.spec.own_name)) for o in offers), *rest],
            "mcp_servers": [],  # their tools are among the others
            "tool_use_behavior": _ended_by(agent.tool_use_behavior, offers),
        }
        if mine:
            if change.prompt is not None and not callable(agent.instructions):  # else on the wire
                changes["instructions"] = change.prompt
            changes |= changed_model(agent, change)
        settings = changes.get("model_settings", agent.model_settings)
        if settings.tool_choice in own:
            changes["model_settings"] = replace(
                settings, tool_choice=_offered_as(settings.tool_choice, offers)
            )
        return agent.clone(**changes)


def _gather(agent: Agent[Any], members: dict[str, Agent[Any]]) -> None:
    if agent.name in members:
        if members[agent.name] is not agent:
            raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
        return
    members[agent.name] = agent
    for target in targets_of(agent):
        _gather(target, members)


def _offered_as(own_name: str, offers: Sequence[Offer]) -> str | None:
    """The name under which the model knows a tool; None for one that it is not offered, as services demand."""
    return next((offer.spec.name for offer in offers if offer.spec.own_name == own_name), None)


def _ended_by(behavior: Any, offers: Sequence[Offer]) -> Any:
    """What the agent does after calls of tools; a call that ends its run does so under another name, too."""
    if not isinstance(behavior, dict):
        return behavior
    ending = set(behavior.get("stop_at_tool_names", ()))
    known = [offer.spec.name for offer in offers if offer.spec.own_name in ending]
    return {**behavior, "stop_at_tool_names": known}
