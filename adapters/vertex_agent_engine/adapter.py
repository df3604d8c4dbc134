"""Adapter for agents that are deployed to a Vertex AI agent engine.

Prompt, tools and model are on the server: only what the agent is told can be changed, its input, its documents and
which earlier turns it is reminded of. The rest is for the agent itself, with adapter google_adk.
"""

import asyncio
import logging
import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from pydantic import JsonValue

from agentmut._base import VERTEX, UsageError, described, import_callable, jsonable, nearest
from agentmut.adapters._shared.framework import as_text
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.adapters.vertex_agent_engine.credentials import Credentials
from agentmut.adapters.vertex_agent_engine.engines import Engine, RestEngine, SdkEngine
from agentmut.adapters.vertex_agent_engine.events import TurnEvents
from agentmut.nouns import Action, AgentConfig, AgentTrace, Edit, History, Mutant, Step, ToolSpec
from agentmut.recording import Trial
from agentmut.seams import AgentKeys, AgentSpec, AsksService, TakesKeys

OPTIONS = ("engine", "credentials", "user", "method")
METHODS = ("async_stream_query", "query")
FAREWELL = 0.5
"""Seconds that an engine has to forget a trial's session; less than a cancelled trial has."""
_NAME = re.compile(r"projects/[\w.:-]+/locations/[a-z0-9-]+/reasoningEngines/[\w.-]+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class VertexAgentEngineAdapter(AsksService, TakesKeys):
    """Asks an engine, in a new session for each trial."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(None, "", frozenset({"factory", "options"}))
    requirement: ClassVar[Requirement] = Requirement(
        "vertex_agent_engine", "google-auth", (2, 56), (3, 0), "google-adk"
    )
    service: ClassVar[str] = VERTEX.name
    spec: AgentSpec
    config: AgentConfig
    engine: Engine

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Check the name of the engine, without a request."""
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
        """Return the project's description of the agent, since the engine has none."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the project lists."""
        return self.config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same engine with another config."""
        return replace(self, config=config)

    def doubled_tools(self) -> frozenset[str]:
        """Return an empty set: tools are called on the server."""
        return frozenset()

    def versions(self) -> Mapping[str, str]:
        """Return the name of the engine, which is all that identifies it from here."""
        return {"engine": str(self.spec.options.get("engine") or self.spec.factory)}

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why a mutant cannot reach the agent: all but documents and the history is on the server."""
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
        """Run the turns in order, with the documents before the first turn of a session."""
        recorder, outputs, sessions = trial.recorder, list[JsonValue](), list[str]()
        recorder.config_reads.add("context")
        try:
            for number, turn in enumerate(turns):
                outputs.append(await self._turn(turn, trial, number, sessions))
                step = Step(action=Action.RESPOND, turn=number, output=outputs[-1], started=recorder.now())
                recorder.steps.append(step)
            seconds = recorder.now()
        finally:
            await asyncio.gather(*map(self._forgotten, sessions))
        return AgentTrace(
            steps=recorder.timeline(),
            outputs=tuple(outputs),
            seconds=seconds,
            edges=tuple(recorder.edges),
        )

    async def _turn(self, turn: JsonValue, trial: Trial, number: int, sessions: list[str]) -> JsonValue:
        """Return the answer to a turn, in the last of the sessions or a new one."""
        dropped = self.config.history is History.DROPPED
        fresh = number == 0 or dropped or not self._has_sessions
        if number and dropped:
            trial.recorder.marks.add("/history")
        if fresh and self._has_sessions:
            sessions.append(await self.engine.new_session(self._user))
        message = self._message_text(turn, fresh=fresh)
        if not self._has_sessions:
            return _plain_output(jsonable(await self.engine.query(message)))
        return await self._heard(sessions[-1], message, trial, number)

    async def _heard(self, session: str, message: str, trial: Trial, turn: int) -> JsonValue:
        hearing = TurnEvents(trial.recorder, turn, trial.recorder.now())
        try:
            async with aclosing(self.engine.events(self._user, session, message)) as events:
                async for event in events:
                    hearing.hear(event)
        except (
            BaseException
        ) as error:  # also where the time is up: what was done until then is part of the trace
            hearing.left_over(described(error))
            raise
        hearing.left_over()
        hearing.end()
        return hearing.answer

    async def _forgotten(self, session: str) -> None:
        """Delete a session from the engine if possible, since each trial makes one."""
        try:
            async with asyncio.timeout(FAREWELL):
                await self.engine.end_session(self._user, session)
        except Exception as error:
            _log.info("session %s was not deleted: %s", session, described(error))

    def _message_text(self, turn: JsonValue, *, fresh: bool) -> str:
        documents = [document.wrapped for document in self.config.context] if fresh else []
        return "\n\n".join([*documents, as_text(turn)])

    @property
    def _has_sessions(self) -> bool:
        return self.spec.options.get("method") != "query"

    @property
    def _user(self) -> str:
        return str(self.spec.options.get("user") or "agentmut")


def _plain_output(output: JsonValue) -> JsonValue:
    """Return the answer in the result of `query`: LangChain's agents repeat their input beside it."""
    if isinstance(output, dict) and {"input", "output"} <= output.keys():
        return output["output"]
    return output


def _engine(spec: AgentSpec) -> Engine:
    name = spec.options.get("engine")
    if spec.factory and spec.options.get("credentials") is not None:
        raise UsageError(
            "agent.options.credentials is for agent.options.engine; agent.factory brings its own"
        )
    if spec.factory and name is None:
        return SdkEngine(import_callable(spec.factory, Path(spec.root)))
    if spec.factory or not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise UsageError(
            "adapter vertex_agent_engine needs either agent.options.engine, as projects/PROJECT/locations/LOCATION/"
            "reasoningEngines/ID, or agent.factory, a function that returns vertexai's engine"
        )
    return RestEngine(name, Credentials(spec.options.get("credentials"), spec.root))
