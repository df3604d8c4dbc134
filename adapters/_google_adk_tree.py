"""Agents of ADK with those below them: read, and cloned with changes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models import BaseLlm, Gemini, LLMRegistry
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.utils.instructions_utils import inject_session_state
from pydantic import JsonValue

from agentmut.adapters._change import Change, Offer
from agentmut.adapters._google_adk_flow import Kind, Stage, with_edges
from agentmut.adapters._google_adk_run import Redirects
from agentmut.adapters._google_adk_settings import settings_of, with_settings
from agentmut.adapters._google_adk_tools import (
    PassedToolset,
    as_tool,
    declaration_of,
    leading_to,
    own_tools,
    spec_of,
    tool_offered,
)
from agentmut.config import ModelConfig
from agentmut.errors import AdapterError, nearest
from agentmut.flow import Flow
from agentmut.tools import ToolSpec

_KINDS = {SequentialAgent: Kind.SEQUENCE, ParallelAgent: Kind.PARALLEL, LoopAgent: Kind.LOOP}
_DELEGATED = ("task", "single_turn")
"""Modes of agents that are called like tools, and not handed over to."""
_PLACEHOLDER = re.compile(r"{+([^{}]*)}+")
"""As ADK finds them in instructions."""


@dataclass
class Models:
    """The models that agents name, each made once: a client of Google's SDK takes a tenth of a second."""

    known: dict[str, BaseLlm] = field(default_factory=dict)

    def of(self, name: str) -> BaseLlm:
        """The model of a name. Raises `AdapterError` where ADK knows none."""
        if name not in self.known:
            self.known[name] = _new_model(name)
        return self.known[name]


