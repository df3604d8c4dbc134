"""Adapter for the OpenAI Agents SDK: agents with their hand-offs, read, cloned and run by `Runner.run`.

Of a team one agent is changed in prompt and model, the first one unless `agent.options.agent` names another; tools
are those of all agents, hand-offs are part of the flow.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut.adapters._change import Change, distinct
from agentmut.adapters._framework import FrameworkAdapter, Said, Session
from agentmut.adapters._requirement import Requirement
from agentmut.config import AgentConfig
from agentmut.flow import Flow
from agentmut.plain import jsonable
from agentmut.protocols import AgentSpec
from agentmut.trial import Trial

# `_openai_agents_team` and `_openai_agents_tools` import the SDK, which is checked for first.


class OpenAIAgentsAdapter(FrameworkAdapter):
    """Runs an `agents.Agent`, and those that it hands over to."""

    requirement: ClassVar[Requirement] = Requirement(
        "openai_agents", "openai-agents", (0, 20), (1, 0), "openai-agents", ("openai",)
    )
    expected: ClassVar[str] = "an agents.Agent"
    options: ClassVar[tuple[str, ...]] = ("agent",)
    settings: ClassVar[frozenset[str]] = frozenset(
        {"temperature", "top_p", "max_tokens", "reasoning_effort", "tool_choice"}
    )
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs"})

    @classmethod
    def is_agent(cls, found: Any) -> bool:
        """Whether it is an agent of the SDK."""
        from agents import Agent

        return isinstance(found, Agent)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Prompt and model of the agent that is changed, tools and hand-offs of all."""
        from agentmut.adapters._openai_agents_team import Team
        from agentmut.adapters._openai_agents_tools import spec_of

        team = Team.of(agent, spec.options.get("agent"))
        return AgentConfig(
            prompt=team.prompt,
            tools=distinct(spec_of(tool) for member in team.members.values() for tool in team.tools(member)),
            model=team.model,
            orchestration=team.flow,
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """A session of a clone of the team."""
        from agentmut.adapters._openai_agents_team import Team

        team = Team.of(agent, self.spec.options.get("agent"))
        limit = Flow.of(self.config.orchestration).max_steps
        return _Conversation(team.changed(change), limit, trial)


class _Conversation(Session):
    def __init__(self, first: Any, limit: int | None, trial: Trial) -> None:
        self._first = self._agent = first
        self._limit = limit
        self._trial = trial
        self._items: list[Any] = []

    def begin(self, earlier: Sequence[Said]) -> None:
        self._agent = self._first
        self._items = [{"role": said.role, "content": said.text} for said in earlier]

    async def ask(self, text: str, turn: int) -> JsonValue:
        from agents import InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered, Runner

        from agentmut.adapters._openai_agents_run import hooks_of, run_config_of

        asked = [*self._items, {"role": "user", "content": text}]
        options: dict[str, Any] = {} if self._limit is None else {"max_turns": self._limit}
        try:
            result = await Runner.run(
                self._agent,
                asked,
                hooks=hooks_of(self._trial),
                run_config=run_config_of(self._trial, turn),
                **options,
            )
        except (InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered) as stopped:
            return _stopped(stopped.guardrail_result)
        self._agent, self._items = result.last_agent, result.to_input_list()
        return jsonable(result.final_output)


def _stopped(result: Any) -> JsonValue:
    """What a user is told by an agent whose guardrail has stopped it: which one, and what it says."""
    return {"guardrail": result.guardrail.get_name(), "info": jsonable(result.output.output_info)}
