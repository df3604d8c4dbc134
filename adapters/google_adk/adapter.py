"""Adapter for Google's Agent Development Kit (ADK): trees of agents, read, cloned and run by a `Runner`.

Of several agents one is changed in prompt and model, the first `LlmAgent` unless `agent.options.agent` names another;
tools are those of all agents. Hand-offs, and the order in which workflow agents run others, are part of the flow.
"""

import logging
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from agentmut._base import AdapterError, MutationError, import_object
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.framework import FrameworkAdapter, Session, unless_asked_for
from agentmut.adapters._shared.sdk_version import Requirement, named_version
from agentmut.nouns import SAMPLING, AgentConfig, Edit, Flow, Mutant, apply_edits
from agentmut.recording import Trial, completed
from agentmut.seams import AgentSpec
from agentmut.wire.carriers import genai_hook

LOGGERS = ("google_adk", "google_genai")
"""Under these names ADK and its SDK log every failed run, with a traceback; runs of mutants fail a lot."""


def _new_models() -> Any:
    from agentmut.adapters.google_adk.copy import Models

    return Models()


@dataclass(eq=False)
class GoogleADKAdapter(FrameworkAdapter):
    """Runs an ADK agent with all its sub-agents, or an `App` around one."""

    requirement: ClassVar[Requirement] = Requirement(
        "google_adk", "google-adk", (2, 10), (3, 0), "google-adk", ("google-genai",)
    )
    agents: ClassVar[tuple[str, ...]] = ("google.adk.apps:App", "google.adk.workflow:BaseNode")
    expected: ClassVar[str] = "an agent of google.adk.agents, or an App"
    options: ClassVar[tuple[str, ...]] = ("agent", "state")
    settings: ClassVar[frozenset[str]] = frozenset(SAMPLING)
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs", "nodes", "edges", "state"})

    models: Any = field(default_factory=_new_models)
    """What its agents ask: the same agents with another config share them, and the clients they hold."""

    def __post_init__(self) -> None:
        unless_asked_for(LOGGERS)
        logging.getLogger("asyncio").addFilter(_of_use)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return prompt and model of the agent that is changed, and tools and flow of all."""
        if not genai_hook.can_be_led():
            raise AdapterError(
                f"adapter google_adk does not know how {named_version('google-genai')} "
                "chooses between httpx and aiohttp, so its requests would not be seen; install google-genai 2.x"
            )
        state = spec.options.get("state", {})
        if not isinstance(state, dict):
            raise AdapterError("agent.options.state: expected a mapping, what sessions begin with")
        tree = _listed(_tree(agent, spec), spec)
        return AgentConfig(
            prompt=tree.prompt, tools=distinct(tree.specs), model=tree.model, orchestration=tree.flow
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of a clone of the tree."""
        from agentmut.adapters.google_adk.copy import TreeCopy
        from agentmut.adapters.google_adk.graph import agents_before
        from agentmut.adapters.google_adk.run import Watch
        from agentmut.adapters.google_adk.session import Conversation
        from agentmut.adapters.google_adk.toolsets import Toolsets

        tree, state, own = _tree(agent, self.spec), self.spec.options.get("state"), not self.source.is_object
        toolsets = Toolsets(tree.members, state, closes=own)

        async def app() -> Any:
            whole = replace(tree, listed=await toolsets.listed())
            root = TreeCopy(whole, change, self.models, toolsets).root()
            return _app(agent, root, Watch(trial, whole.redirects(change), agents_before(root)))

        limit = Flow.from_orchestration(self.config.orchestration).max_steps
        return Conversation(app, toolsets, limit, state, ends=own)

    def cannot_change(self, edit: Edit) -> str:
        """Return which settings cannot change: those of Gemini, which other models may not have."""
        foreign = self.found.model.provider != "google" and not self.source.takes_config
        if foreign and edit.part == "model" and edit.path[1:2] != ("name",):
            return (
                f"adapter google_adk does not know whether the agent's model heeds {'.'.join(edit.path[1:])}, as it is "
                "none of Gemini's; mutants of it can reach the agent by agent.route: wire"
            )
        return ""

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why a mutant cannot be expressed, such as an order that no arrangement of workflow agents has."""
        return super().cannot_express(mutant) or self._cannot_arrange(mutant) or self._cannot_offer(mutant)

    def _cannot_arrange(self, mutant: Mutant) -> str:
        if not any(edit.path[:2] == ("orchestration", "edges") for edit in mutant.edits):
            return ""
        try:
            wanted = apply_edits(self.config, mutant.edits)
        except MutationError:  # told by those who apply it
            return ""
        return str(self._first.cannot_run(Flow.from_orchestration(wanted.orchestration).edges))

    def _cannot_offer(self, mutant: Mutant) -> str:
        if not all(edit.path == ("tools",) for edit in mutant.edits):
            return ""
        try:
            wanted = apply_edits(self.config, mutant.edits)
        except MutationError:
            return ""
        if self._first.offers(Change(self.found, wanted)) != self._first.offers(
            Change(self.found, self.config)
        ):
            return ""
        return "none of the agents has two of the tools whose order changes"

    @cached_property
    def _first(self) -> Any:
        return _listed(_tree(self.source.build(self.config), self.spec), self.spec)


def _of_use(record: logging.LogRecord) -> bool:
    """Drop the traceback of a google-genai client that could not be made for want of a key."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, AttributeError) and error.name == genai_hook.CLIENT)


def _tree(agent: Any, spec: AgentSpec) -> Any:
    from google.adk.agents import BaseAgent

    from agentmut.adapters.google_adk.tree import Tree

    root = getattr(agent, "root_agent", agent) if not isinstance(agent, BaseAgent) else agent
    tree = Tree.from_root(root, spec.options.get("agent"))
    if not isinstance(root, BaseAgent) and not tree.llm_agents:
        raise AdapterError(
            f"agent.factory {spec.factory} is a {type(root).__name__} without an LlmAgent, of which adapter google_adk "
            f"can change nothing. Mutants can reach its model requests: {ON_THE_WIRE}"
        )
    return tree


def _listed(tree: Any, spec: AgentSpec) -> Any:
    """Return the tree with the tools that its toolsets list."""
    from agentmut.adapters.google_adk.toolsets import listed_once

    if not tree.has_toolsets:
        return tree
    built = not GoogleADKAdapter.is_agent(import_object(str(spec.factory), Path(spec.root)))
    asked = listed_once(tree.members, spec.options.get("state"), closes=built)
    return replace(tree, listed=completed(asked))


def _app(agent: Any, root: Any, watch: Any) -> Any:
    """Return the user's app, or a plain one, around the copy of its root agent."""
    from google.adk.apps import App

    if isinstance(agent, App):
        return agent.model_copy(update={"root_agent": root, "plugins": [watch, *agent.plugins]})
    return App(name="agentmut", root_agent=root, plugins=[watch])
