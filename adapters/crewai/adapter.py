"""Adapter for CrewAI: a crew is read, copied with changes and kicked off for each turn.

Of a crew one agent is changed in texts and model, the first one unless `agent.options.agent` gives the role of
another; tools are those of all agents and tasks, the order of tasks is part of the flow.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError, described
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.framework import COMMON_SETTINGS, EarlierMessage, FrameworkAdapter, Session
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import AgentConfig, Edit, Flow, Mutant
from agentmut.recording import Trial, in_daemon_thread
from agentmut.seams import AgentSpec, RunsInThread

CHAT = "crew_chat_messages"
"""The input by which CrewAI's own chat passes a conversation on."""
PLACEHOLDER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""What CrewAI puts inputs into; other text in braces, such as JSON, it leaves alone."""


class CrewAIAdapter(FrameworkAdapter, RunsInThread):
    """Runs a `crewai.Crew`."""

    in_thread: ClassVar[str] = "a crew"

    requirement: ClassVar[Requirement] = Requirement(
        "crewai", "crewai", (1, 15, 3), (2, 0), "crewai", ("openai",)
    )
    agents: ClassVar[tuple[str, ...]] = ("crewai:Crew",)
    expected: ClassVar[str] = "a crewai.Crew"
    options: ClassVar[tuple[str, ...]] = ("agent", "input", "inputs")
    settings: ClassVar[frozenset[str]] = COMMON_SETTINGS
    flow: ClassVar[frozenset[str]] = frozenset(
        {"max_steps", "retries", "nodes", "edges", "state", "handoffs"}
    )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Prevent CrewAI's telemetry before any module of the project imports CrewAI."""
        cls.requirement.check()
        from agentmut.adapters.crewai.quiet_crews import import_quietly

        import_quietly()
        return super().create(spec, config)

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return texts and model of the agent that is changed, tools of all, the order of the tasks."""
        from agentmut.adapters.crewai.crew import Team
        from agentmut.adapters.crewai.tools import refusals

        refusals()  # as early as this: what a hook raises, CrewAI would only print
        team = Team.from_crew(agent, spec.options.get("agent"))
        name = _input_of(spec)
        if name not in agent.fetch_inputs() and not agent.before_kickoff_callbacks:
            raise AdapterError(
                f"no task of the crew has the placeholder {{{name}}}, so that a scenario's input would not reach it. "
                f"Put {{{name}}} into a task's description, or name another with agent.options.input. (A crew that "
                "was kicked off has lost its placeholders: name a function that builds a fresh one.)"
            )
        _check_inputs(agent, {name, CHAT, *_inputs_of(spec)})
        _check_copies(agent)
        return AgentConfig(
            prompt=team.prompt, tools=distinct(team.tools), model=team.model, orchestration=team.flow
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of a copy of the crew."""
        from agentmut.adapters.crewai.crew import Team

        team = Team.from_crew(agent, self.spec.options.get("agent"))
        known = agent.fetch_inputs()
        crew = team.changed(change, self.original.prompt)
        given = _inputs_of(self.spec)
        # What is in braces in a document or a mutant's text is no placeholder.
        inputs = {name: f"{{{name}}}" for name in crew.crew.fetch_inputs() - known} | given
        wanted = Flow.from_orchestration(self.config.orchestration).handoffs.values()
        led = {name.casefold(): to for targets in wanted for name, to in targets.items() if name != to}
        return _Conversation(crew, _input_of(self.spec), inputs, led, trial)

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why CrewAI cannot show a mutant, such as a change that it overrides in every tool."""
        return super().cannot_express(mutant) or self._unseen(mutant)

    def cannot_change(self, edit: Edit) -> str:
        """Return why a setting cannot change; tool names have to fit all services."""
        from agentmut.adapters.crewai.tools import told_name

        if edit.part == "tools" and edit.path[2:] == ("name",) and told_name(str(edit.after)) != edit.after:
            return f"CrewAI offers a tool that is called {edit.after} as {told_name(str(edit.after))}"
        return ""

    def _unseen(self, mutant: Mutant) -> str:
        if not all(edit.part == "tools" and edit.path[2:3] == ("parameters",) for edit in mutant.edits):
            return ""
        if not mutant.edits or _tool_parameters(mutant.apply(self.config)) != _tool_parameters(self.config):
            return ""
        return "CrewAI tells the model that every parameter is required, and nothing of defaults and titles"


def _tool_parameters(config: AgentConfig) -> list[dict[str, JsonValue]]:
    """List the parameters of the tools as the model gets them."""
    from agentmut.adapters.crewai.tools import told_schema

    return [told_schema(tool.parameters) for tool in config.tools]


def _check_inputs(crew: Any, inputs: set[str]) -> None:
    """Raise `AdapterError` for placeholders that nothing is put into: CrewAI would refuse every kickoff."""
    missing = sorted(name for name in crew.fetch_inputs() - inputs if PLACEHOLDER.fullmatch(name))
    if missing and not crew.before_kickoff_callbacks:
        told = ", ".join(f"{{{name}}}" for name in missing)
        raise AdapterError(
            f"the crew has placeholders that have no value: {told}. Give them with agent.options.inputs, as in "
            f"inputs: {{{missing[0]}: ...}}"
        )


def _inputs_of(spec: AgentSpec) -> dict[str, JsonValue]:
    inputs = spec.options.get("inputs") or {}
    if not isinstance(inputs, dict):
        raise UsageError(
            "agent.options.inputs: expected values by the name of their placeholder: {shop: tea}"
        )
    return inputs


def _check_copies(crew: Any) -> None:
    from agentmut.adapters.crewai.copy import copy_of

    try:
        copy_of(crew)
    except Exception as error:
        raise AdapterError(
            f"copying the crew raised {described(error)}, and each trial needs a copy. Mutants can reach the crew "
            f"through its model requests: {ON_THE_WIRE}"
        ) from error


def _input_of(spec: AgentSpec) -> str:
    name = spec.options.get("input", "input")
    if not isinstance(name, str) or not name:
        raise UsageError("agent.options.input: expected the name of a placeholder, such as question")
    return name


class _Conversation(Session):
    def __init__(
        self, team: Any, name: str, inputs: Mapping[str, JsonValue], led: Mapping[str, str], trial: Trial
    ) -> None:
        self._team = team
        self._name = name
        self._inputs = inputs
        self._led = led
        self._trial = trial
        self._said: list[EarlierMessage] = []

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Begin a conversation after these messages."""
        self._said = list(earlier)

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Give the crew one turn of the user and return its answer."""
        from agentmut.adapters.crewai.run import Watch, kicked_off

        inputs: dict[str, JsonValue] = {**self._inputs, self._name: text}
        if self._said:  # how CrewAI's own chat passes a conversation on
            inputs[CHAT] = json.dumps(
                [{"role": said.role, "content": said.text} for said in self._said], ensure_ascii=False
            )
        watch = Watch(self._team, self._led, self._trial, turn)
        answer: JsonValue = await in_daemon_thread(kicked_off, self._team, inputs, watch)
        told = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        self._said += [EarlierMessage("user", text), EarlierMessage("assistant", told)]
        return answer
