"""What adapters of suites have in common in which the project's own agent may answer, by the adapter it names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from agentmut._base import UsageError
from agentmut.nouns import AgentConfig, Mutant, ToolSpec
from agentmut.seams import Adapter, AgentSpec, Catalogue, Group, KnowsApi, NeedsDoubles


@dataclass(frozen=True)
class AnsweringAgent(KnowsApi, NeedsDoubles):
    """An agent as the tests of a suite ask it; what they leave open is up to the project's own adapter, if any."""

    spec: AgentSpec
    config: AgentConfig
    agent: Adapter | None
    """The project's own adapter, of `config`; None where the project names none."""

    suite: ClassVar[str]
    """The importer's name."""

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Not by itself."""
        raise NotImplementedError(f"made by the importer {cls.suite}, of `suite: {{{cls.suite}: ...}}`")

    def get_config(self) -> AgentConfig:
        """The config that is under test."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of the project's agent, or of the config."""
        return self.agent.get_tools() if self.agent else self.config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """The same suite on another config."""
        return replace(self, config=config, agent=self.agent.with_config(config) if self.agent else None)

    def doubled_tools(self) -> frozenset[str]:
        """Tools whose calls the project's adapter intercepts."""
        return self.agent.doubled_tools() if self.agent else frozenset()

    def cannot_express(self, mutant: Mutant) -> str:
        """What the tests alone decide: the conversation, and maybe the flow; and what the agent's adapter cannot."""
        parts = {edit.part for edit in mutant.edits}
        if "history" in parts:
            return "the tests say themselves what is said"
        if "orchestration" in parts and self.why_no_flow:
            return self.why_no_flow
        return self.agent.cannot_express(mutant) if self.agent else self.cannot_reach(mutant)

    @property
    def why_no_flow(self) -> str:
        """Why the agent cannot be told another flow; empty where it can."""
        return ""

    def cannot_reach(self, mutant: Mutant) -> str:
        """Why a mutant cannot take effect where the project names no adapter; empty where it can."""
        return ""

    def cannot_say(self, mutant: Mutant) -> str:
        """Which setting the API of the project's agent has no word for."""
        return self.agent.cannot_say(mutant) if isinstance(self.agent, KnowsApi) else ""

    @property
    def needs_doubles(self) -> frozenset[str]:
        """Tools of the project's agent with nothing behind them."""
        return self.agent.needs_doubles if isinstance(self.agent, NeedsDoubles) else frozenset()

    def versions(self) -> Mapping[str, str]:
        """The versions of the agent's own adapter."""
        return self.agent.versions() if self.agent else {}


def own_adapter(spec: AgentSpec, config: AgentConfig, suite: str) -> Adapter | None:
    """The adapter that the project names; None where it names none, so that `suite` stands there.

    Raises `UsageError` where the adapter does, or where the project says something that only an adapter would use.
    """
    if spec.adapter == suite:
        _check_unused(spec)
        return None
    make: Callable[..., Adapter] = Catalogue.of(Group.ADAPTERS).load(spec.adapter).create
    return make(spec, config)


def _check_unused(spec: AgentSpec) -> None:
    """`spec.env` is not in it: the environment is set for whatever runs."""
    given = sorted(spec.model_dump(exclude={"adapter", "root", "route"}, exclude_defaults=True))
    if given:
        raise UsageError(
            f"agent.{given[0]} is given, but no agent.adapter that uses it. Add one, or leave it out"
        )
