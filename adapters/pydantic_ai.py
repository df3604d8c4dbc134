"""Adapter for pydantic-ai: an `Agent` is read, and run within its own `override`, so that nothing of it is touched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut.adapters._change import Change
from agentmut.adapters._framework import FrameworkAdapter, Said, Session
from agentmut.adapters._requirement import Requirement
from agentmut.config import AgentConfig
from agentmut.errors import UsageError
from agentmut.flow import START, Flow
from agentmut.imports import import_object
from agentmut.plain import jsonable
from agentmut.protocols import AgentSpec
from agentmut.threads import completed
from agentmut.trial import CallPlace, Trial, answering

# `_pydantic_ai_parts` and `_pydantic_ai_tools` import the framework, which is checked for first.


class PydanticAIAdapter(FrameworkAdapter):
    """Runs a `pydantic_ai.Agent`. What its tools ask of other agents is seen, and is not changed."""

    requirement: ClassVar[Requirement] = Requirement(
        "pydantic_ai", "pydantic-ai-slim", (2, 0), (3, 0), "pydantic-ai", ("openai", "anthropic")
    )
    expected: ClassVar[str] = "a pydantic_ai.Agent"
    options: ClassVar[tuple[str, ...]] = ("deps",)
    settings: ClassVar[frozenset[str]] = frozenset(
        {"temperature", "top_p", "max_tokens", "seed", "stop", "reasoning_effort", "tool_choice"}
    )
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "retries"})

    @classmethod
    def is_agent(cls, found: Any) -> bool:
        """Whether it is an agent of the framework."""
        from pydantic_ai.agent import AbstractAgent

        return isinstance(found, AbstractAgent)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Static instructions, tools of every toolset, model and limits."""
        from agentmut.adapters._pydantic_ai_parts import Parts
        from agentmut.adapters._pydantic_ai_tools import tools_of

        parts = Parts.of(agent)
        return AgentConfig(
            prompt=parts.prompt,
            tools=completed(tools_of(agent, _deps(spec))),
            model=parts.model,
            orchestration=parts.flow,
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """A session whose turns run within an override of what changes."""
        from agentmut.adapters._pydantic_ai_parts import Parts

        agent, overrides = Parts.of(agent).changed(change)
        limit = Flow.of(self.config.orchestration).max_steps
        return _Conversation(agent, overrides, limit, _deps(self.spec), trial)


class _Conversation(Session):
    def __init__(
        self, agent: Any, overrides: dict[str, Any], limit: int | None, deps: Any, trial: Trial
    ) -> None:
        self._agent = agent
        self._overrides = overrides
        self._limit = limit
        self._deps = deps
        self._recorder = trial.recorder
        self._messages: list[Any] = []

    def begin(self, earlier: Sequence[Said]) -> None:
        from agentmut.adapters._pydantic_ai_parts import message

        self._messages = [message(*said) for said in earlier]

    async def ask(self, text: str, turn: int) -> JsonValue:
        from pydantic_ai import UsageLimits

        name = self._agent.name or "agent"
        self._recorder.nodes.add(name)
        self._recorder.edges[START, name] = None
        with answering(CallPlace(turn, name)), self._agent.override(**self._overrides):
            result = await self._agent.run(
                text,
                message_history=self._messages,
                deps=self._deps,
                usage_limits=UsageLimits(request_limit=self._limit),
            )
        self._messages = result.all_messages()
        return jsonable(result.output)


def _deps(spec: AgentSpec) -> Any:
    """What `agent.options.deps` names; a function is called, so that every run has its own. Raises `UsageError`."""
    reference = spec.options.get("deps")
    if reference is None:
        return None
    if not isinstance(reference, str):
        raise UsageError("agent.options.deps is a reference, as in my_package.agent:make_deps")
    found = import_object(reference, Path(spec.root))
    return found() if callable(found) else found
