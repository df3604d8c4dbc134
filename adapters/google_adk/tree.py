"""ADK agents with their sub-agents, as found, and the settings of their models."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models import Gemini
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.workflow import BaseNode, Workflow
from google.genai.types import FunctionDeclaration, GenerateContentConfig
from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change, Offer
from agentmut.adapters._shared.members import check_chosen
from agentmut.adapters.google_adk.flow import Edges, Kind, Stage, with_edges
from agentmut.adapters.google_adk.graph import edges_of, nodes_of, rebuilt
from agentmut.adapters.google_adk.run import Redirects
from agentmut.adapters.google_adk.tools import as_tool, declaration_of, is_marker, spec_of
from agentmut.adapters.google_adk.toolsets import Listed, toolsets_of
from agentmut.nouns import Flow, ModelConfig, ToolSpec, is_set
from agentmut.wire.dialects.gemini import gemini_settings

_KINDS = {SequentialAgent: Kind.SEQUENCE, ParallelAgent: Kind.PARALLEL, LoopAgent: Kind.LOOP}
NO_SUCH_TREE = "no arrangement of the agent's SequentialAgent, ParallelAgent and LoopAgent runs in this order"
_DELEGATED = ("task", "single_turn")
"""Modes of agents that are called like tools, and not handed over to."""
PLACEHOLDER = re.compile(r"(?<!{){+([^{}]*)}+")
"""As ADK finds them in instructions."""


class OwnTool(NamedTuple):
    """A tool of an agent that its model gets."""

    tool: Any
    declared: FunctionDeclaration
    toolset: BaseToolset | None = None
    """Where it is from."""


@dataclass(frozen=True)
class Tree:
    """An agent and all agents and graphs that it can run, by name; a run begins with the first."""

    members: dict[str, BaseNode]
    changed_name: str
    """The agent whose prompt and model are changed; empty where none has a model."""
    listed: Listed = field(default_factory=dict)
    """What the toolsets of the agents give."""

    @classmethod
    def from_root(cls, root: Any, chosen: JsonValue = None) -> "Tree":
        """Return the agents below `root`. Raises `AdapterError` for names that are not clear."""
        members: dict[str, BaseNode] = {}
        for agent in _below(root):
            if members.setdefault(agent.name, agent) is not agent:
                raise AdapterError(f"two agents are called {agent.name!r}; give each a name of its own")
        models = [name for name, agent in members.items() if isinstance(agent, LlmAgent)]
        check_chosen(chosen, models, "LlmAgent")
        return cls(members, str(chosen or next(iter(models), "")))

    @property
    def root(self) -> BaseNode:
        """Return where every run begins."""
        return next(iter(self.members.values()))

    @property
    def llm_agents(self) -> dict[str, LlmAgent]:
        """Return the agents that ask a model."""
        return {name: agent for name, agent in self.members.items() if isinstance(agent, LlmAgent)}

    @property
    def prompt(self) -> str:
        """Return the instruction with its placeholders; empty if a function makes it."""
        agent = self.llm_agents.get(self.changed_name)
        return agent.instruction if agent and isinstance(agent.instruction, str) else ""

    @property
    def model(self) -> ModelConfig:
        """Return the model's name and settings. Raise `AdapterError` if ADK does not know the model."""
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
    def has_toolsets(self) -> bool:
        """Return whether tools are still to be asked for."""
        return any(map(toolsets_of, self.members.values()))

    def own(self, agent: LlmAgent) -> dict[str, OwnTool]:
        """Return the tools of an agent by name, in order."""
        found: dict[str, OwnTool] = {}
        for one in self._all(agent):
            found[one.declared.name or ""] = one
        return found

    def rest(self, agent: LlmAgent) -> list[Any]:
        """Return the toolsets of an agent, what the service carries out, and what ADK needs for itself."""
        return [
            one
            for one in map(as_tool, agent.tools)
            if isinstance(one, BaseToolset) or declaration_of(one) is None or is_marker(one, agent)
        ]

    def _all(self, agent: LlmAgent) -> Iterator[OwnTool]:
        for one in map(as_tool, agent.tools):
            if isinstance(one, BaseToolset):
                served = self.listed.get((agent.name, one), ())
                yield from (OwnTool(tool, told, one) for tool in served if (told := declaration_of(tool)))
            elif (declared := declaration_of(one)) and not is_marker(one, agent):
                yield OwnTool(one, declared)

    @property
    def specs(self) -> Iterator[ToolSpec]:
        """Yield the tools of all agents as models get them."""
        for agent in self.llm_agents.values():
            yield from (spec_of(one.declared) for one in self.own(agent).values())

    def offers(self, change: Change) -> dict[str, list[Offer]]:
        """Return each agent's offer of tools to its model."""
        return {
            name: change.offers(list(self.own(agent)), decoys=name == self.changed_name)
            for name, agent in self.llm_agents.items()
        }

    @cached_property
    def stage(self) -> Stage:
        """Return what workflow agents run, in which order."""
        return _stage(self.root)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the limit of model calls, who may hand over to whom, what runs after what, and what is passed on."""
        handoffs = {
            name: {one.name: one.name for one in agent.sub_agents if is_target(one)}
            for name, agent in self.llm_agents.items()
        }
        found: dict[str, Any] = {
            "max_steps": max(RunConfig().max_llm_calls, 0),
            "handoffs": {name: targets for name, targets in handoffs.items() if targets},
            "state": {name: keys for name in self.llm_agents if (keys := self._passed_to(name))},
        }
        if isinstance(self.root, Workflow):
            found |= {"nodes": list(nodes_of(self.root)), "edges": edges_of(self.root)}
        elif self.stage.kind is not Kind.AGENT:
            found |= {"nodes": list(self.stage.leaves), "edges": [list(edge) for edge in self.stage.edges]}
        return {key: value for key, value in found.items() if value}

    def cannot_run(self, edges: Edges) -> str:
        """Return why nothing of ADK's runs in this order; empty where something does."""
        if not isinstance(self.root, Workflow):
            return "" if with_edges(self.stage, edges) else NO_SUCH_TREE
        try:
            rebuilt(self.root, lambda node: node, edges, None)
        except AdapterError as error:
            return str(error)
        return ""

    def _passed_to(self, name: str) -> list[str]:
        """Return the outputs of other agents that an agent's instruction uses."""
        instruction = self.llm_agents[name].instruction
        written = {agent.output_key for agent in self.llm_agents.values()} - {None}
        named = PLACEHOLDER.findall(instruction) if isinstance(instruction, str) else []
        keys = (found.strip().removesuffix("?") for found in named)
        return list(dict.fromkeys(key for key in keys if key in written))

    def redirects(self, change: Change) -> Redirects:
        """Return the hand-offs whose target changes."""
        handoffs = Flow.from_orchestration(change.wanted.orchestration).handoffs
        return {
            name: {label: target for label, target in targets.items() if label != target}
            for name, targets in handoffs.items()
        }


