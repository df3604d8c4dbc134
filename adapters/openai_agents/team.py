"""Agents of the OpenAI Agents SDK that hand over to each other, and their models: read, and cloned with changes."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents import Agent, FunctionTool, ModelSettings
from agents.mcp import MCPServer
from agents.models import get_default_model
from agents.run_config import DEFAULT_MAX_TURNS
from openai.types.shared import Reasoning
from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change, Offer
from agentmut.adapters._shared.members import Members, check_chosen, reached
from agentmut.adapters.openai_agents.handoffs import handoffs_of, led_to, targets_of
from agentmut.adapters.openai_agents.mcp import Served
from agentmut.adapters.openai_agents.tools import offered, spec_of
from agentmut.nouns import ModelConfig


@dataclass(frozen=True)
class Team(Members[Agent[Any]]):
    """All agents that can take part in a run, by name; a run begins with the first."""

    served: Served = field(default_factory=dict)
    """The tools of their MCP servers."""

    @classmethod
    def from_agent(cls, first: Agent[Any], chosen: JsonValue = None) -> "Team":
        """Return the agent and its hand-off agents. Raise `AdapterError` for two agents with one name."""
        members = reached(first, targets_of)
        check_chosen(chosen, members)
        return cls(members, str(chosen or first.name))

    @property
    def servers(self) -> list[MCPServer]:
        """Return the MCP servers of all agents, each once."""
        return list({id(one): one for agent in self.members.values() for one in agent.mcp_servers}.values())

    @property
    def prompt(self) -> str:
        """Return the instructions; empty if a function makes them."""
        instructions = self.changed_agent.instructions
        return instructions if isinstance(instructions, str) else ""

    @property
    def model(self) -> ModelConfig:
        """Return the model's name and settings."""
        return model_of(self.changed_agent)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the limit of model calls, and who may hand over to whom."""
        handoffs = self.handoffs(
            lambda _, agent: {one.tool_name: one.agent_name for one in handoffs_of(agent)}
        )
        return {"max_steps": DEFAULT_MAX_TURNS, **handoffs}

    def tools(self, agent: Agent[Any]) -> list[FunctionTool]:
        """Return the tools of an agent's servers and its functions; the service's own tools are left out."""
        functions = (tool for tool in agent.tools if isinstance(tool, FunctionTool))
        return [*self.served.get(agent.name, ()), *functions]

    def changed(self, change: Change) -> Agent[Any]:
        """Return the first agent of a copy of the team that differs by `change`. Nothing of the original is touched."""
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
        offers = change.offers(list(own), decoys=mine, described=lambda name: spec_of(own[name]))
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


def _offered_as(own_name: str, offers: Sequence[Offer]) -> str | None:
    """Return the model's name for a tool; None if the tool is not offered."""
    return next((offer.spec.name for offer in offers if offer.spec.own_name == own_name), None)


def _ended_by(behavior: Any, offers: Sequence[Offer]) -> Any:
    """Return the agent's behaviour after tool calls; a call that ends the run does so under its new name too."""
    if not isinstance(behavior, dict):
        return behavior
    ending = set(behavior.get("stop_at_tool_names", ()))
    known = [offer.spec.name for offer in offers if offer.spec.own_name in ending]
    return {**behavior, "stop_at_tool_names": known}


_SAME = ("temperature", "top_p", "max_tokens", "tool_choice")


def model_of(agent: Agent[Any]) -> ModelConfig:
    """Return name and settings of the model; the name is empty for a model object without one."""
    settings = agent.model_settings
    said = {name: getattr(settings, name) for name in _SAME}
    if not isinstance(said["tool_choice"], str | None):
        said["tool_choice"] = None
    effort = settings.reasoning.effort if settings.reasoning else None
    return ModelConfig(provider="openai", name=_name(agent.model), reasoning_effort=effort, **said)


def changed_model(agent: Agent[Any], change: Change) -> dict[str, Any]:
    """Return the changed model and settings of an agent.

    Raises `AdapterError` for a model that has no name to change.
    """
    settings = dict(change.model)
    settings.pop("provider", None)
    changes: dict[str, Any] = {}
    if name := settings.pop("name", None):
        changes["model"] = _renamed(agent.model, name)
    if settings:
        changes["model_settings"] = _with_settings(agent.model_settings, settings)
    elif changes:
        changes["model_settings"] = agent.model_settings  # else the SDK takes those of the new model
    return changes


def _with_settings(before: ModelSettings, settings: dict[str, Any]) -> ModelSettings:
    changes = {name: value for name, value in settings.items() if name in _SAME}
    if "reasoning_effort" in settings:
        effort = settings["reasoning_effort"]
        changes["reasoning"] = Reasoning(effort=effort) if effort else None
    return replace(before, **changes)


def _name(model: Any) -> str:
    if model is None:
        return get_default_model()
    name = model if isinstance(model, str) else getattr(model, "model", "")
    return name if isinstance(name, str) else ""


def _renamed(model: Any, name: str) -> Any:
    """Return the model under another name, with the same client if it has its own."""
    if model is None or isinstance(model, str):
        return name
    if not _name(model):
        raise AdapterError(
            f"the model of the agent, a {type(model).__name__}, has no attribute `model` with its name, so that "
            f"it cannot become {name}"
        )
    renamed = copy.copy(model)
    renamed.model = name
    return renamed
