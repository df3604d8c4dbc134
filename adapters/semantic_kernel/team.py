"""Agents of Semantic Kernel that are plugins of each other: read, and copied with changes."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import JsonValue
from semantic_kernel.agents import Agent, ChatCompletionAgent
from semantic_kernel.functions import KernelFunction, KernelFunctionFromMethod

from agentmut._base import AdapterError
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.members import Members, check_chosen
from agentmut.adapters._shared.sdk_version import named_version
from agentmut.adapters.semantic_kernel.copy import asking_copy, copy_of
from agentmut.adapters.semantic_kernel.model import Model
from agentmut.adapters.semantic_kernel.orchestration import (
    RecordedAgent,
    can_do_without,
    handoffs_of,
    is_orchestration,
    members_of,
    with_members,
)
from agentmut.adapters.semantic_kernel.tools import offered, spec_of
from agentmut.nouns import AgentConfig, Flow, ModelConfig
from agentmut.recording import Trial


def is_supported(found: Any) -> bool:
    """Return whether every part of the agent or orchestration can be read and copied."""
    return isinstance(found, ChatCompletionAgent) or is_orchestration(found)


def is_other_kind(found: Any) -> bool:
    """Return whether the object is an agent of another kind, or several such agents."""
    kinds = (kind.__module__ for kind in type(found).__mro__)
    return any(kind.startswith("semantic_kernel.agents.") for kind in kinds) and not is_supported(found)


@dataclass(frozen=True)
class Member:
    """An agent, and the functions that it may call."""

    agent: ChatCompletionAgent

    @cached_property
    def model(self) -> Model:
        """Return the agent's service and settings."""
        return Model.from_agent(self.agent)

    @cached_property
    def offered(self) -> dict[str, KernelFunction]:
        """Return the functions that the model gets, by the model's names."""
        behavior, kernel = self.model.behavior, self.agent.kernel
        if behavior is None or not behavior.enable_kernel_functions:
            return {}
        functions = {f.fully_qualified_name: f for plugin in kernel.plugins.values() for f in plugin}
        offered = behavior.get_config(kernel).available_functions or ()
        return {one.fully_qualified_name: functions[one.fully_qualified_name] for one in offered}

    @cached_property
    def handoffs(self) -> dict[str, Agent]:
        """Return the agent's functions that ask another agent."""
        targets = {name: _agent_behind(function) for name, function in self.offered.items()}
        return {name: agent for name, agent in targets.items() if agent is not None}

    @property
    def tools(self) -> dict[str, KernelFunction]:
        """Return the agent's functions that ask no other agent."""
        return {name: one for name, one in self.offered.items() if name not in self.handoffs}

    @property
    def prompt(self) -> str:
        """Return the template of its instructions, which is rendered when the agent first runs."""
        template = self.agent.prompt_template
        return (template.prompt_template_config.template if template else self.agent.instructions) or ""


