"""Adapter for pydantic-ai: an `Agent` is read, and run within its own `override`, so that it stays untouched."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError, described, import_object, jsonable
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.framework import COMMON_SETTINGS, EarlierMessage, FrameworkAdapter, Session
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import START, AgentConfig, Flow, ToolSpec
from agentmut.recording import CallPlace, Trial, answering, completed
from agentmut.seams import AgentSpec


class PydanticAIAdapter(FrameworkAdapter):
    """Runs a `pydantic_ai.Agent`. Requests of its tools to other agents are recorded, and not changed."""

    requirement: ClassVar[Requirement] = Requirement(
        "pydantic_ai", "pydantic-ai-slim", (2, 0), (3, 0), "pydantic-ai", ("openai", "anthropic")
    )
    agents: ClassVar[tuple[str, ...]] = ("pydantic_ai.agent:AbstractAgent",)
    expected: ClassVar[str] = "a pydantic_ai.Agent"
    options: ClassVar[tuple[str, ...]] = ("deps",)
    settings: ClassVar[frozenset[str]] = COMMON_SETTINGS | {"stop", "tool_choice"}
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "retries"})

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Read the static instructions, the tools of every toolset, the model and the limits."""
        from agentmut.adapters.pydantic_ai.parts import Parts

        parts, deps = Parts.from_agent(agent), _deps(spec)
        return AgentConfig(
            prompt=parts.prompt,
            tools=_tools(agent, deps, by_factory="deps" in spec.options),
            model=parts.model,
            orchestration=parts.flow,
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session whose turns run within an override of what changes."""
        from agentmut.adapters.pydantic_ai.parts import Parts

        agent, overrides = Parts.from_agent(agent).changed(change)
        limit = Flow.from_orchestration(self.config.orchestration).max_steps
        return _Conversation(agent, overrides, limit, _deps(self.spec), trial)


class _Conversation(Session):
    def __init__(
        self, agent: Any, overrides: dict[str, Any], limit: int | None, deps: Any, trial: Trial
    ) -> None:
        self._agent = agent
        self._overrides = overrides
        self._offered = overrides["toolsets"][0]
        self._limit = limit
        self._deps = deps
        self._trial = trial
        self._messages: list[Any] = []
        self._invented = False

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Begin a conversation after these messages."""
        from agentmut.adapters.pydantic_ai.parts import message

        self._messages = [message(*said) for said in earlier]
        self._invented = bool(earlier)

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Give the agent one turn of the user and return its answer."""
        from pydantic_ai import UsageLimits, capture_run_messages

        recorder, place = self._trial.recorder, CallPlace(turn, self._agent.name or "agent")
        recorder.nodes.add(str(place.node))
        recorder.edges[START, str(place.node)] = None
        seen = len(self._messages)
        with answering(place), self._agent.override(**self._overrides), capture_run_messages() as messages:
            try:
                result = await self._agent.run(
                    text,
                    message_history=self._messages,
                    deps=self._deps,
                    usage_limits=UsageLimits(request_limit=self._limit),
                    capabilities=_reminders() if self._invented else (),
                )
            except Exception as error:
                self._note_missed(messages[seen:], place, error)
                raise
        self._messages = result.all_messages()
        self._note_missed(result.new_messages(), place, output=result.output)
        return jsonable(result.output)

    def _note_missed(
        self, messages: Sequence[Any], place: CallPlace, error: Exception | None = None, output: Any = None
    ) -> None:
        from agentmut.adapters.pydantic_ai.trace import note_missed, note_put_off

        note_missed(messages, self._offered, self._trial, place, error)
        note_put_off(output, self._offered, self._trial, place)


def _reminders() -> Sequence[Any]:
    """pydantic-ai takes a system prompt to be in the first of earlier messages; agentmut's own are without."""
    from pydantic_ai.capabilities import ReinjectSystemPrompt

    return [ReinjectSystemPrompt()]


def _tools(agent: Any, deps: Any, *, by_factory: bool) -> tuple[ToolSpec, ...]:
    """Return the agent's tools. Raise `AdapterError` if the agent cannot list them."""
    from agentmut.adapters.pydantic_ai.tools import tools_of

    try:
        found: tuple[ToolSpec, ...] = completed(tools_of(agent, deps))
        return found
    except Exception as error:
        hint = "" if by_factory else ". If that needs dependencies, name them with agent.options.deps"
        raise AdapterError(f"the agent's tools cannot be listed: {described(error)}{hint}") from error


def _deps(spec: AgentSpec) -> Any:
    """Return the object that `agent.options.deps` names; a function is called, so that every run has its own."""
    reference = spec.options.get("deps")
    if reference is None:
        return None
    if not isinstance(reference, str):
        raise UsageError("agent.options.deps is a reference, as in my_package.agent:make_deps")
    found = import_object(reference, Path(spec.root))
    if not callable(found):
        return found
    try:
        made = found()
    except Exception as error:
        raise AdapterError(f"agent.options.deps {reference} raised {described(error)}") from error
    if inspect.iscoroutine(made):
        made.close()
        raise AdapterError(f"agent.options.deps {reference} is async; it must be a plain function")
    return made
