"""Adapter for agents that are deployed to a Vertex AI agent engine.

Prompt, tools and model are on the server: only what the agent is told can be changed, its input, its documents and
which earlier turns it is reminded of. The rest is for the agent itself, with adapter google_adk.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from pydantic import JsonValue

from agentmut.adapters._framework import as_text
from agentmut.adapters._requirement import Requirement
from agentmut.adapters._vertex_engines import Engine, RestEngine, SdkEngine, credentials_of
from agentmut.adapters._vertex_events import Hearing
from agentmut.config import AgentConfig, History
from agentmut.errors import UsageError, nearest
from agentmut.imports import import_callable
from agentmut.mutant import Edit, Mutant
from agentmut.plain import jsonable
from agentmut.protocols import AgentKeys, AgentSpec
from agentmut.tools import ToolSpec
from agentmut.trace import Action, AgentTrace, Step
from agentmut.trial import Trial

OPTIONS = ("engine", "credentials", "user", "method")
METHODS = ("async_stream_query", "query")
_NAME = re.compile(r"projects/[^/]+/locations/[a-z0-9-]+/reasoningEngines/[^/:]+")


@dataclass(frozen=True)
class VertexAgentEngineAdapter:
    """Asks an engine, in a session of its own for each trial."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(None, "", frozenset({"factory", "options"}))
    requirement: ClassVar[Requirement] = Requirement(
        "vertex_agent_engine", "google-auth", (2, 56), (3, 0), "google-adk"
    )
    spec: AgentSpec
    config: AgentConfig
    engine: Engine

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Check what names the engine. It is not asked."""
        cls.requirement.check()
        for name in spec.options:
            if name not in OPTIONS:
                raise UsageError(f"agent.options: unknown key {name!r}. {nearest(name, OPTIONS)}")
        if (method := spec.options.get("method", METHODS[0])) not in METHODS:
            raise UsageError(f"agent.options.method: unknown {method!r}. {nearest(str(method), METHODS)}")
        if spec.route == "wire":
            raise UsageError(
                "agent.route: the model requests of a deployed engine leave Google's servers, where nothing can be "
                "changed on the way; leave it out, or run the agent itself with adapter google_adk"
            )
        return cls(spec, config, _engine(spec))

    def get_config(self) -> AgentConfig:
        """What the project says of the agent; the engine does not tell."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the project lists."""
        return self.config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """The same engine, told otherwise."""
        return replace(self, config=config)

    def doubled_tools(self) -> frozenset[str]:
        """None: tools are called on the server."""
        return frozenset()

    def versions(self) -> Mapping[str, str]:
        """What of the engine can be told apart from here: its name."""
        return {"engine": str(self.spec.options.get("engine") or self.spec.factory)}

    def cannot_express(self, mutant: Mutant) -> str:
        """Everything but documents and the history is on the server."""
        return next(filter(None, map(self._cannot_change, mutant.edits)), "")

    def _cannot_change(self, edit: Edit) -> str:
        if edit.part == "history":
            if not self._has_sessions:
                return "an engine that is asked by query has no earlier turns"
            swapped = edit.after == History.SWAPPED
            return "an engine cannot be given earlier messages that it has not seen" if swapped else ""
        if edit.part == "context":
            return ""
        return (
            f"a deployed engine has its {edit.part} on the server, where it cannot be changed from here; run the agent "
            "itself, with adapter google_adk"
        )

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Give the engine the turns in order, the documents ahead of the first one of a session."""
        recorder, outputs = trial.recorder, list[JsonValue]()
        recorder.config_reads.add("context")
        session = ""
        for number, turn in enumerate(turns):
            fresh = number == 0 or self.config.history is History.DROPPED or not self._has_sessions
            if number and self.config.history is History.DROPPED:
                recorder.marks.add("/history")
            if fresh and self._has_sessions:
                session = await self.engine.new_session(self._user)
            outputs.append(await self._answer(session, self._told(turn, fresh=fresh), trial, number))
            step = Step(action=Action.RESPOND, turn=number, output=outputs[-1], started=recorder.now())
            recorder.steps.append(step)
        return AgentTrace(
            steps=recorder.timeline(),
            outputs=tuple(outputs),
            seconds=recorder.now(),
            edges=tuple(recorder.edges),
        )

    async def _answer(self, session: str, message: str, trial: Trial, turn: int) -> JsonValue:
        if not self._has_sessions:
            return jsonable(await self.engine.query(message))
        hearing = Hearing(trial.recorder, turn, trial.recorder.now())
        async for event in self.engine.events(self._user, session, message):
            hearing.hear(event)
        hearing.end()
        return hearing.answer

    def _told(self, turn: JsonValue, *, fresh: bool) -> str:
        documents = [document.wrapped for document in self.config.context] if fresh else []
        return "\n\n".join([*documents, as_text(turn)])

    @property
    def _has_sessions(self) -> bool:
        return self.spec.options.get("method") != "query"

    @property
    def _user(self) -> str:
        return str(self.spec.options.get("user") or "agentmut")


def _engine(spec: AgentSpec) -> Engine:
    name = spec.options.get("engine")
    if spec.factory and name is None:
        return SdkEngine(import_callable(spec.factory, Path(spec.root)))
    if spec.factory or not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise UsageError(
            "adapter vertex_agent_engine needs either agent.options.engine, as projects/PROJECT/locations/LOCATION/"
            "reasoningEngines/ID, or agent.factory, a function that returns vertexai's engine"
        )
    return RestEngine(name, credentials_of(spec.options.get("credentials"), spec.root))
