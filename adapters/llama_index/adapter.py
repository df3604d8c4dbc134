"""Adapter for LlamaIndex: function agents, ReAct agents and workflows of agents, read, copied and run.

Of a workflow one agent is changed in prompt and model, the root unless `agent.options.agent` names another; tools
are those of all agents, hand-offs are part of the flow.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.framework import COMMON_SETTINGS, FrameworkAdapter, Session
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import AgentConfig, Edit, Flow
from agentmut.recording import Trial
from agentmut.seams import AgentSpec

if TYPE_CHECKING:
    from agentmut.adapters.llama_index.team import Team


class LlamaIndexAdapter(FrameworkAdapter):
    """Runs an agent of `llama_index.core.agent.workflow`, or an `AgentWorkflow` of several."""

    requirement: ClassVar[Requirement] = Requirement(
        "llama_index",
        "llama-index-core",
        (0, 14, 9),
        (0, 15),
        "llama-index",
        ("llama-index-workflows", "llama-index-llms-openai", "openai"),
    )
    expected: ClassVar[str] = "a FunctionAgent, a ReActAgent or an AgentWorkflow of llama_index.core"
    team_class: ClassVar[str] = "agentmut.adapters.llama_index.team:Team"
    options: ClassVar[tuple[str, ...]] = ("agent",)
    settings: ClassVar[frozenset[str]] = COMMON_SETTINGS | {"response_format", "stop", "tool_choice"}
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs"})

    @classmethod
    def is_agent(cls, found: Any) -> bool:
        """Return whether the object is an agent whose prompt and tools can be read."""
        from agentmut.adapters.llama_index.team import is_agent

        return is_agent(found)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return prompt and model of the agent that is changed, and tools and hand-offs of all."""
        team: Team = cls.team_of(agent, spec)
        return team.config

    def cannot_change(self, edit: Edit) -> str:
        """Return why a setting cannot change: some settings are always sent by LlamaIndex's clients, others never."""
        from agentmut.adapters.llama_index.model import cannot_set

        if edit.part != "model" or self.source.takes_config:
            return ""
        team = self.team_of(self.source.build(self.config), self.spec)
        return cannot_set(team.changed_agent.llm, edit.path[1], edit.after)

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of a copy of the agent."""
        from agentmut.adapters.llama_index.run import Calls, Conversation

        limit = Flow.from_orchestration(self.config.orchestration).max_steps
        whole = self.team_of(agent, self.spec).changed(change, Calls(trial).place_maker)
        return Conversation(whole, limit, trial)
