"""The source of a framework's agent: a user's function that builds it, or the agent object itself."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentmut._base import AdapterError, UsageError, described, import_object
from agentmut.nouns import AgentConfig
from agentmut.seams import AgentSpec

ON_THE_WIRE = "adapter python with agent.run, a function that runs them, and agent.route: wire"
"""How mutants reach agents that an adapter cannot run."""


@dataclass(frozen=True)
class AgentSource:
    """Gives the agent for a trial."""

    reference: str
    found: Any
    """What `agent.factory` names."""
    is_agent: Callable[[Any], bool]
    expected: str
    """What the framework's agents are, in a phrase: an agents.Agent."""

    @classmethod
    def from_spec(
        cls, spec: AgentSpec, is_agent: Callable[[Any], bool], expected: str, *, objects: bool = True
    ) -> "AgentSource":
        """Import the object that `agent.factory` names. Raise `UsageError` if it can be no source of an agent.

        `objects`: whether an agent that is there already can serve for every trial.
        """
        if not spec.factory:
            raise UsageError(
                f"agent.factory is missing: adapter {spec.adapter} needs `factory: module:function`, a function that "
                f"returns {expected}"
            )
        found = import_object(spec.factory, Path(spec.root))
        source = cls(spec.factory, found, is_agent, expected)
        if source.is_object and not objects:
            raise UsageError(
                f"agent.factory: {spec.factory} is an agent that keeps what it was told from run to run; name a "
                "function that builds a fresh one"
            )
        if not source.is_object and not (callable(found) and not inspect.isclass(found)):
            raise UsageError(
                f"agent.factory: {spec.factory} is a {_kind(found)}; expected {expected}, or a function that "
                f"returns one. Others can be run by {ON_THE_WIRE}"
            )
        return source

    @property
    def is_object(self) -> bool:
        """Return whether the source is the agent object itself."""
        return self.is_agent(self.found)

    @property
    def takes_config(self) -> bool:
        """Return whether the source is a function that builds the agent from a config."""
        return not self.is_object and _takes_one(self.found)

    def build(self, config: AgentConfig) -> Any:
        """Return the agent, built anew if a function builds it. Raise `AdapterError` if it returns no agent."""
        if self.is_object:
            return self.found
        try:
            agent = self.found(config) if self.takes_config else self.found()
        except Exception as error:
            raise AdapterError(f"agent.factory {self.reference} raised {described(error)}") from error
        if inspect.iscoroutine(agent):
            agent.close()
            raise AdapterError(f"agent.factory {self.reference} is async; it must be a plain function")
        if not self.is_agent(agent):
            streams = (
                ", as a function does that streams"
                if inspect.isgenerator(agent) or inspect.isasyncgen(agent)
                else ""
            )
            raise AdapterError(
                f"agent.factory {self.reference} returned a {_kind(agent)}{streams}; expected {self.expected}. "
                f"Others can be run by {ON_THE_WIRE}"
            )
        return agent


def _takes_one(function: Callable[..., Any]) -> bool:
    """Return whether the function has a required parameter, or a parameter called `config`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C
        return False
    named = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return any(p.default is p.empty or p.name == "config" for p in named)


def _kind(found: Any) -> str:
    kind = type(found)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__name__
