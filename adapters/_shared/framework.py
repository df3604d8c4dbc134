"""The base of framework adapters: a live agent is read, changed, and run turn by turn.

An adapter of a framework says how (`read`, `prepared`, `begin`, `Session.ask`); this is when. Steps of model calls
are read off the requests of the trial, so that usage and durations are what the wire saw. An adapter imports its
framework, and its own modules that do, in functions: `create` first checks for the package.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError, described, nearest
from agentmut.adapters._shared.agent_source import ON_THE_WIRE, AgentSource
from agentmut.adapters._shared.change import Change, completed
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import (
    CHANGED,
    Action,
    AgentConfig,
    AgentTrace,
    Edit,
    History,
    Mutant,
    Step,
    ToolSpec,
    is_set,
    unreachable_fault,
)
from agentmut.project import check_tools
from agentmut.recording import CallPlace, Trial, answering
from agentmut.seams import AgentKeys, AgentSpec, KnowsOriginal, TakesKeys
from agentmut.wire import steps_from_exchanges


class EarlierMessage(NamedTuple):
    """A message of an earlier turn."""

    role: str
    """`user` or `assistant`."""
    text: str


class Session(ABC):
    """One run of a prepared agent; it keeps the conversation, as the framework does."""

    @abstractmethod
    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Forget the conversation; the next turn follows these messages. Called before the first turn, too."""

    @abstractmethod
    async def ask(self, text: str, turn: int) -> JsonValue:
        """Return the agent's answer to a turn. Raises what the framework raises."""

    async def close(self) -> None:  # noqa: B027  (most hold nothing)
        """Release what the run holds."""


COMMON_SETTINGS = frozenset({"temperature", "top_p", "max_tokens", "seed", "reasoning_effort"})
"""The settings of a model that nearly every framework has, by the names that a config has for them."""


@dataclass(eq=False)
class FrameworkAdapter(KnowsOriginal, TakesKeys):
    """Runs the agents of one framework."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        "factory", "my_package.agent:build", frozenset({"route", "options"})
    )
    requirement: ClassVar[Requirement]
    agents: ClassVar[tuple[str, ...]] = ()
    """The framework's classes of agents, as module:class; imported after the package was checked for."""
    expected: ClassVar[str]
    """What the framework's agents are, in a phrase: an agents.Agent."""
    team_class: ClassVar[str]
    """The adapter's own class of a team, as module:class; only adapters that call `team_of` name one."""
    options: ClassVar[tuple[str, ...]] = ()
    """The keys of `agent.options`."""
    objects: ClassVar[bool] = True
    """Whether an agent that is there already can serve for every trial."""
    settings: ClassVar[frozenset[str]] = frozenset()
    """The settings of a model that `prepared` can change, besides its name."""
    flow: ClassVar[frozenset[str]] = frozenset()
    """The keys of the flow that `prepared` can change."""
    swaps_history: ClassVar[bool] = True
    """Whether a session can begin with earlier messages."""

    source: AgentSource
    spec: AgentSpec
    found: AgentConfig
    """What was read from the agent."""
    config: AgentConfig
    original: AgentConfig
    seen: frozenset[str] | None = None
    """The tools that the agent had when it was read, whatever the project says."""

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Check the package, import the factory, build the agent once and read its config."""
        cls.requirement.check()
        for name in spec.options:
            if name not in cls.options:
                raise UsageError(f"agent.options: unknown key {name!r}. {nearest(name, cls.options)}")
        source = AgentSource.from_spec(spec, cls.is_agent, cls.expected, objects=cls.objects)
        found = cls.read(source.build(config), spec)
        try:
            found = found.model_copy(update={"tools": check_tools(found.tools)})
        except UsageError as error:
            raise AdapterError(f"the tools of agent.factory {spec.factory}: {error}") from error
        _check_known(config, found, spec)
        whole = completed(config, found)
        seen = frozenset(tool.name for tool in found.tools)
        return cls(source, spec, whole if source.takes_config else found, whole, whole, seen)

    # What an adapter says of its framework.

    @classmethod
    def is_agent(cls, found: Any) -> bool:
        """Return whether the object is an agent of the framework: an instance of one of its `agents`."""
        return isinstance(found, tuple(map(resolve_name, cls.agents)))

    @classmethod
    @abstractmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return the config of a live agent: prompt, tools, model, orchestration."""

    @classmethod
    def team_of(cls, agent: Any, spec: AgentSpec) -> Any:
        """Return the members of `agent`, a `team_class`; mutants change the member that `agent.options.agent` names."""
        return resolve_name(cls.team_class).from_agent(agent, spec.options.get("agent"))

    @abstractmethod
    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of an agent that differs from `agent` by `change`; `agent` itself is not touched.

        Calls of tools go through `agentmut.trial.calls.instrument`, by the own name of the tool.
        """

    def cannot_change(self, edit: Edit) -> str:
        """Return why the framework cannot carry out an edit, in a phrase; empty if it can."""
        return ""

    def way_around(self, setting: str) -> str:
        """Return in a clause how mutants of a setting outside `settings` can reach the agent."""
        return "mutants of it can reach the agent by agent.route: wire"

    # What agentmut asks.

    def get_config(self) -> AgentConfig:
        """Return the config of this adapter; parts missing in the project were read from the agent."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools that were found at the agent."""
        return self.found.tools

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same agents with another config."""
        return replace(self, config=config)

    def doubled_tools(self) -> frozenset[str]:
        """Return every tool of the agent, since agentmut passes on all their calls."""
        return frozenset(tool.own_name for tool in self.found.tools)

    def cannot_express(self, mutant: Mutant) -> str:
        """Return what the framework, or a factory that takes the config, has no way to carry out."""
        reasons = (self._cannot_change(edit) for edit in mutant.edits)
        return next(filter(None, reasons), "") or unreachable_fault(mutant, self.config, self._interceptable)

    def _interceptable(self) -> frozenset[str]:
        return self.doubled_tools() | {tool.name for tool in self.config.tools}

    def _cannot_change(self, edit: Edit) -> str:
        framework, key = self.requirement.adapter, edit.path[1] if len(edit.path) > 1 else ""
        if edit.part == "history" and edit.after == History.SWAPPED and not self.swaps_history:
            return f"adapter {framework} cannot give an agent earlier messages that it has not seen"
        if edit.part == "orchestration" and key not in self.flow:
            return f"adapter {framework} has no way to change orchestration.{key} of an agent"
        if edit.part == "model" and not self.source.takes_config and key not in {"name", *self.settings}:
            return f"adapter {framework} has no way to set model.{key} of an agent; {self.way_around(key)}"
        return self.cannot_change(edit)

    def versions(self) -> Mapping[str, str]:
        """Return versions of the packages that shape a run."""
        return self.requirement.versions()

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Prepare a new agent and run the turns in order."""
        recorder = trial.recorder
        change = Change(self.found, self.config, seen=self.seen)
        if self.source.takes_config:  # it has built what was asked for; what is left is what adapters do
            asked = self.config.model_copy(update={"orchestration": self.found.orchestration})
            change = Change(asked, self.config, built=True, seen=self.seen)
        session = self.prepared(self.source.build(self.config), change, trial)
        if changed := Change(self.original, self.config).orchestration:
            recorder.marks |= {CHANGED, *(f"/orchestration/{key}" for key in changed)}
        try:
            outputs = await self._conversation(session, turns, trial)
        finally:
            if not any(step.action is Action.REASON for step in recorder.steps):
                recorder.steps += steps_from_exchanges(recorder.exchanges, with_tools=False)
            await session.close()
        return recorder.trace(outputs)

    async def _conversation(
        self, session: Session, turns: Sequence[JsonValue], trial: Trial
    ) -> list[JsonValue]:
        outputs: list[JsonValue] = []
        session.begin(())
        for number, turn in enumerate(turns):
            if number and self.config.history in (History.DROPPED, History.SWAPPED):
                swapped = self.config.history is History.SWAPPED
                session.begin(tuple(_swapped(turns[:number], outputs)) if swapped else ())
                trial.recorder.marks.add("/history")
            with answering(CallPlace(turn=number)):
                outputs.append(await _answer_to(session, as_text(turn), number, trial))
            now = trial.recorder.now()
            trial.recorder.steps.append(
                Step(action=Action.RESPOND, turn=number, output=outputs[-1], started=now)
            )
        return outputs


