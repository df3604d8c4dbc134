"""Adapter for the OpenAI Agents SDK: agents with their hand-offs, read, cloned and run by `Runner.run`.

Of a team one agent is changed in prompt and model, the first one unless `agent.options.agent` names another; tools
are those of all agents, of their MCP servers too; hand-offs are part of the flow.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from agentmut._base import AdapterError, UsageError, import_object
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.framework import COMMON_SETTINGS, FrameworkAdapter, Session
from agentmut.adapters._shared.sdk_version import Requirement, cannot_rename
from agentmut.nouns import AgentConfig, Edit, Flow
from agentmut.recording import Trial, completed
from agentmut.seams import AgentSpec

if TYPE_CHECKING:
    from agentmut.adapters.openai_agents.team import Team


class OpenAIAgentsAdapter(FrameworkAdapter):
    """Runs an `agents.Agent` with the agents of its hand-offs."""

    requirement: ClassVar[Requirement] = Requirement(
        "openai_agents", "openai-agents", (0, 20), (1, 0), "openai-agents", ("openai", "mcp")
    )
    agents: ClassVar[tuple[str, ...]] = ("agents:Agent",)
    expected: ClassVar[str] = "an agents.Agent"
    team_class: ClassVar[str] = "agentmut.adapters.openai_agents.team:Team"
    options: ClassVar[tuple[str, ...]] = ("agent", "context")
    settings: ClassVar[frozenset[str]] = (COMMON_SETTINGS - {"seed"}) | {"tool_choice"}
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs"})

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Create the adapter, and check that the agent can take the config."""
        context_of(spec)
        adapter = super().create(spec, config)
        agent = adapter.source.build(config)
        adapter._check_servers(agent)
        if not adapter.source.takes_config:
            adapter._check_prompt(agent)
            adapter._check_model()
        return adapter

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return prompt and model of the agent that is changed, and tools and hand-offs of all."""
        from agentmut.adapters.openai_agents.mcp import served_once
        from agentmut.adapters.openai_agents.tools import spec_of

        team: Team = cls.team_of(agent, spec)
        if team.servers:
            team = replace(team, served=completed(served_once(team.members)))
        return AgentConfig(
            prompt=team.prompt,
            tools=distinct(spec_of(tool) for member in team.members.values() for tool in team.tools(member)),
            model=team.model,
            orchestration=team.flow,
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of a clone of the team."""
        from agentmut.adapters.openai_agents.run import Conversation

        limit = Flow.from_orchestration(self.config.orchestration).max_steps
        return Conversation(self.team_of(agent, self.spec), change, limit, trial, context_of(self.spec))

    def cannot_change(self, edit: Edit) -> str:
        """Return why an edit cannot reach the agent, such as the name of a model object that ignores its name."""
        if edit.path != ("model", "name") or self.source.takes_config:
            return ""
        if not self.found.model.name:
            return "the agent's model is an object that does not tell its name, so that it cannot be given another"
        agent = self.team_of(self.source.build(self.config), self.spec).changed_agent
        return cannot_rename(getattr(agent.model, "_client", None))

    def way_around(self, setting: str) -> str:
        """Return how else the setting can reach the agent; agents use the Responses API by default."""
        if setting not in {"stop", "seed"}:
            return super().way_around(setting)
        return (
            "the Responses API has none; mutants of it can reach an agent that uses Chat Completions by "
            "agent.route: wire"
        )

    def _check_servers(self, agent: Any) -> None:
        """Refuse MCP servers that trials would share: they would wait for each other, and close the connection."""
        if not (servers := self.team_of(agent, self.spec).servers):
            return
        again = self.team_of(self.source.build(self.config), self.spec).servers
        if shared := [server.name for server in servers if any(server is other for other in again)]:
            raise AdapterError(
                f"agent.factory {self.spec.factory} gives the same MCP server each time: {', '.join(shared)}. Each "
                "trial connects to servers of its own; name a function that builds agent and servers anew"
            )

    def _check_prompt(self, agent: Any) -> None:
        """Refuse a prompt that would replace a function for instructions, since that makes another agent."""
        changed = self.team_of(agent, self.spec).changed_agent
        # the text is then what the function makes, as requests show it
        on_the_wire = self.spec.route == "wire"
        if callable(changed.instructions) and self.config.system_text() and not on_the_wire:
            raise AdapterError(
                f"the instructions of agent {changed.name!r} are made by a function; prompt and context of "
                "agent.config would take its place. Leave them out, or name a factory that takes the config, or let "
                "mutants reach the agent by agent.route: wire"
            )

    def _check_model(self) -> None:
        name = self.config.model.name
        if name and not self.found.model.name:
            raise AdapterError(
                f"agent.config.model.name: the agent's model is an object that does not tell its name; it cannot "
                f"become {name}. Leave the name out, or name a factory that takes the config"
            )


def context_of(spec: AgentSpec) -> Callable[[], Any] | None:
    """Return the function that `agent.options.context` names, which makes a trial's context.

    Raises `UsageError` for what cannot.
    """
    reference = spec.options.get("context")
    if reference is None:
        return None
    if not isinstance(reference, str):
        raise UsageError(
            "agent.options.context names a function without parameters: my_package.agent:context"
        )
    found = import_object(reference, Path(spec.root))
    if not callable(found):
        raise UsageError(
            f"agent.options.context: {reference} is a {type(found).__name__}; expected a function without "
            "parameters that returns the context of a run"
        )
    return found  # type: ignore[no-any-return]  # checked above
