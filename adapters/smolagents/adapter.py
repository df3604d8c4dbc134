"""Adapter for smolagents: `ToolCallingAgent` and `CodeAgent` with their managed agents, read, copied and run.

Of a team one agent is changed in prompt and model, the first one unless `agent.options.agent` names another; tools
are those of all agents, managed agents are part of the flow. The prompt is `instructions`, or with
`agent.options.prompt: system` the template of the whole system prompt.
"""

from functools import cached_property
from typing import Any, ClassVar

from agentmut._base import UsageError
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.framework import COMMON_SETTINGS, FrameworkAdapter, Session
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import AgentConfig, Edit
from agentmut.recording import Trial
from agentmut.seams import AgentSpec, RunsInThread

_PROMPTS = ("instructions", "system")


class SmolagentsAdapter(FrameworkAdapter, RunsInThread):
    """Runs a `smolagents.MultiStepAgent` with its managed agents."""

    in_thread: ClassVar[str] = "an agent of smolagents"

    requirement: ClassVar[Requirement] = Requirement(
        "smolagents", "smolagents", (1, 24), (2, 0), "smolagents", ("openai",)
    )
    agents: ClassVar[tuple[str, ...]] = ("smolagents:MultiStepAgent",)
    expected: ClassVar[str] = "a smolagents.ToolCallingAgent or CodeAgent"
    options: ClassVar[tuple[str, ...]] = ("agent", "prompt")
    settings: ClassVar[frozenset[str]] = COMMON_SETTINGS | {"tool_choice"}
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs"})

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return prompt and model of the agent that is changed, and tools and managed agents of all."""
        from agentmut.adapters.smolagents.tools import own_tools, spec_of

        team = cls.team_of(agent, spec)
        return AgentConfig(
            prompt=team.prompt,
            tools=distinct(spec_of(t, a) for a in team.members.values() for t in own_tools(a).values()),
            model=team.model,
            orchestration=team.flow,
        )

    @classmethod
    def team_of(cls, agent: Any, spec: AgentSpec) -> Any:
        """Return the team, with the prompt that `agent.options.prompt` names. Raises `UsageError`."""
        from agentmut.adapters.smolagents.team import Team

        prompt = spec.options.get("prompt", _PROMPTS[0])
        if prompt not in _PROMPTS:
            raise UsageError(f"agent.options.prompt: {prompt!r} is none of {', '.join(_PROMPTS)}")
        return Team.from_agent(agent, spec.options.get("agent"), whole_prompt=prompt == _PROMPTS[1])

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of a copy of the team."""
        from agentmut.adapters.smolagents.run import Conversation

        return Conversation(self.team_of(agent, self.spec), change, trial)

    def cannot_change(self, edit: Edit) -> str:
        """Return what a template, the text of a `CodeAgent` or the agent's model have no place for."""
        from agentmut.adapters.smolagents.limits import beyond

        return beyond(edit, self.config, self._sample)

    @cached_property
    def _sample(self) -> Any:
        """Return the team as the factory builds it, only to be read."""
        return self.team_of(self.source.build(self.config), self.spec)
