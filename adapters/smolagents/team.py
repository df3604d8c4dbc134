"""Agents of smolagents that manage others: read, and copied with changes."""

import copy
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from pydantic import JsonValue
from rich.console import Console
from smolagents import (
    ActionStep,
    AgentLogger,
    AgentMemory,
    CodeAgent,
    LocalPythonExecutor,
    LogLevel,
    Monitor,
    MultiStepAgent,
)
from smolagents.memory import CallbackRegistry

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.members import Members, check_chosen, reached
from agentmut.adapters.smolagents.calls import Calls, Member
from agentmut.adapters.smolagents.model import changed_model, model_of
from agentmut.adapters.smolagents.tools import offered, own_tools, spec_of
from agentmut.nouns import Flow, ModelConfig
from agentmut.recording import Trial


def name_of(agent: MultiStepAgent) -> str:
    """Return the agent's name; the first agent usually has none."""
    return str(agent.name or type(agent).__name__)


@dataclass(frozen=True)
class Team(Members[MultiStepAgent]):
    """All agents that can take part in a run, by name; a run begins with the first."""

    whole_prompt: bool
    """Whether the prompt is the template of the whole system prompt, not the instructions in it."""

    @classmethod
    def from_agent(
        cls, first: MultiStepAgent, chosen: JsonValue = None, *, whole_prompt: bool = False
    ) -> "Team":
        """Return the agent and its managed agents. Raise `AdapterError` for an agent that cannot run."""
        members = reached(first, lambda agent: managed(agent).values(), name_of)
        for agent in members.values():
            _check_executor(agent)
        check_chosen(chosen, members)
        return cls(members, str(chosen or name_of(first)), whole_prompt)

    @property
    def prompt(self) -> str:
        """Return the instructions, or the template; empty if there are none."""
        agent = self.changed_agent
        return str(
            (agent.prompt_templates["system_prompt"] if self.whole_prompt else agent.instructions) or ""
        )

    @property
    def model(self) -> ModelConfig:
        """Return the model's name and settings."""
        return model_of(self.changed_agent)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the limit of steps, and who manages whom."""
        handoffs = self.handoffs(
            lambda _, agent: {one: name_of(other) for one, other in managed(agent).items()}
        )
        return {"max_steps": self.first.max_steps, **handoffs}

    @staticmethod
    def in_code(agent: MultiStepAgent) -> bool:
        """Return whether the agent calls its tools in code."""
        return isinstance(agent, CodeAgent)

    def changed(self, change: Change, trial: Trial) -> MultiStepAgent:
        """Return the first agent of a new copy of the team with `change`. The original does not change."""
        ids = Calls(trial)
        copies = {name: self._copy(name, agent, change, ids) for name, agent in self.members.items()}
        flow = Flow.from_orchestration(change.wanted.orchestration)
        for name, agent in self.members.items():
            targets = flow.handoffs.get(name, {})
            copies[name].managed_agents = {
                called: Member(called, other, copies[targets[called]], name, ids, trial.recorder)
                for called, other in managed(agent).items()
                if called in targets
            } | {called: o for called, o in agent.managed_agents.items() if called not in managed(agent)}
        first = copies[name_of(self.first)]
        first.max_steps = flow.max_steps or first.max_steps
        return first

    def _copy(self, name: str, agent: MultiStepAgent, change: Change, ids: Calls) -> Any:
        mine = name == self.changed_name
        found = _fresh(agent)
        found.step_callbacks.register(ActionStep, ids.note_lost)
        own = own_tools(agent)
        offers = change.offers(list(own), decoys=mine, described=lambda name: spec_of(own[name], agent))
        tools = [offered(offer, own.get(offer.spec.own_name), agent, ids) for offer in offers]
        rest = {name: tool for name, tool in agent.tools.items() if name not in own}
        found.tools = {**{tool.name: tool for tool in tools}, **rest}
        if mine and change.prompt is not None:
            self._set_prompt(found, change)
        if mine and change.model:
            found.model = changed_model(agent.model, change.model)
        return found

    def _set_prompt(self, agent: Any, change: Change) -> None:
        if not self.whole_prompt:
            agent.instructions = change.prompt
            return
        wanted = change.wanted
        documents = wanted.system_text().removeprefix(wanted.prompt).replace("{", "{{ '{' }}")
        agent.prompt_templates = {**agent.prompt_templates, "system_prompt": wanted.prompt + documents}


def managed(agent: MultiStepAgent) -> dict[str, MultiStepAgent]:
    """Return the agents that an agent manages, by the names under which it calls them."""
    return {name: one for name, one in agent.managed_agents.items() if isinstance(one, MultiStepAgent)}


def _fresh(agent: MultiStepAgent) -> Any:
    """Return a copy that remembers nothing, prints nothing and shares no state with the agent."""
    found: Any = copy.copy(agent)
    found.logger = AgentLogger(level=LogLevel.OFF, console=Console(quiet=True))
    found.memory = AgentMemory("")  # each run puts the system prompt there
    found.state = dict(agent.state)
    found.monitor = Monitor(agent.model, found.logger)
    found.step_callbacks = _callbacks(agent, found.monitor)
    if isinstance(agent, CodeAgent):
        found.python_executor = _executor(agent)
    return found


def _callbacks(agent: MultiStepAgent, monitor: Monitor) -> CallbackRegistry:
    """Return the user's callbacks with another monitor: the agent's own one counts its runs, and prints."""
    registered = getattr(agent.step_callbacks, "_callbacks", None)
    if not isinstance(registered, dict):
        raise AdapterError(
            f"smolagents {version('smolagents')} keeps its step callbacks in another place than adapter smolagents "
            "knows; let mutants reach the agent through its model requests (adapter python with agent.run)"
        )
    found = CallbackRegistry()
    for step, callbacks in registered.items():
        for callback in callbacks:
            if callback != agent.monitor.update_metrics:
                found.register(step, callback)
    found.register(ActionStep, monitor.update_metrics)
    return found


def _check_executor(agent: MultiStepAgent) -> None:
    """Raise `AdapterError` where code runs in a sandbox."""
    executor = getattr(agent, "python_executor", None)
    if executor is not None and not isinstance(executor, LocalPythonExecutor):
        raise AdapterError(
            f"agent {name_of(agent)!r} runs its code in a {type(executor).__name__}, where calls of tools cannot be "
            "seen; build it with executor_type='local', or let mutants reach the agent through its model requests "
            "(adapter python with agent.run, or adapter command)"
        )


def _executor(agent: CodeAgent) -> Any:
    """Copy the agent's executor with new variables."""
    found: Any = copy.copy(agent.python_executor)
    found.state, found.custom_tools = dict(found.state), dict(found.custom_tools)
    return found