@dataclass(frozen=True)
class Team(Members[Member]):
    """All agents that can take part in a run, by name; without an orchestration, the first is asked."""

    whole: Any

    @classmethod
    def from_agent(cls, whole: Any, chosen: JsonValue = None) -> "Team":
        """Return the agents and those that they can ask. Raise `AdapterError` for two agents with one name."""
        members: dict[str, Member] = {}
        first = members_of(whole) if is_orchestration(whole) else [whole]
        for agent in first:
            _gather(agent, members)
        check_chosen(chosen, members)
        return cls(members, str(chosen or first[0].name), whole)

    @property
    def prompt(self) -> str:
        """Return the instructions, as a template."""
        return self.changed_agent.prompt

    @property
    def model(self) -> ModelConfig:
        """Return the model's name and settings."""
        return self.changed_agent.model.config(offers=bool(self.changed_agent.offered))

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return how often the agent that is changed may call functions, and who may ask whom."""
        behavior = self.changed_agent.model.behavior
        limit = behavior.maximum_auto_invoke_attempts if behavior else 0
        nodes: list[JsonValue] = [one.name for one in members_of(self.whole)] if self._spares else []
        return {
            **({"max_steps": limit} if limit else {}),
            **self.handoffs(
                lambda name, member: (
                    {tool: other.name for tool, other in member.handoffs.items()} | self._leads(name)
                )
            ),
            **({"nodes": nodes} if len(nodes) > 1 else {}),
        }

    @property
    def _spares(self) -> bool:
        return is_orchestration(self.whole) and can_do_without(self.whole)

    def _leads(self, name: str) -> dict[str, str]:
        """Return where functions lead that the orchestration gives an agent."""
        return handoffs_of(self.whole).get(name, {}) if is_orchestration(self.whole) else {}

    def changed(self, change: Change, trial: Trial) -> Any:
        """Return a copy of what is asked that differs by `change`. Nothing of the original is touched."""
        copies: dict[str, ChatCompletionAgent] = {}
        for name in self.members:
            copies[name] = self._copied(name, change, copies, trial)
        if not is_orchestration(self.whole):
            return next(iter(copies.values()))
        flow = Flow.from_orchestration(change.wanted.orchestration)
        names = [one.name for one in members_of(self.whole)]
        if self._spares and flow.nodes:
            names = [name for name in names if name in flow.nodes]
        placed = [RecordedAgent.from_agent(copies[name], flow.handoffs.get(name, {})) for name in names]
        return with_members(self.whole, placed)

    def _copied(
        self, name: str, change: Change, copies: Mapping[str, ChatCompletionAgent], trial: Trial
    ) -> ChatCompletionAgent:
        member, mine = self.members[name], name == self.changed_name
        offers = change.offers(
            list(member.tools), decoys=mine, described=lambda tool: spec_of(member.tools[tool])
        )
        tools = [offered(one, member.tools.get(one.spec.own_name)) for one in offers]
        asking = {
            tool: asking_copy(member.offered[tool], target, name, copies, trial)
            for tool, target in _targets(change.wanted, name, member).items()
        }
        return copy_of(member.agent, member.model, _in_order(member, tools, asking), change if mine else None)


def _targets(wanted: AgentConfig, name: str, member: Member) -> dict[str, str]:
    """Return which agent each of the functions that stay leads to."""
    handoffs = Flow.from_orchestration(wanted.orchestration).handoffs.get(name, {})
    return {tool: handoffs[tool] for tool in member.handoffs if tool in handoffs}


def _in_order(
    member: Member, tools: Sequence[KernelFunction], asking: Mapping[str, KernelFunction]
) -> list[KernelFunction]:
    """Return the tools in order; the functions that ask agents keep their places."""
    rest = iter(tools)
    found = (asking.get(name) if name in member.handoffs else next(rest, None) for name in member.offered)
    return [one for one in found if one is not None] + list(rest)


def _gather(agent: ChatCompletionAgent, members: dict[str, Member]) -> None:
    if agent.name in members:
        if members[agent.name].agent is not agent:
            raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
        return
    members[agent.name] = Member(agent)
    for other in members[agent.name].handoffs.values():
        if not isinstance(other, ChatCompletionAgent):
            raise AdapterError(
                f"agent {agent.name!r} asks a {type(other).__name__}, {other.name!r}, which keeps its instructions "
                f"elsewhere; mutants can reach the agents by their model requests: {ON_THE_WIRE}"
            )
        _gather(other, members)


def _agent_behind(function: KernelFunction) -> Agent | None:
    """Return the agent that a function asks; None if the function is not made from an agent."""
    if not isinstance(function, KernelFunctionFromMethod):
        return None
    method = function.method
    if getattr(method, "__module__", "") != Agent.__module__:
        return None
    found = inspect.getclosurevars(method).nonlocals.get("self")
    if not isinstance(found, Agent):
        raise AdapterError(
            f"the agent behind the function {function.fully_qualified_name} is not where agentmut knows it of "
            f"{named_version('semantic-kernel')}; mutants can reach the agents by {ON_THE_WIRE}"
        )
    return found
