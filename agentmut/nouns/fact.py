"""Facts: the content of an answer or the actions of a run, in a form that does not depend on wording."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from agentmut.nouns.scenario import Scenario
from agentmut.nouns.trace import AgentTrace

IS = " = "
"""Between a named place and its value, as in `/status = shipped`."""


class Fact(NamedTuple):
    """One fact. Two are the same fact when `kind` and `value` are equal."""

    kind: str
    """The extractor's name."""
    value: str
    """Normalised, so that `$1,200.00` and `1200 dollars` are equal."""


@runtime_checkable
class Extractor(Protocol):
    """Reads facts of one kind from a run. Built as `Class(argument)`; the argument may be None."""

    name: ClassVar[str]

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the facts that the run shows. Pure and deterministic."""
        ...


@runtime_checkable
class Comparer(Protocol):
    """An extractor that compares two runs as wholes instead of by `facts`."""

    def difference(self, scenario: Scenario, source: AgentTrace, follow_up: AgentTrace) -> str:
        """Return how the runs differ, in a phrase; empty if they agree. Raise `RunError` if this is unknowable."""
        ...


@runtime_checkable
class CalibratedComparer(Protocol):
    """A comparer with a threshold that runs of the unchanged agent can set."""

    def calibrated(self, scenario: Scenario, sources: tuple[AgentTrace, ...]) -> "Extractor":
        """Return a comparer with a threshold from these runs; the same one if it has a threshold already."""
        ...


class FactComparison(Protocol):
    """The comparison of two runs by facts, as relations see it; `agentmut.judging` implements it."""

    @property
    def extractors(self) -> tuple[Extractor, ...]:
        """Return what reads the facts."""
        ...

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return all facts of a run."""
        ...

    def differences(
        self, scenario: Scenario, source: AgentTrace, follow_up: AgentTrace, same: Mapping[str, str] = ...
    ) -> tuple[str, ...]:
        """Return the facts that only one of the runs shows, in words; empty if they agree.

        `same` says which values of the source stand for which of the follow-up. Raises `RunError` where it cannot tell.
        """
        ...

    @property
    def unasked(self) -> tuple[Extractor, ...]:
        """Return all kinds that the default was chosen from; empty if the user asked for kinds."""
        ...

    def contradictions(
        self, scenario: Scenario, trace: AgentTrace, other: AgentTrace
    ) -> tuple[str, ...] | None:
        """Return in words where two runs contradict each other; None if too few runs are known."""
        ...
