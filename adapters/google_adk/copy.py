"""Copies of ADK agents with a change."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, SequentialAgent
from google.adk.models import BaseLlm, LLMRegistry
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.utils.instructions_utils import inject_session_state
from google.adk.workflow import BaseNode, Workflow

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change, Offer
from agentmut.adapters.google_adk.flow import Kind, Stage, with_edges
from agentmut.adapters.google_adk.graph import rebuilt
from agentmut.adapters.google_adk.tools import leading_to, spec_of, tool_offered
from agentmut.adapters.google_adk.toolsets import Toolsets
from agentmut.adapters.google_adk.tree import (
    NO_SUCH_TREE,
    PLACEHOLDER,
    OwnTool,
    Tree,
    is_target,
    with_settings,
)
from agentmut.nouns import Flow


@dataclass
class Models:
    """The models that agents name, each made once: a client of Google's SDK takes a tenth of a second."""

    known: dict[str, BaseLlm] = field(default_factory=dict)

    def model_named(self, name: str) -> BaseLlm:
        """Return the model with a name. Raise `AdapterError` if ADK knows none."""
        if name not in self.known:
            self.known[name] = _new_model(name)
        return self.known[name]


@dataclass(frozen=True)
class TreeCopy:
    """Makes the copy of a tree."""

    tree: Tree
    change: Change
    models: Models
    toolsets: Toolsets
    made: dict[str, BaseAgent] = field(default_factory=dict)
    """By name: a sub-agent may be called as a tool as well."""

    def root(self) -> BaseNode:
        """Return the root of a copy that differs by the change. Nothing of the original is touched."""
        root = self.tree.root
        return self.graphed(root) if isinstance(root, Workflow) else self.staged(self._wanted())

    def graphed(self, workflow: Workflow) -> Workflow:
        """Return the graph with copies of its agents; inner graphs keep their edges."""
        flow, changed = Flow.from_orchestration(self.change.wanted.orchestration), self.change.orchestration
        if workflow is not self.tree.root:
            changed = frozenset()
        edges = flow.edges if "edges" in changed else None
        return rebuilt(workflow, self._node, edges, flow.nodes if "nodes" in changed else None)

    def _node(self, node: BaseNode) -> BaseNode:
        if isinstance(node, Workflow):
            return self.graphed(node)
        return self.copied(node) if isinstance(node, BaseAgent) else node

    def staged(self, stage: Stage) -> BaseAgent:
        """Return a workflow agent with its sub-agents in the wanted order."""
        agent: Any = self.tree.members[stage.name]
        if stage.kind is Kind.AGENT:
            return self.copied(agent)
        parts = [self.staged(part) for part in stage.parts]
        if stage.kind is Kind.SEQUENCE and not isinstance(agent, SequentialAgent):
            return SequentialAgent(name=agent.name, description=agent.description, sub_agents=parts)
        once = {"max_iterations": 1} if stage.kind is Kind.ONCE else {}
        return agent.clone(update={"sub_agents": parts, **once})  # type: ignore[no-any-return]  # `agent` is Any: of one of several classes

    def copied(self, agent: BaseAgent) -> BaseAgent:
        """Return an agent with all its sub-agents."""
        if agent.name not in self.made:
            self.made[agent.name] = self._copy(agent)
        return self.made[agent.name]

    def _copy(self, agent: BaseAgent) -> BaseAgent:
        flow = Flow.from_orchestration(self.change.wanted.orchestration)
        kept = flow.handoffs.get(agent.name, {})
        below = [one for one in agent.sub_agents if not self._is_handoff(agent, one) or one.name in kept]
        update: dict[str, Any] = {"sub_agents": [self.copied(one) for one in below]}
        if isinstance(agent, LlmAgent):
            update |= {"tools": self._tools(agent), **self._own(agent)}
        return agent.clone(update=update)

    def _wanted(self) -> Stage:
        whole, changed = self.tree.stage, self.change.orchestration
        flow = Flow.from_orchestration(self.change.wanted.orchestration)
        stage = with_edges(whole, flow.edges) if "edges" in changed else whole
        if stage is None:
            raise AdapterError(NO_SUCH_TREE)
        gone = set(whole.leaves) - set(flow.nodes) if "nodes" in changed else set()
        return stage.without(gone)

    def _is_handoff(self, agent: BaseAgent, below: BaseAgent) -> bool:
        return isinstance(agent, LlmAgent) and is_target(below)

    def _tools(self, agent: LlmAgent) -> list[Any]:
        """Return the tools in the wanted order, then what the service carries out, or ADK needs for itself."""
        own = self.tree.own(agent)
        offers = self.change.offers(
            list(own),
            decoys=agent.name == self.tree.changed_name,
            described=lambda name: spec_of(own[name].declared),
        )
        tools: list[Any] = []
        told: set[BaseToolset | None] = set()
        for toolset, part in groupby(offers, lambda offer: _toolset(own, offer)):
            if toolset is None:
                tools += [tool_offered(one, self._followed(own.get(one.spec.own_name))) for one in part]
            else:
                tools.append(self._part(own, toolset, list(part), first=toolset not in told))
                told.add(toolset)
        rest = [one for one in self.tree.rest(agent) if one not in told]
        untold = (
            self._part(own, one, (), first=True) if isinstance(one, BaseToolset) else one for one in rest
        )
        return [*tools, *untold]

    def _part(
        self, own: Mapping[str, OwnTool], toolset: BaseToolset, offers: Sequence[Offer], *, first: bool
    ) -> BaseToolset:
        """Return a part of a toolset; the first part has the tools that were not known, too."""
        known = [name for name, one in own.items() if one.toolset is toolset]
        return self.toolsets.part(toolset, offers, known if first else None)

    def _followed(self, own: OwnTool | None) -> Any:
        """Return a tool; a tool that runs an agent runs the agent's copy."""
        tool = own and own.tool
        return leading_to(tool, self._node(tool.agent)) if isinstance(tool, AgentTool) else tool

    def _own(self, agent: LlmAgent) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if isinstance(agent.model, str) and agent.model:
            changes["model"] = self.models.model_named(agent.model)
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
        """Return the prompt with its placeholders; braces in documents are escaped."""
        wanted = self.change.wanted
        if not wanted.context:
            return whole
        documents = whole.removeprefix(wanted.prompt)

        async def instruction(context: Any) -> str:
            return await inject_session_state(wanted.prompt, context) + documents

        return instruction

    def _renamed(self, agent: LlmAgent, name: str) -> BaseLlm:
        """Return the model with that name, if ADK finds models by name; else the agent's own model under that name."""
        own = agent.canonical_model
        if isinstance(agent.model, str) and _kind_of(name) not in (None, type(own)):
            return self.models.model_named(name)
        return own.model_copy(update={"model": name})

    def _state(self, agent: LlmAgent, instruction: Any) -> dict[str, Any]:
        """Return the instruction without what is not passed on any more."""
        before = Flow.from_orchestration(self.change.found.orchestration).state.get(agent.name, ())
        gone = set(before) - set(
            Flow.from_orchestration(self.change.wanted.orchestration).state.get(agent.name, ())
        )
        if not gone or not isinstance(instruction, str):
            return {}
        return {"instruction": PLACEHOLDER.sub(lambda found: _without(found, gone), instruction)}


def _toolset(own: Mapping[str, OwnTool], offer: Offer) -> BaseToolset | None:
    found = own.get(offer.spec.own_name)
    return found.toolset if found else None


def _without(found: "re.Match[str]", gone: set[str]) -> str:
    return "" if found[1].strip().removesuffix("?") in gone else found[0]


def _kind_of(name: str) -> Any:
    """Return ADK's class of models for this name; None if there is none."""
    try:
        return LLMRegistry.resolve(name)
    except ValueError:
        return None


def _new_model(name: str) -> BaseLlm:
    try:
        return LLMRegistry.new_llm(name)
    except ValueError as error:
        raise AdapterError(f"the model {name!r}: {error}") from error
