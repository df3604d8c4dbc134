"""Adapter for AutoGen's AgentChat: assistant agents and teams of them, read, rebuilt and run by `run_stream`.

AutoGen's agents keep what they were told, so a function builds them anew for each trial. Of a team one agent is
changed in prompt and model, the first one unless `agent.options.agent` names another; tools are those of all agents,
hand-offs, members and limits are part of the flow.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.framework import COMMON_SETTINGS, EarlierMessage, FrameworkAdapter, Session
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.nouns import AgentConfig, Edit
from agentmut.recording import Trial
from agentmut.seams import AgentSpec

if TYPE_CHECKING:
    from agentmut.adapters.autogen.team import Team


class AutoGenAdapter(FrameworkAdapter):
    """Runs an `AssistantAgent`, or a team with some among its members."""

    requirement: ClassVar[Requirement] = Requirement(
        "autogen", "autogen-agentchat", (0, 7), (0, 8), "autogen", ("autogen-core", "autogen-ext", "openai")
    )
    agents: ClassVar[tuple[str, ...]] = (
        "autogen_agentchat.agents:AssistantAgent",
        "autogen_agentchat.teams:BaseGroupChat",
    )
    expected: ClassVar[str] = "an AssistantAgent or a team of autogen_agentchat"
    team_class: ClassVar[str] = "agentmut.adapters.autogen.team:Team"
    options: ClassVar[tuple[str, ...]] = ("agent",)
    objects: ClassVar[bool] = False
    settings: ClassVar[frozenset[str]] = COMMON_SETTINGS | {"response_format", "stop", "tool_choice"}
    flow: ClassVar[frozenset[str]] = frozenset({"max_steps", "handoffs", "nodes"})
    shares: bool = True
    """Whether agents of several trials have a client or a workbench in common, which no trial may close then."""

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Create the adapter, and check that the function builds a new agent each time."""
        adapter = super().create(spec, config)
        one, other = (cls.team_of(adapter.source.build(config), spec) for _ in range(2))
        if _common(one.keeping(), other.keeping()):
            raise AdapterError(
                f"agent.factory {spec.factory} gives the same agent, model context or termination condition each "
                "time, and these keep what they were told; have it build them anew"
            )
        adapter.shares = _common(one.holdings(), other.holdings())
        logging.getLogger("autogen_core").addHandler(logging.NullHandler())  # else tracebacks go to stderr
        return adapter

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same agents with another config."""
        adapter = super().with_config(config)
        adapter.shares = self.shares
        return adapter

    @classmethod
    def read(cls, agent: Any, spec: AgentSpec) -> AgentConfig:
        """Return prompt and model of the agent that is changed, and tools and hand-offs of all."""
        from agentmut.adapters.autogen.tools import listed
        from agentmut.recording import completed

        team: Team = cls.team_of(agent, spec)
        return AgentConfig(
            prompt=team.prompt,
            tools=distinct(completed(listed(team.workbenches()))),
            model=team.model,
            orchestration=team.flow,
        )

    def prepared(self, agent: Any, change: Change, trial: Trial) -> Session:
        """Return a session of copies of the agents; if the history is dropped, each turn gets new copies."""
        unused = [agent]

        def fresh() -> "Team":
            found = unused.pop() if unused else self.source.build(self.config)
            team: Team = self.team_of(found, self.spec)
            return team.changed(change)

        return _Conversation(fresh, trial, closes=not self.shares)

    def cannot_change(self, edit: Edit) -> str:
        """Return what depends on the client of the model, and on the kind of team."""
        from agentmut.adapters.autogen.model import cannot_set

        if edit.part == "model" and len(edit.path) > 1 and not self.source.takes_config:
            return cannot_set(edit.path[1], self.found.model.provider)
        if edit.part == "orchestration" and edit.path[1] not in {"max_steps", *self.found.orchestration}:
            return f"the agents have no {edit.path[1]} that adapter autogen can change"
        return ""


class _Conversation(Session):
    def __init__(self, fresh: "Callable[[], Team]", trial: Trial, *, closes: bool) -> None:
        self._fresh = fresh
        self._trial = trial
        self._closes = closes
        self._used: list[Team] = []
        self._earlier: Sequence[EarlierMessage] = ()
        self._team: Team | None = None
        self._last: Any = None

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Begin a conversation; the copy of the team is made at its first turn."""
        self._earlier = earlier
        self._team = None

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Give the team one turn of the user and return its answer."""
        from agentmut.adapters.autogen.run import Run, answer_of, task_of

        if self._team is None:
            self._team, self._last = self._fresh(), None
            self._used.append(self._team)
            await self._team.give_messages(self._earlier)
        run = Run(self._team, self._trial, turn)
        result = await run.result(task_of(text, self._last))
        self._last = result
        return answer_of(result, self._team)

    async def close(self) -> None:
        """Close what the copy of the team holds open."""
        for team in self._used if self._closes else ():
            await team.close()


def _common(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Return whether an object is among both."""
    return not set(map(id, some)).isdisjoint(map(id, others))