async def _answer_to(session: Session, text: str, turn: int, trial: Trial) -> JsonValue:
    """Return the answer to a turn. Raises `AdapterError` for an agent, or a model, that can only stream."""
    try:
        return await session.ask(text, turn)
    except NotImplementedError as error:
        if trial.recorder.exchanges or trial.recorder.steps:  # something that the agent did has raised it
            raise
        raise AdapterError(
            f"the agent cannot be asked without streaming, it seems: {described(error)}. Agents that only stream can "
            f"be run by {ON_THE_WIRE}"
        ) from error


def _check_known(config: AgentConfig, found: AgentConfig, spec: AgentSpec) -> None:
    """Raise `UsageError` for tools of the project that the agent lacks, since it would silently run without them."""
    names = [tool.name for tool in found.tools]
    for tool in config.tools:
        if tool.own_name not in names:
            raise UsageError(
                f"agent.config.tools: the agent of {spec.factory} has no tool {tool.own_name!r}. "
                f"{nearest(tool.own_name, names) if names else 'It has no tools.'}"
            )


def dropped(value: Any) -> bool:
    """Return whether a changed setting of the model is to be removed."""
    return not is_set(value)


def as_text(value: JsonValue) -> str:
    """Return a turn as the text that a framework is given."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _swapped(turns: Sequence[JsonValue], outputs: Sequence[JsonValue]) -> list[EarlierMessage]:
    """Return the earlier messages with user and assistant exchanged."""
    pairs = zip(turns, outputs, strict=True)
    return [
        said
        for turn, output in pairs
        for said in (EarlierMessage("assistant", as_text(turn)), EarlierMessage("user", as_text(output)))
    ]


def unless_asked_for(names: Iterable[str]) -> None:
    """Keep these loggers from stderr, where Python prints what no handler takes.

    What a run fails with is in its trace, and runs of mutants fail a lot.
    """
    for logger in map(logging.getLogger, names):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
