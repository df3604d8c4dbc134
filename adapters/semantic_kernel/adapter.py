"""Adapter for Semantic Kernel: a ChatCompletionAgent and those that are its plugins, or an orchestration of such.

Every trial runs a copy of the agent on a kernel of its own: what is changed on an agent that has run already does not
arrive, since it keeps the template that was made of its first instructions. Tools are called as the model calls them,
`Plugin-function`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.framework import (
    COMMON_SETTINGS,
    EarlierMessage,
    FrameworkAdapter,
    Session,
    unless_asked_for,
)
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import END, START, AgentConfig, Edit
from agentmut.recording import Trial
from agentmut.seams import AgentSpec

if TYPE_CHECKING:
    from agentmut.adapters.semantic_kernel.team import Team

LOGGERS = ("semantic_kernel", "in_process_runtime", "agent_runtime")
"""Under these names it logs every function that fails and every run that is ended early, with a traceback."""


class SemanticKernelAdapter(FrameworkAdapter):
    """Runs a `ChatCompletionAgent`, and the agents that it calls as plugins; or an orchestration of several."""

    requirement: ClassVar[Requirement] = Requirement(
        "semantic_kernel", "semantic-kernel", (1, 40), (2, 0), "semantic-kernel", ("openai",)
    )
    expected: ClassVar[str] = (
        "a semantic_kernel.agents.ChatCompletionAgent, or an orchestration of such agents"
    )
    team_class: ClassVar[str] = "agentmut.adapters.semantic_kernel.team:Team"
    options: ClassVar[tuple[str, ...]] = ("agent",)
    settings: ClassVar[frozenset[str]] = COMMON_SETTINGS | {"response_format", "stop", "tool_choice"}
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs", "nodes"})

    @classmethod
    def is_agent(cls, found: Any) -> bool:
        """Return whether it is one of those. Raises `AdapterError` for what else Semantic Kernel calls an agent."""
        from agentmut.adapters.semantic_kernel.team import is_other_kind, is_supported

        if is_other_kind(found):
            raise AdapterError(
                f"agent.factory: adapter semantic_kernel has no way to change a {type(found).__name__}; it runs "
                f"{cls.expected}. Mutants can reach others through their model requests: {ON_THE_WIRE}"
            )
        return is_supported(found)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return prompt and model of the agent that is changed, and tools and hand-offs of all."""
        from agentmut.adapters.semantic_kernel.tools import spec_of

        unless_asked_for(LOGGERS)
        team: Team = cls.team_of(agent, spec)
        return AgentConfig(
            prompt=team.prompt,
            tools=distinct(spec_of(one) for member in team.members.values() for one in member.tools.values()),
            model=team.model,
            orchestration=team.flow,
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of a copy of the team."""
        from agentmut.adapters.semantic_kernel.orchestrated import OrchestrationRun
        from agentmut.adapters.semantic_kernel.orchestration import is_orchestration

        whole = self.team_of(agent, self.spec).changed(change, trial)
        return OrchestrationRun(whole, trial) if is_orchestration(agent) else _Conversation(whole, trial)

    def cannot_change(self, edit: Edit) -> str:
        """Return what Semantic Kernel or the agent's service has no way to say."""
        from agentmut.adapters.semantic_kernel.tools import untellable

        if edit.part == "tools":
            return untellable(edit)
        if edit.part == "orchestration" and edit.path[1] not in {"max_steps", *self.found.orchestration}:
            return f"the agents have no orchestration.{edit.path[1]} that adapter semantic_kernel can change"
        if edit.part == "orchestration" and edit.path[1] == "handoffs":
            return self._cannot_lead(edit)
        if edit.part != "model" or self.source.takes_config:
            return ""
        team: Team = self.team_of(self.source.build(self.config), self.spec)
        return team.changed_agent.model.cannot_take(edit)

    def _cannot_lead(self, edit: Edit) -> str:
        from agentmut.adapters.semantic_kernel.orchestration import cannot_lead

        return cannot_lead(self.source.build(self.config), edit.path[-1], edit.after)


class _Conversation(Session):
    def __init__(self, agent: Any, trial: Trial) -> None:
        self._agent = agent
        self._trial = trial
        self._thread: Any = None

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Begin a conversation after these messages, in a thread."""
        from semantic_kernel.agents import ChatHistoryAgentThread
        from semantic_kernel.contents import ChatHistory

        history = ChatHistory()
        for message in earlier:
            history.add_message({"role": message.role, "content": message.text})
        self._thread = ChatHistoryAgentThread(history)

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Give the agent one turn of the user and return its answer."""
        from agentmut.adapters.semantic_kernel.run import answer_of

        recorder, name = self._trial.recorder, self._agent.name
        recorder.edges[START, name] = None
        answer = await answer_of(self._agent, text, self._thread, self._trial, turn)
        recorder.edges[name, END] = None
        return answer
