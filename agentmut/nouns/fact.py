"""Facts: what an answer states or a run does, in a form in which wording makes no difference."""

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
    """Reads facts of one kind off a run. Built as `Class(argument)`; argument None where none is given."""

    name: ClassVar[str]

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the facts that the run shows. Pure and deterministic."""
        ...


@runtime_checkable
class Comparer(Protocol):
    """An extractor that compares two runs as wholes instead of by `facts`."""

    def difference(self, scenario: Scenario, source: AgentTrace, follow_up: AgentTrace) -> str:
        """Return how the runs differ, in a phrase; empty where they agree. Raises `RunError` where it cannot tell."""
        ...


@runtime_checkable
class Calibrated(Protocol):
    """A comparer with a threshold that runs of the unchanged agent can set."""

    def calibrated(self, scenario: Scenario, sources: tuple[AgentTrace, ...]) -> "Extractor":
        """Return a comparer with a threshold from these runs; itself if it was given a threshold."""
        ...


class FactComparison(Protocol):
    """What relations know of a comparison of two runs by their facts; `facts.comparison` has the one that is used."""

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
        """Return what one run shows and the other does not, in words; empty where they agree.

        `same` says which values of the source stand for which of the follow-up. Raises `RunError` where it cannot tell.
        """
        ...

    @property
    def unasked(self) -> tuple[Extractor, ...]:
        """Return all kinds that the default was chosen from; none where somebody asked for kinds."""
        ...

    def contradictions(
        self, scenario: Scenario, one: AgentTrace, other: AgentTrace
    ) -> tuple[str, ...] | None:
        """Return in words where two runs contradict each other; None where too few runs are known to tell."""
        ...
