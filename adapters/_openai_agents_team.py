"""Agents of the OpenAI Agents SDK that hand over to each other: read, and cloned with changes."""

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from agents import Agent, FunctionTool, Handoff, ModelSettings, handoff
from agents.run_config import DEFAULT_MAX_TURNS
from openai.types.shared import Reasoning
from pydantic import JsonValue

from agentmut.adapters._change import Change
from agentmut.adapters._openai_agents_tools import offered
from agentmut.config import ModelConfig
from agentmut.errors import AdapterError, nearest
from agentmut.trial import CallPlace, call_place, call_tool_step, current_trial

_SAME = ("temperature", "top_p", "max_tokens", "tool_choice")


@dataclass(frozen=True)
class Team:
    """All agents that can take part in a run, by name; the first one is where it begins."""

    members: dict[str, Agent[Any]]
    changed_name: str
    """The agent whose prompt and model are changed."""

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
    def prompt(self) -> str:
        """The instructions; empty where a function makes them."""
        instructions = self.members[self.changed_name].instructions
        return instructions if isinstance(instructions, str) else ""

    @property
    def model(self) -> ModelConfig:
        """The model's name and settings; empty where the SDK chooses."""
        agent = self.members[self.changed_name]
        settings = agent.model_settings
        said = {name: getattr(settings, name) for name in _SAME}
        if not isinstance(said["tool_choice"], str | None):
            said["tool_choice"] = None
        effort = settings.reasoning.effort if settings.reasoning else None
        return ModelConfig(provider="openai", name=_model_name(agent), reasoning_effort=effort, **said)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """The limit of model calls, and who may hand over to whom."""
        handoffs: dict[str, JsonValue] = {
            name: {one.tool_name: one.agent_name for one in _handoffs(agent)}
            for name, agent in self.members.items()
            if agent.handoffs
        }
        return {"max_steps": DEFAULT_MAX_TURNS, **({"handoffs": handoffs} if handoffs else {})}

    def tools(self, agent: Agent[Any]) -> list[FunctionTool]:
        """The function tools of an agent; those that the service carries out are not agentmut's to change."""
        return [tool for tool in agent.tools if isinstance(tool, FunctionTool)]

    def changed(self, change: Change) -> Agent[Any]:
        """The first agent of a copy of the team that differs by `change`. Nothing of the original is touched."""
        clones = {name: self._clone(agent, change) for name, agent in self.members.items()}
        wanted = change.wanted.orchestration.get("handoffs", {})
        for name, agent in self.members.items():
            targets = wanted.get(name, {}) if isinstance(wanted, dict) else {}
            clones[name].handoffs = [
                _led_to(one, clones[str(targets[one.tool_name])], name)
                for one in _handoffs(agent)
                if isinstance(targets, dict) and one.tool_name in targets
            ]
        return clones[self.first.name]

    def _clone(self, agent: Agent[Any], change: Change) -> Agent[Any]:
        mine = agent.name == self.changed_name
        own = {tool.name: tool for tool in self.tools(agent)}
        offers = change.offers(list(own), decoys=mine)
        rest = [tool for tool in agent.tools if not isinstance(tool, FunctionTool)]
        changes: dict[str, Any] = {"tools": [*(offered(o, own.get(o.spec.own_name)) for o in offers), *rest]}
        if mine:
            changes |= _own_changes(agent, change)
        return agent.clone(**changes)


def _gather(agent: Agent[Any], members: dict[str, Agent[Any]]) -> None:
    if agent.name in members:
        if members[agent.name] is not agent:
            raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
        return
    members[agent.name] = agent
    for one in agent.handoffs:
        if isinstance(target := _target(one), Agent):
            _gather(target, members)


def _target(one: Any) -> Any:
    """The agent that a hand-off leads to; None where a function of the user's decides."""
    if isinstance(one, Agent):
        return one
    reference = getattr(one, "_agent_ref", None)
    return reference() if reference is not None else None


def _handoffs(agent: Agent[Any]) -> list[Handoff[Any, Any]]:
    return [handoff(one) if isinstance(one, Agent) else one for one in agent.handoffs]


def _led_to(one: Handoff[Any, Any], target: Agent[Any], source: str) -> Handoff[Any, Any]:
    """The same hand-off that leads to `target`, and is a step of the trace."""
    invoke: Callable[[Any, str], Awaitable[Any]] = one.on_invoke_handoff

    async def carried_out(context: Any, text: str) -> Any:
        trial = current_trial()
        started = trial.recorder.now() if trial else 0.0
        await invoke(context, text)  # what the user has it do besides
        if trial:
            place = CallPlace(call_place().turn, source)
            step = call_tool_step(
                one.tool_name, {}, trial.recorder, started, output=target.name, **place._asdict()
            )
            trial.recorder.steps.append(step)
        return target

    return replace(one, on_invoke_handoff=carried_out, agent_name=target.name)


def _own_changes(agent: Agent[Any], change: Change) -> dict[str, Any]:
    changes: dict[str, Any] = {} if change.prompt is None else {"instructions": change.prompt}
    settings = dict(change.model)
    if name := settings.pop("name", None):
        changes["model"] = _renamed(agent.model, name)
    settings.pop("provider", None)
    if settings:
        changes["model_settings"] = _with_settings(agent.model_settings, settings)
    elif "model" in changes:
        changes["model_settings"] = agent.model_settings  # else the SDK takes those of the new model
    return changes


def _with_settings(before: ModelSettings, settings: dict[str, Any]) -> ModelSettings:
    changes = {name: value for name, value in settings.items() if name in _SAME}
    if "reasoning_effort" in settings:
        effort = settings["reasoning_effort"]
        changes["reasoning"] = Reasoning(effort=effort) if effort else None
    return replace(before, **changes)


def _model_name(agent: Agent[Any]) -> str:
    return agent.model if isinstance(agent.model, str) else str(getattr(agent.model, "model", "") or "")


def _renamed(model: Any, name: str) -> Any:
    """The model under another name; one with a client of its own keeps that."""
    if model is None or isinstance(model, str):
        return name
    renamed = copy.copy(model)
    renamed.model = name
    return renamed