@dataclass(frozen=True)
class Tree:
    """An agent and all that it can run, by name; the first one is where a run begins."""

    members: dict[str, BaseAgent]
    changed_name: str
    """The agent whose prompt and model are changed; empty where none has a model."""

    @classmethod
    def of(cls, root: Any, chosen: JsonValue = None) -> "Tree":
        """The agents below `root`. Raises `AdapterError` for names that are not clear."""
        members: dict[str, BaseAgent] = {}
        for agent in _below(root):
            if members.setdefault(agent.name, agent) is not agent:
                raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
        models = [name for name, agent in members.items() if isinstance(agent, LlmAgent)]
        if chosen is not None and chosen not in models:
            raise AdapterError(
                f"agent.options.agent: there is no LlmAgent {chosen!r}. {nearest(str(chosen), models)}"
            )
        return cls(members, str(chosen or next(iter(models), "")))

    @property
    def root(self) -> BaseAgent:
        """Where every run begins."""
        return next(iter(self.members.values()))

    @property
    def llm_agents(self) -> dict[str, LlmAgent]:
        """The agents that ask a model."""
        return {name: agent for name, agent in self.members.items() if isinstance(agent, LlmAgent)}

    @property
    def prompt(self) -> str:
        """The instruction with its placeholders; empty where a function makes it."""
        agent = self.llm_agents.get(self.changed_name)
        return agent.instruction if agent and isinstance(agent.instruction, str) else ""

    @property
    def model(self) -> ModelConfig:
        """The model's name and settings. Raises `AdapterError` where ADK does not know it."""
        agent = self.llm_agents.get(self.changed_name)
        if agent is None:
            return ModelConfig()
        try:
            model = agent.canonical_model
        except ValueError as error:
            raise AdapterError(f"the model of agent {agent.name!r}: {error}") from error
        provider = "google" if isinstance(model, Gemini) else None
        return ModelConfig(provider=provider, name=model.model, **settings_of(agent.generate_content_config))

    @property
    def specs(self) -> Iterator[ToolSpec]:
        """What models are told of the tools of all agents."""
        for agent in self.llm_agents.values():
            yield from (spec_of(found) for tool in agent.tools if (found := declaration_of(as_tool(tool))))

    def offers(self, change: Change) -> dict[str, list[Offer]]:
        """What each agent offers its model."""
        return {
            name: change.offers(list(own_tools(agent)), decoys=name == self.changed_name)
            for name, agent in self.llm_agents.items()
        }

    @cached_property
    def stage(self) -> Stage:
        """What workflow agents run, in which order."""
        return _stage(self.root)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """The limit of model calls, who may hand over to whom, what runs after what, and what is passed on."""
        handoffs = {
            name: {one.name: one.name for one in agent.sub_agents if _is_target(one)}
            for name, agent in self.llm_agents.items()
        }
        found: dict[str, Any] = {
            "max_steps": max(RunConfig().max_llm_calls, 0),
            "handoffs": {name: targets for name, targets in handoffs.items() if targets},
            "state": {name: keys for name in self.llm_agents if (keys := self._passed_to(name))},
        }
        if self.stage.kind is not Kind.AGENT:
            found |= {"nodes": list(self.stage.leaves), "edges": [list(edge) for edge in self.stage.edges]}
        return {key: value for key, value in found.items() if value}

    def _passed_to(self, name: str) -> list[str]:
        """What an agent's instruction takes from the answers of others."""
        instruction = self.llm_agents[name].instruction
        written = {agent.output_key for agent in self.llm_agents.values()} - {None}
        named = _PLACEHOLDER.findall(instruction) if isinstance(instruction, str) else []
        keys = (found.strip().removesuffix("?") for found in named)
        return list(dict.fromkeys(key for key in keys if key in written))

    def changed(self, change: Change, models: Models) -> BaseAgent:
        """The root of a copy of the tree that differs by `change`. Nothing of the original is touched."""
        return _Copying(self, change, models).staged(self._wanted(change))

    def redirects(self, change: Change) -> Redirects:
        """The hand-offs that lead elsewhere than they say."""
        handoffs = Flow.of(change.wanted.orchestration).handoffs
        return {
            name: {label: target for label, target in targets.items() if label != target}
            for name, targets in handoffs.items()
        }

    def _wanted(self, change: Change) -> Stage:
        flow = Flow.of(change.wanted.orchestration)
        stage: Stage | None = self.stage
        if "edges" in change.orchestration:
            stage = with_edges(self.stage, flow.edges)
        if stage is None:
            raise AdapterError(NO_SUCH_TREE)
        gone = set(self.stage.leaves) - set(flow.nodes) if "nodes" in change.orchestration else set()
        return stage.without(gone)


NO_SUCH_TREE = "no arrangement of the agent's SequentialAgent, ParallelAgent and LoopAgent runs in this order"