def _below(agent: Any) -> Iterator[Any]:
    yield agent
    nodes = nodes_of(agent).values() if isinstance(agent, Workflow) else getattr(agent, "sub_agents", ())
    for one in nodes:
        if isinstance(one, BaseAgent | Workflow):  # graphs may each have a function of one name
            yield from _below(one)
    for tool in getattr(agent, "tools", ()):
        if isinstance(tool, AgentTool):
            yield from _below(tool.agent)


def _stage(agent: Any) -> Stage:
    kind = next((kind for base, kind in _KINDS.items() if isinstance(agent, base)), Kind.AGENT)
    below: Sequence[BaseAgent] = () if kind is Kind.AGENT else agent.sub_agents
    return Stage(agent.name, kind, tuple(map(_stage, below)))


def is_target(agent: BaseAgent) -> bool:
    """Return whether other agents can hand over to the agent."""
    return getattr(agent, "mode", None) not in _DELEGATED


_FIELDS = frozenset(
    {
        "temperature", "top_p", "max_output_tokens", "seed", "stop_sequences", "thinking_config",
        "response_mime_type", "response_schema", "response_json_schema", "tool_config",
    }
)  # fmt: skip
"""By their names in `GenerateContentConfig`."""


def settings_of(config: GenerateContentConfig | None) -> dict[str, Any]:
    """Return what an agent sets."""
    return {name: value for name, value in gemini_settings.read(_body(config)).items() if is_set(value)}


def with_settings(config: GenerateContentConfig | None, settings: Mapping[str, Any]) -> GenerateContentConfig:
    """Return a copy with these settings; a setting of None or empty is removed."""
    body = _body(config)
    for name, value in settings.items():
        body = gemini_settings.with_setting(body, name, value if is_set(value) else None)
    fresh = GenerateContentConfig.model_validate(
        {**body.get("generationConfig", {}), "toolConfig": body.get("toolConfig")}
    )
    before = config or GenerateContentConfig()
    return before.model_copy(update={name: getattr(fresh, name) for name in _FIELDS})


def _body(config: GenerateContentConfig | None) -> dict[str, Any]:
    """Return the part of a request that the settings would be."""
    if config is None:
        return {}
    told = config.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(_FIELDS))
    choice = told.pop("toolConfig", None)
    return {"generationConfig": told, **({"toolConfig": choice} if choice else {})}
