"""Shared parts of suite adapters whose cases call the agent as a Python function."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, ClassVar, Literal, Self

from agentmut._base import CaseError, UsageError
from agentmut.adapters import CallableAdapter
from agentmut.nouns import AgentConfig, AgentTrace, Mutant, ToolSpec
from agentmut.seams import AgentSpec, ChoosesRoute, HoldsInputs, KnowsOriginal

CONFIG_NAMES = ("agentmut_config", "config")
"""Parameters by which a function of a suite is told the config that is under test."""
Raised = Literal["error", "fail"]
"""What an exception of a case's agent counts as: no evidence, or a failure of the agent."""


@dataclass(frozen=True)
class CalledAgent(ChoosesRoute, HoldsInputs, KnowsOriginal):
    """An agent that a suite calls: built from the config by a function that takes it, or else changed on the wire."""

    agent: CallableAdapter
    original: AgentConfig
    takes_config: bool
    """Whether the function takes the config."""

    package: ClassVar[str]
    """The distribution of the suite's tool."""

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Self:
        """Refuse: only a suite's importer makes this adapter."""
        raise TypeError("made by an importer, of the project's section `suite`")

    def get_config(self) -> AgentConfig:
        """Return the config under test."""
        return self.agent.get_config()

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the config."""
        return self.agent.get_tools()

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same suite on another config."""
        return replace(self, agent=self.agent.with_config(config))

    def doubled_tools(self) -> frozenset[str]:
        """Return the functions marked with `agentmut.tool` in the function's module."""
        return self.agent.doubled_tools()

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why a mutant of the conversation, or of the flow, has no effect; empty if it has one."""
        parts = {edit.part for edit in mutant.edits}
        if "history" in parts:
            return "the cases say themselves what is said"
        if "orchestration" in parts and not self.takes_config:
            return "the suite's function takes no config, and no model request shows the flow"
        return self.agent.cannot_express(mutant)

    @property
    def default_route(self) -> Literal["rebuild", "wire"]:
        """Return the wire, unless the suite's function takes the config."""
        return "rebuild" if self.takes_config else "wire"

    @property
    def why_no_other_input(self) -> str:
        """Return why a case cannot get another input."""
        return f"the cases of a suite of {self.package} hold what the agent is asked"

    def versions(self) -> Mapping[str, str]:
        """Return the version of the suite's tool."""
        return {self.package: version(self.package)}


def config_parameter(function: Callable[..., Any]) -> str | None:
    """Return the parameter by which a function takes the config; None if it has none.

    >>> config_parameter(lambda inputs, config: inputs)
    'config'
    """
    parameters = inspect.signature(function).parameters
    return next((name for name in CONFIG_NAMES if name in parameters), None)


def config_first(function: Callable[..., Any], parameter: str) -> Callable[..., Any]:
    """Return the function as one of (config, value), if it takes the config by that name."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def waiting(config: AgentConfig, value: Any) -> Any:
            return await function(value, **{parameter: config})

        return waiting

    @functools.wraps(function)
    def plain(config: AgentConfig, value: Any) -> Any:
        return function(value, **{parameter: config})

    return plain


def check_route(spec: AgentSpec, function: str, takes_config: bool) -> None:
    """Raise `UsageError` if mutants are to be built by a function that does not take the config."""
    if spec.route == "rebuild" and not takes_config:
        raise UsageError(
            f"{function} has no parameter {' or '.join(CONFIG_NAMES)}, so it cannot be built anew from a changed "
            "config (agent.route: rebuild). Mutants reach it on the wire (agent.route: wire)"
        )


def failed(error: BaseException, raised: Raised) -> BaseException:
    """Return what to raise for an exception of a case's agent, so that the run ends as the suite's settings say."""
    if raised == "fail":
        return error
    case = CaseError(f"the case raised {type(error).__name__}: {error}")
    case.__cause__ = error  # trouble with the model service is told by what it came from
    return case


def with_checks(trace: AgentTrace, checks: tuple[Any, ...]) -> AgentTrace:
    """Return the trace with the suite's checks."""
    return trace.model_copy(update={"checks": checks})


def unique(names: list[str]) -> list[str]:
    """Return the names, with a number after each repeated name.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    given: list[str] = []
    for name in names:
        number, own = 1, name
        while own in given:
            number += 1
            own = f"{name}_{number}"
        given.append(own)
    return given