@dataclass(frozen=True)
class _Copying:
    """Makes the copy of a tree."""

    tree: Tree
    change: Change
    models: Models

    def staged(self, stage: Stage) -> BaseAgent:
        """An agent of the flow, with what it runs in the wanted order."""
        agent = self.tree.members[stage.name]
        if stage.kind is Kind.AGENT:
            return self.copied(agent)
        parts = [self.staged(part) for part in stage.parts]
        if stage.kind is Kind.SEQUENCE and not isinstance(agent, SequentialAgent):
            return SequentialAgent(name=agent.name, description=agent.description, sub_agents=parts)
        once = {"max_iterations": 1} if stage.kind is Kind.ONCE else {}
        return agent.clone(update={"sub_agents": parts, **once})

    def copied(self, agent: BaseAgent) -> BaseAgent:
        """An agent with all below it."""
        flow = Flow.of(self.change.wanted.orchestration)
        kept = flow.handoffs.get(agent.name, {})
        below = [one for one in agent.sub_agents if not self._is_handoff(agent, one) or one.name in kept]
        update: dict[str, Any] = {"sub_agents": [self.copied(one) for one in below]}
        if isinstance(agent, LlmAgent):
            update |= {"tools": self._tools(agent), **self._own(agent)}
        return agent.clone(update=update)

    def _is_handoff(self, agent: BaseAgent, below: BaseAgent) -> bool:
        return isinstance(agent, LlmAgent) and _is_target(below)

    def _tools(self, agent: LlmAgent) -> list[Any]:
        own = own_tools(agent)
        rest = [tool for tool in agent.tools if declaration_of(as_tool(tool)) is None]
        mine = agent.name == self.tree.changed_name
        offers = self.change.offers(list(own), decoys=mine)
        tools = [tool_offered(one, self._followed(own.get(one.spec.own_name))) for one in offers]
        return [*tools, *(PassedToolset(one) if isinstance(one, BaseToolset) else one for one in rest)]

    def _followed(self, tool: Any) -> Any:
        """A tool that runs an agent runs the copy of it."""
        return leading_to(tool, self.copied(tool.agent)) if isinstance(tool, AgentTool) else tool

    def _own(self, agent: LlmAgent) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if isinstance(agent.model, str) and agent.model:
            changes["model"] = self.models.of(agent.model)
        if agent.name == self.tree.changed_name:
            changes |= self._changes(agent)
        if "state" in self.change.orchestration:
            changes |= self._state(agent, changes.get("instruction", agent.instruction))
        return changes

    def _changes(self, agent: LlmAgent) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if self.change.prompt is not None:
            changes["instruction"] = self._instruction(self.change.prompt)
        settings = dict(self.change.model)
        settings.pop("provider", None)
        if name := settings.pop("name", None):
            changes["model"] = self._renamed(agent, name)
        if settings:
            changes["generate_content_config"] = with_settings(agent.generate_content_config, settings)
        return changes

    def _instruction(self, whole: str) -> Any:
        """The prompt as it was written, placeholders and all; in documents, braces are braces."""
        wanted = self.change.wanted
        if not wanted.context:
            return whole
        documents = whole.removeprefix(wanted.prompt)

        async def given(context: Any) -> str:
            return await inject_session_state(wanted.prompt, context) + documents

        return given

    def _renamed(self, agent: LlmAgent, name: str) -> BaseLlm:
        """The model of that name, where ADK knows it by its name; else the agent's own under that name."""
        own = agent.canonical_model
        if isinstance(agent.model, str) and _kind_of(name) not in (None, type(own)):
            return self.models.of(name)
        return own.model_copy(update={"model": name})

    def _state(self, agent: LlmAgent, instruction: Any) -> dict[str, Any]:
        """The instruction without what is not passed on any more."""
        before = Flow.of(self.change.found.orchestration).state.get(agent.name, ())
        gone = set(before) - set(Flow.of(self.change.wanted.orchestration).state.get(agent.name, ()))
        if not gone or not isinstance(instruction, str):
            return {}
        return {"instruction": _PLACEHOLDER.sub(lambda found: _without(found, gone), instruction)}


def _without(found: "re.Match[str]", gone: set[str]) -> str:
    return "" if found[1].strip().removesuffix("?") in gone else found[0]


def _below(agent: Any) -> Iterator[Any]:
    yield agent
    for one in agent.sub_agents:
        yield from _below(one)
    for tool in getattr(agent, "tools", ()):
        if isinstance(tool, AgentTool):
            yield from _below(tool.agent)


def _stage(agent: BaseAgent) -> Stage:
    kind = next((kind for base, kind in _KINDS.items() if isinstance(agent, base)), Kind.AGENT)
    below: Sequence[BaseAgent] = () if kind is Kind.AGENT else agent.sub_agents
    return Stage(agent.name, kind, tuple(map(_stage, below)))


def _is_target(agent: BaseAgent) -> bool:
    return getattr(agent, "mode", None) not in _DELEGATED


def _kind_of(name: str) -> Any:
    """The class of models that ADK takes for this name; None where it knows none."""
    try:
        return LLMRegistry.resolve(name)
    except ValueError:
        return None


def _new_model(name: str) -> BaseLlm:
    try:
        return LLMRegistry.new_llm(name)
    except ValueError as error:
        raise AdapterError(f"the model {name!r}: {error}") from error
