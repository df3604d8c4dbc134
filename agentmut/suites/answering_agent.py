"""Shared parts of suite adapters in which the project's own agent may answer, through the adapter it names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from agentmut._base import UsageError
from agentmut.nouns import AgentConfig, Mutant, ToolSpec
from agentmut.seams import Adapter, AgentSpec, Catalogue, Group, KnowsApi, NeedsDoubles


@dataclass(frozen=True)
class AnsweringAgent(KnowsApi, NeedsDoubles):
    """An agent that the tests of a suite call. What the tests leave open is up to the project's adapter, if any."""

    spec: AgentSpec
    config: AgentConfig
    agent: Adapter | None
    """The project's own adapter, of `config`; None where the project names none."""

    suite: ClassVar[str]
    """The importer's name."""

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Refuse: only a suite's importer makes this adapter."""
        raise TypeError(f"made by the importer {cls.suite}, of `suite: {{{cls.suite}: ...}}`")

    def get_config(self) -> AgentConfig:
        """Return the config under test."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the project's agent, or of the config."""
        return self.agent.get_tools() if self.agent else self.config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same suite on another config."""
        return replace(self, config=config, agent=self.agent.with_config(config) if self.agent else None)

    def doubled_tools(self) -> frozenset[str]:
        """Return the tools whose calls the project's adapter intercepts."""
        return self.agent.doubled_tools() if self.agent else frozenset()

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why a mutant of the conversation, or one that the agent excludes, has no effect."""
        parts = {edit.part for edit in mutant.edits}
        if "history" in parts:
            return "the tests say themselves what is said"
        if "orchestration" in parts and self.why_no_flow:
            return self.why_no_flow
        return self.agent.cannot_express(mutant) if self.agent else self.cannot_reach(mutant)

    @property
    def why_no_flow(self) -> str:
        """Return why the agent cannot be given another flow; empty if it can."""
        return ""

    def cannot_reach(self, mutant: Mutant) -> str:
        """Return why a mutant cannot take effect without a project adapter; empty if it can."""
        return ""

    def cannot_say(self, mutant: Mutant) -> str:
        """Return the setting that the API of the project's agent has no field for."""
        return self.agent.cannot_say(mutant) if isinstance(self.agent, KnowsApi) else ""

    @property
    def needs_doubles(self) -> frozenset[str]:
        """Return the tools of the project's agent that have no implementation."""
        return self.agent.needs_doubles if isinstance(self.agent, NeedsDoubles) else frozenset()

    def versions(self) -> Mapping[str, str]:
        """Return the versions that the agent's adapter reports."""
        return self.agent.versions() if self.agent else {}


def own_adapter(spec: AgentSpec, config: AgentConfig, suite: str) -> Adapter | None:
    """Return the adapter that the project names; None if it names none, so that `suite` stands there.

    Raises `UsageError` where the adapter does, or where the project says something that only an adapter would use.
    """
    if spec.adapter == suite:
        _check_unused(spec)
        return None
    make: Callable[..., Adapter] = Catalogue.from_group(Group.ADAPTERS).load(spec.adapter).create
    return make(spec, config)


def _check_unused(spec: AgentSpec) -> None:
    """Refuse keys that nothing uses. `spec.env` is used: the environment is set for every run."""
    given = sorted(spec.model_dump(exclude={"adapter", "root", "route"}, exclude_defaults=True))
    if given:
        raise UsageError(
            f"agent.{given[0]} is given without agent.adapter. Add the adapter that uses it, or leave it out"
        )
