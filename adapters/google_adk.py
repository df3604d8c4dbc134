"""Adapter for Google's Agent Development Kit (ADK): agents with those below them, read, cloned and run by a `Runner`.

Of several agents one is changed in prompt and model, the first `LlmAgent` unless `agent.options.agent` names another;
tools are those of all agents. Hand-offs, and the order in which workflow agents run others, are part of the flow.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import JsonValue

from agentmut.adapters._agent_source import AgentSource
from agentmut.adapters._change import Change, distinct
from agentmut.adapters._framework import FrameworkAdapter, Said, Session
from agentmut.adapters._requirement import Requirement
from agentmut.adapters._sdk_version import version_of
from agentmut.config import SAMPLING, AgentConfig
from agentmut.errors import AdapterError, MutationError
from agentmut.flow import Flow
from agentmut.imports import import_object
from agentmut.mutant import Edit, Mutant, apply_edits
from agentmut.plain import jsonable
from agentmut.protocols import AgentSpec
from agentmut.threads import completed
from agentmut.trial import Trial
from agentmut.wire.carriers import genai_hook

# The modules `_google_adk_*` but for the flow import ADK, which is checked for first.

USER = "user"
ASKS = "adk_request_"
"""The names of calls begin with this by which ADK asks a user to confirm, to sign in or to tell something."""
LOGGERS = ("google_adk", "google_genai")
"""Under these names ADK and its SDK log every failed run, with a traceback; runs of mutants fail a lot."""


class GoogleADKAdapter(FrameworkAdapter):
    """Runs an agent of ADK with all that it can run, or an `App` that has one."""

    requirement: ClassVar[Requirement] = Requirement(
        "google_adk", "google-adk", (2, 10), (3, 0), "google-adk", ("google-genai",)
    )
    expected: ClassVar[str] = "an agent of google.adk.agents, or an App"
    options: ClassVar[tuple[str, ...]] = ("agent", "state")
    settings: ClassVar[frozenset[str]] = frozenset(SAMPLING)
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs", "nodes", "edges", "state"})

    def __init__(
        self,
        source: AgentSource,
        spec: AgentSpec,
        found: AgentConfig,
        config: AgentConfig,
        original: AgentConfig,
    ) -> None:
        from agentmut.adapters._google_adk_copy import Models

        _quiet()
        super().__init__(source, spec, found, config, original)
        self._models = Models()

    def with_config(self, config: AgentConfig) -> Self:
        """The same agents with another config; they share the clients of their models."""
        other = super().with_config(config)
        other._models = self._models
        return other

    @classmethod
    def is_agent(cls, found: Any) -> bool:
        """Whether it is something that ADK runs; `read` says what can be changed."""
        from google.adk.apps import App
        from google.adk.workflow import BaseNode

        return isinstance(found, App | BaseNode)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Prompt and model of the agent that is changed, tools and flow of all."""
        if not genai_hook.can_be_led():
            raise AdapterError(
                f"adapter google_adk does not know how google-genai {version_of('google-genai')['google-genai']} "
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
        """A session of a clone of the tree."""
        from agentmut.adapters._google_adk_copy import Copying
        from agentmut.adapters._google_adk_graph import agents_before
        from agentmut.adapters._google_adk_run import Watch
        from agentmut.adapters._google_adk_toolsets import Toolsets

        tree, state, own = _tree(agent, self.spec), self.spec.options.get("state"), not self.source.is_object
        toolsets = Toolsets(tree.members, state, closes=own)

        async def app() -> Any:
            whole = replace(tree, listed=await toolsets.listed())
            root = Copying(whole, change, self._models, toolsets).root()
            return _app(agent, root, Watch(trial, whole.redirects(change), agents_before(root)))

        limit = Flow.of(self.config.orchestration).max_steps
        return _Conversation(app, toolsets, limit, state, ends=own)

    def cannot_change(self, edit: Edit) -> str:
        """Settings are given in Gemini's terms: which of them other models follow is not known."""
        foreign = self.found.model.provider != "google" and not self.source.takes_config
        if foreign and edit.part == "model" and edit.path[1:2] != ("name",):
            return (
                f"adapter google_adk does not know whether the agent's model heeds {'.'.join(edit.path[1:])}, as it is "
                "none of Gemini's; mutants of it can reach the agent by agent.route: wire"
            )
        return ""

    def cannot_express(self, mutant: Mutant) -> str:
        """Besides, orders that no arrangement of workflow agents has, and those of tools that no agent has together."""
        return super().cannot_express(mutant) or self._cannot_arrange(mutant) or self._cannot_offer(mutant)

    def _cannot_arrange(self, mutant: Mutant) -> str:
        if not any(edit.path[:2] == ("orchestration", "edges") for edit in mutant.edits):
            return ""
        try:
            wanted = apply_edits(self.config, mutant.edits)
        except MutationError:  # told by those who apply it
            return ""
        return str(self._first.cannot_run(Flow.of(wanted.orchestration).edges))

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


class _Conversation(Session):
    """Each conversation is a session of ADK's of its own."""

    def __init__(
        self,
        app: Callable[[], Awaitable[Any]],
        toolsets: Any,
        limit: int | None,
        state: JsonValue,
        *,
        ends: bool,
    ) -> None:
        from google.adk.sessions import InMemorySessionService

        self._sessions = InMemorySessionService()
        self._app = app
        self._toolsets = toolsets
        self._runner: Any = None
        self._limit = limit
        self._state = state
        self._ends = ends
        self._earlier: Sequence[Said] = ()
        self._id: str | None = None

    def begin(self, earlier: Sequence[Said]) -> None:
        self._earlier, self._id = earlier, None

    async def ask(self, text: str, turn: int) -> JsonValue:
        from google.adk.agents.run_config import RunConfig
        from google.genai.types import Content, Part

        if self._runner is None:
            self._runner = await self._begun()
        limit = {} if self._limit is None else {"max_llm_calls": self._limit}
        asked = self._runner.run_async(
            user_id=USER,
            session_id=await self._session(),
            new_message=Content(role=USER, parts=[Part(text=text)]),
            run_config=RunConfig(**limit),
        )
        async with aclosing(asked) as events:
            seen = [event async for event in events]
        kinds = ([find(event) for event in seen] for find in (_waiting, _answer, _last_word))
        answers = (answer for found in kinds for answer in reversed(found) if answer is not None)
        return next(answers, "")

    async def close(self) -> None:
        """Close what the agent opened, unless other runs have the same agent."""
        if self._ends and self._runner is not None:
            await self._runner.close()
        await self._toolsets.close()

    async def _begun(self) -> Any:
        from google.adk.runners import Runner

        return Runner(app=await self._app(), session_service=self._sessions)

    async def _session(self) -> str:
        if self._id is None:
            session = await self._sessions.create_session(
                app_name=self._runner.app_name, user_id=USER, state=_copied(self._state)
            )
            for said in self._earlier:
                await self._sessions.append_event(session, self._event(said))
            self._id = session.id
        return self._id

    def _event(self, said: Said) -> Any:
        from google.adk.events import Event
        from google.genai.types import Content, Part

        own = said.role == USER
        return Event(
            author=USER if own else self._runner.app.root_agent.name,
            content=Content(role=USER if own else "model", parts=[Part(text=said.text)]),
        )


def _answer(event: Any) -> JsonValue:
    """What a user is told by an event; None for what goes on inside, and by those who say nothing."""
    if event.output is not None and not event.content:  # what a node of a graph gives
        return jsonable(event.output)
    if event.error_code and not event.content:
        return {"error_code": str(event.error_code), "error_message": event.error_message}
    if not event.is_final_response() or not event.content:
        return None
    said = [part.text for part in event.content.parts or () if part.text and not part.thought]
    return "".join(said) or None


def _last_word(event: Any) -> JsonValue:
    """What a tool said that ended the turn; None for others."""
    if not event.actions.skip_summarization:
        return None
    said = [jsonable(one.response) for one in event.get_function_responses()]
    return said[-1] if said else None


def _waiting(event: Any) -> JsonValue:
    """What a run asks its user for, and will not go on without."""
    asked = [call for call in event.get_function_calls() if str(call.name).startswith(ASKS)]
    if not asked:
        return None
    about = (asked[0].args or {}).get("originalFunctionCall") or {}
    return {"waits_for": asked[0].name, "tool": about.get("name")}


def _quiet() -> None:
    """Have the frameworks' log go where the user has it go, and not to stderr where nobody has asked for it.

    What a run fails with is in its trace.
    """
    for logger in map(logging.getLogger, LOGGERS):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _tree(agent: Any, spec: AgentSpec) -> Any:
    from google.adk.agents import BaseAgent

    from agentmut.adapters._google_adk_tree import Tree

    root = getattr(agent, "root_agent", agent) if not isinstance(agent, BaseAgent) else agent
    tree = Tree.of(root, spec.options.get("agent"))
    if not isinstance(root, BaseAgent) and not tree.llm_agents:
        raise AdapterError(
            f"agent.factory {spec.factory} is a {type(root).__name__} without an LlmAgent, of which adapter google_adk "
            "can change nothing. Mutants can reach its model requests: adapter python with agent.run, a function "
            "that runs it"
        )
    return tree


def _listed(tree: Any, spec: AgentSpec) -> Any:
    """The tree with the tools of its toolsets, which are asked for them."""
    from agentmut.adapters._google_adk_toolsets import listed_once

    if not tree.has_toolsets:
        return tree
    built = not GoogleADKAdapter.is_agent(import_object(str(spec.factory), Path(spec.root)))
    asked = listed_once(tree.members, spec.options.get("state"), closes=built)
    return replace(tree, listed=completed(asked))


def _app(agent: Any, root: Any, watch: Any) -> Any:
    """The user's app, or a plain one, around the copy of its root."""
    from google.adk.apps import App

    if isinstance(agent, App):
        return agent.model_copy(update={"root_agent": root, "plugins": [watch, *agent.plugins]})
    return App(name="agentmut", root_agent=root, plugins=[watch])


def _copied(state: JsonValue) -> dict[str, Any] | None:
    return dict(state) if isinstance(state, dict) else None
